/**
 * Child process: one node with the store in argv (`embedded` and a directory, or `postgres` and a schema) and a
 * separate journal directory. Each input line `{customerId, limit, callers, attempts}` is one round: parallel callers
 * take quota until their attempts are used up. Each allowed call appends one byte to the file `served`, so that the
 * parent can count the served calls after a kill.
 */
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openQuotaJournal } from "../../src/adapters/metering/quota-journal-file.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { createMetering } from "../../src/capabilities/accounts/metering/index.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { openStore } from "../harness/open-store.ts";

const [kind = "", storeLocation = "", journalDir = ""] = process.argv.slice(2);
const nodeId = `node-${process.pid}`;
const database = await openStore(kind, storeLocation);
const journal = openQuotaJournal(journalDir);
const metering = createMetering({ database, journal, clock: systemClock, log: quietLog, nodeId, sharedLimits: null });
await metering.start();
const servedFile = openSync(join(journalDir, "served"), "a");
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
print({ ready: true });

async function makeAttempts(customerId: string, limit: number, attempts: number): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const decision = await metering.takeQuota({ customerId, tier: "INSIGHT" }, limit);
    if (!decision.isAllowed) continue;
    // Written synchronously, so that a kill before the next call does not lose it.
    writeSync(servedFile, "+");
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const round: { customerId: string; limit: number; callers: number; attempts: number } = JSON.parse(line);
  const attempts = Math.ceil(round.attempts / round.callers);
  await Promise.all(Array.from({ length: round.callers }, () => makeAttempts(round.customerId, round.limit, attempts)));
  print({ isRoundOver: true });
}
await metering.stop();
await database.close();
