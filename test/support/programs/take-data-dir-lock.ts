import { acquireDataDirLock } from "../../../src/adapters/system/data-dir-lock.ts";

/**
 * Child process: acquires the lock of the directory in argv, prints the result in one line, and holds the lock until it
 * is killed.
 */
const [directory = ""] = process.argv.slice(2);
try {
  await acquireDataDirLock(directory);
  process.stdout.write("held\n");
  setInterval(() => {}, 60_000);
} catch (error) {
  process.stdout.write(`refused ${error instanceof Error ? error.message : String(error)}\n`);
}
