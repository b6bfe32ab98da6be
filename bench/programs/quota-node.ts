/**
 * Child process: one node of a quota run over the store in argv (`embedded` and a folder, or `postgres` and a schema), with
 * its own journal folder. Each input line `{account, limit, callers, tries}` is one round: parallel callers take quota until
 * their attempts are used up. Each successful call appends one byte to the file `served`, so that the parent knows after a
 * kill how many calls were served.
 */
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import { openQuotaJournal } from "../../src/adapters/metering/quota-journal-file.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { createMetering } from "../../src/capabilities/metering/index.ts";
import { quietLog } from "../../test/support/quiet-log.ts";

const [kind = "", place = "", journalFolder = ""] = process.argv.slice(2);
const nodeId = `node-${process.pid}`;
const database =
  kind === "embedded"
    ? await openEmbeddedDatabase({ dataDir: place, log: quietLog })
    : await openPostgresDatabase({ url: process.env.TEST_DATABASE_URL ?? "", schema: place, log: quietLog });
await migrateDatabase(database);
const journal = openQuotaJournal(journalFolder);
const metering = createMetering({ database, journal, clock: systemClock, log: quietLog, nodeId, sharedLimits: null });
await metering.start();
const servedFile = openSync(join(journalFolder, "served"), "a");
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
print({ ready: true });

async function callUntilOver(customerId: string, limit: number, tries: number): Promise<void> {
  for (let attempt = 0; attempt < tries; attempt++) {
    const answer = await metering.takeQuota({ customerId, tier: "INSIGHT" }, limit);
    if (!answer.isAllowed) continue;
    // Written before the next call, like a response.
    writeSync(servedFile, "+");
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const round: { customerId: string; limit: number; callers: number; tries: number } = JSON.parse(line);
  const tries = Math.ceil(round.tries / round.callers);
  await Promise.all(Array.from({ length: round.callers }, () => callUntilOver(round.customerId, round.limit, tries)));
  print({ isOver: true });
}
await metering.stop();
await database.close();
