import { openEmbeddedDatabase } from "../../../src/adapters/database/embedded-database.ts";
import { quietLog } from "../quiet-log.ts";

/**
 * Child process: writes numbers to a new store in the directory in argv and prints each number after the store has
 * acknowledged it.
 */
const WRITES_MAX = 1_000_000;
const [dataDir = ""] = process.argv.slice(2);
const database = await openEmbeddedDatabase({ dataDir, log: quietLog });
await database.query("create table written (number int4 primary key)");
for (let number = 1; number <= WRITES_MAX; number++) {
  await database.query("insert into written values ($1)", [number]);
  process.stdout.write(`${number}\n`);
}
