import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../test/support/databases.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { systemRandom } from "../../adapters/system/system-random.ts";
import { AppError } from "../../domain/errors.ts";
import type { Database } from "../../ports/database.ts";
import { createKeyDirectory } from "./key-directory.ts";
import { createKey } from "./key-format.ts";
import { createKeyUsage } from "./key-usage.ts";
import { replaceKey } from "./queries.ts";

eachDatabase("a key's last use is written once a minute, and what is left when the service ends", async (database) => {
  const clock = new FakeClock(Date.UTC(2026, 10, 21));
  const made = createKey(systemRandom, "free");
  await replaceKey(
    database,
    { customerId: "cus-a", plan: "free" },
    { ...made, keyId: "key-1", name: "a" },
    clock.now(),
  );
  const usage = createKeyUsage({ database, clock, log: quietLog });
  const directory = createKeyDirectory({ database, clock, onUsed: (keyId) => usage.note(keyId) });
  const lastUsed = async () =>
    (await database.query<{ at: Date | null }>("select last_used_at as at from api_keys"))[0];
  usage.start();
  await directory.find(made.key);
  await clock.settle();
  assert.equal((await lastUsed())?.at, null, "never on the request's way");
  await clock.advance(60_000);
  // A statement takes time of the machine's, not of the clock's.
  await usage.stop();
  assert.deepEqual((await lastUsed())?.at, new Date("2026-11-21T00:00:00.000Z"));
  await directory.find(made.key);
  await clock.settle();
  await usage.stop();
  assert.deepEqual((await lastUsed())?.at, new Date("2026-11-21T00:01:00.000Z"));
});

/** A store that remembers what it was sent, and fails when told to. */
function recordingDatabase() {
  const database = {
    isAway: false,
    batches: [] as unknown[][],
    async query(_text: string, parameters: readonly unknown[]) {
      if (database.isAway) throw new AppError("store_unavailable", "away");
      database.batches.push(parameters[0] as unknown[]);
      return [];
    },
  };
  return database as unknown as Database & typeof database;
}

test("a thousand uses of one key are one row, and no minute without use writes", async () => {
  const clock = new FakeClock();
  const database = recordingDatabase();
  const usage = createKeyUsage({ database, clock, log: quietLog });
  usage.start();
  for (let turn = 0; turn < 1_000; turn++) usage.note("key-1");
  await clock.advance(60_000);
  await clock.advance(600_000);
  assert.deepEqual(database.batches, [["key-1"]]);
});

test("what a store that is away did not take is written a minute later, within the bound", async () => {
  const clock = new FakeClock();
  const database = recordingDatabase();
  const usage = createKeyUsage({ database, clock, log: quietLog, keysMax: 2 });
  usage.start();
  for (const keyId of ["a", "b", "c"]) usage.note(keyId);
  database.isAway = true;
  await clock.advance(60_000);
  database.isAway = false;
  await clock.advance(60_000);
  assert.deepEqual(database.batches, [["a", "b"]]);
});
