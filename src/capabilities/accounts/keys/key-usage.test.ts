import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { quietLog } from "../../../../test/support/quiet-log.ts";
import { systemRandom } from "../../../adapters/system/system-random.ts";
import { AppError } from "../../../domain/errors.ts";
import type { Database } from "../../../ports/database.ts";
import { createKeyDirectory } from "./key-directory.ts";
import { createKey } from "./key-format.ts";
import { createKeyUsage } from "./key-usage.ts";
import { replaceKey } from "./queries.ts";

eachDatabase("the last use of a key is stored once a minute and when the service stops", async (database) => {
  const clock = new FakeClock(Date.UTC(2026, 10, 21));
  const createdKey = createKey(systemRandom, "free");
  await replaceKey(
    database,
    { customerId: "cus-a", plan: "free" },
    { ...createdKey, keyId: "key-1", name: "a" },
    clock.now(),
  );
  const usage = createKeyUsage({ database, clock, log: quietLog });
  const directory = createKeyDirectory({ database, clock, onUsed: (keyId) => usage.recordUse(keyId) });
  const readLastUse = async () =>
    (await database.query<{ at: Date | null }>("select last_used_at as at from api_keys"))[0];
  usage.start();
  await directory.find(createdKey.key, null);
  await clock.settle();
  assert.equal((await readLastUse())?.at, null, "not written during the request");
  await clock.advance(60_000);
  // The statement takes real time, which the fake clock does not include.
  await usage.stop();
  assert.deepEqual((await readLastUse())?.at, new Date("2026-11-21T00:00:00.000Z"));
  await directory.find(createdKey.key, null);
  await clock.settle();
  await usage.stop();
  assert.deepEqual((await readLastUse())?.at, new Date("2026-11-21T00:01:00.000Z"));
});

/** A database that records the written keys, and fails while `isUnavailable`. */
function recordingDatabase() {
  const database = {
    isUnavailable: false,
    batches: [] as unknown[][],
    async query(_text: string, parameters: readonly unknown[]) {
      if (database.isUnavailable) throw new AppError("store_unavailable", "unavailable");
      database.batches.push(parameters[0] as unknown[]);
      return [];
    },
  };
  return database as unknown as Database & typeof database;
}

test("a thousand uses of one key within a minute cause one write, and a minute without use causes none", async () => {
  const clock = new FakeClock();
  const database = recordingDatabase();
  const usage = createKeyUsage({ database, clock, log: quietLog });
  usage.start();
  for (let use = 0; use < 1_000; use++) usage.recordUse("key-1");
  await clock.advance(60_000);
  await clock.advance(600_000);
  assert.deepEqual(database.batches, [["key-1"]]);
});

test("a failed write is retried after a minute, for at most `keysMax` keys", async () => {
  const clock = new FakeClock();
  const database = recordingDatabase();
  const usage = createKeyUsage({ database, clock, log: quietLog, keysMax: 2 });
  usage.start();
  for (const keyId of ["a", "b", "c"]) usage.recordUse(keyId);
  database.isUnavailable = true;
  await clock.advance(60_000);
  database.isUnavailable = false;
  await clock.advance(60_000);
  assert.deepEqual(database.batches, [["a", "b"]]);
});
