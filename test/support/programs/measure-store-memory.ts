import { openEmbeddedDatabase } from "../../../src/adapters/database/embedded-database.ts";
import { quietLog } from "../quiet-log.ts";

/**
 * Child process: opens the store in the directory in argv, evaluates two million SQL expressions, and prints the largest
 * memory of the process so far, in MiB.
 */
const [dataDir = ""] = process.argv.slice(2);
const database = await openEmbeddedDatabase({ dataDir, log: quietLog });
for (let count = 0; count < 20; count++)
  await database.query("select sum(n * 2 + 1) from generate_series(1, 100000) n where n % 7 <> $1", [count]);
await database.close();
process.stdout.write(`${process.resourceUsage().maxRSS / 1024}\n`);
