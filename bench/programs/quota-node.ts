/**
 * Run as a child process: one node of a quota run over the store of argv (`embedded` and a folder, or `postgres` and a
 * schema), with its journal in a folder of its own. Each line in, `{account, limit, callers, tries}`, is one round: so many
 * callers at once take until their tries are over. Each call that passes is one byte more in the file `served` there, so
 * that whoever kills this knows how much was surely served.
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
const told = openSync(join(journalFolder, "served"), "a");
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
say({ ready: true });

async function callUntilOver(customerId: string, limit: number, tries: number): Promise<void> {
  for (let attempt = 0; attempt < tries; attempt++) {
    const answer = await metering.takeQuota({ customerId, tier: "INSIGHT" }, limit);
    if (!answer.isAllowed) continue;
    // Written before anything else is taken, as an answer would be.
    writeSync(told, "+");
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const round: { customerId: string; limit: number; callers: number; tries: number } = JSON.parse(line);
  const tries = Math.ceil(round.tries / round.callers);
  await Promise.all(Array.from({ length: round.callers }, () => callUntilOver(round.customerId, round.limit, tries)));
  say({ isOver: true });
}
await metering.stop();
await database.close();
