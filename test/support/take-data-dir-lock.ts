import { acquireDataDirLock } from "../../src/adapters/system/data-dir-lock.ts";

/** Run as a child process: takes the lock of the directory in argv, says how it went in one line, holds it until killed. */
const [directory = ""] = process.argv.slice(2);
try {
  await acquireDataDirLock(directory);
  process.stdout.write("held\n");
  setInterval(() => {}, 60_000);
} catch (error) {
  process.stdout.write(`refused ${error instanceof Error ? error.message : String(error)}\n`);
}
