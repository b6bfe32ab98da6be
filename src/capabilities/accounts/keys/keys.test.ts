import assert from "node:assert/strict";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { createTestFolder } from "../../../../test/support/test-folder.ts";
import { systemRandom } from "../../../adapters/system/system-random.ts";
import { AppError } from "../../../domain/errors.ts";
import { PLAN_ALLOWANCES, type Plan } from "../../../domain/plan.ts";
import type { Database } from "../../../ports/database.ts";
import type { Random } from "../../../ports/random.ts";
import { DEMO_CUSTOMER_IDS, ensureDemoKeys } from "./demo-keys.ts";
import { createKeyDirectory, type KeyDirectory } from "./key-directory.ts";
import { createKey, parseKey } from "./key-format.ts";
import { findActivePlans, replaceKey } from "./queries.ts";

/** Deterministic random numbers, so that failures can be reproduced. */
function seededRandom(seed: number): Random {
  let state = seed;
  const nextKey = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return { uniform: () => nextKey() / 2 ** 32, bytes: (length) => Uint8Array.from({ length }, () => nextKey() >>> 24) };
}

const find = (directory: KeyDirectory, key: string, ip = "192.0.2.1") => directory.find(key, { ip });

const planArbitrary = fc.constantFrom<Plan>("free", "pro", "enterprise");

test("a created key has the documented format and parses to its plan and hash", () => {
  fc.assert(
    fc.property(fc.integer(), planArbitrary, (seed, plan) => {
      const createdKey = createKey(seededRandom(seed), plan);
      assert.match(createdKey.key, /^plx_(free|pro|ent)_[a-z2-7]{33}$/);
      assert.deepEqual(parseKey(createdKey.key), { plan, hash: createdKey.hash });
      assert.ok(createdKey.key.startsWith(createdKey.prefix) && createdKey.prefix.length < createdKey.key.length - 26);
    }),
  );
});

test("the checksum is CRC-32 over prefix and random part, in base32", () => {
  // CRC-32 of "plx_free_aaaaaaaaaaaaaaaaaaaaaaaaaa", computed independently with zlib.
  const key = createKey({ uniform: () => 0, bytes: (length) => new Uint8Array(length) }, "free").key;
  assert.equal(key, `plx_free_${"a".repeat(26)}ahlsiwq`);
});

test("a key with one changed character or another plan does not parse", () => {
  fc.assert(
    fc.property(
      fc.integer(),
      planArbitrary,
      fc.nat(),
      fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz234567"),
      (seed, plan, offset, character) => {
        const { key } = createKey(seededRandom(seed), plan);
        const position = key.length - 1 - (offset % 33);
        if (key[position] === character) return;
        assert.equal(parseKey(key.slice(0, position) + character + key.slice(position + 1)), null);
      },
    ),
  );
  const { key } = createKey(seededRandom(1), "free");
  assert.equal(parseKey(key.replace("plx_free_", "plx_pro_")), null);
  for (const text of ["", key.toUpperCase(), ` ${key}`, `${key}\n`, key.slice(0, -1), `${key}a`]) {
    assert.equal(parseKey(text), null);
  }
});

async function storeKey(database: Database, plan: Plan, seed = 1) {
  const createdKey = createKey(seededRandom(seed), plan);
  const customer = { customerId: "cus-a", plan };
  await replaceKey(database, customer, { ...createdKey, keyId: `key-${seed}`, name: "test" }, Date.UTC(2026, 10, 21));
  return createdKey;
}

eachDatabase(
  "`find` returns the owner of a stored key, and the database contains only the key's hash",
  async (database) => {
    const { key } = await storeKey(database, "pro");
    const directory = createKeyDirectory({ database, clock: new FakeClock() });
    assert.deepEqual(await find(directory, key), {
      customerId: "cus-a",
      plan: "pro",
      keyId: "key-1",
      allowance: PLAN_ALLOWANCES.pro,
    });
    const [row] = await database.query("select * from api_keys");
    assert.ok(!JSON.stringify(row).includes(key.slice(-20)));
  },
);

eachDatabase("an unknown key, or a key with a different plan in its prefix, is not found", async (database) => {
  const directory = createKeyDirectory({ database, clock: new FakeClock() });
  assert.equal(await find(directory, createKey(seededRandom(2), "pro").key), null);
  const createdKey = createKey(seededRandom(3), "pro");
  const customer = { customerId: "cus-a", plan: "free" as const };
  await replaceKey(database, customer, { ...createdKey, plan: "free", keyId: "key-3", name: "test" }, 0);
  assert.equal(await find(directory, createdKey.key), null);
});

test("a hundred thousand keys are unique, and their characters are uniformly distributed", () => {
  const KEY_COUNT = 100_000;
  const uniqueTexts = new Set<string>();
  const characterCounts = Array.from({ length: 26 }, () => new Map<string, number>());
  for (let index = 0; index < KEY_COUNT; index++) {
    const text = createKey(systemRandom, "free").key.slice("plx_free_".length, -7);
    uniqueTexts.add(text);
    for (const [position, positionCounts] of characterCounts.entries()) {
      const character = text[position] ?? "";
      positionCounts.set(character, (positionCounts.get(character) ?? 0) + 1);
    }
  }
  assert.equal(uniqueTexts.size, KEY_COUNT);
  const expected = KEY_COUNT / 32;
  for (const [position, positionCounts] of characterCounts.entries()) {
    assert.equal(positionCounts.size, 32);
    const chiSquare = [...positionCounts.values()].reduce(
      (sum, observed) => sum + (observed - expected) ** 2 / expected,
      0,
    );
    // 31 degrees of freedom: the probability of a false alarm is about 1e-9.
    assert.ok(chiSquare < 110, `position ${position}: ${chiSquare}`);
  }
});

eachDatabase(
  "an active key has its customer's current plan; other keys are left out of the result",
  async (database) => {
    const customers = ["active", "changed", "revoked", "canceled"].map((customerId) => ({
      customerId,
      plan: "free" as Plan,
    }));
    const store = (customer: { customerId: string; plan: Plan }, keyId: string) =>
      replaceKey(database, customer, { ...createKey(systemRandom, "free"), keyId, name: "test" }, 0);
    for (const customer of customers) await store(customer, `key-${customer.customerId}`);
    await database.query("update customers set plan = 'pro' where customer_id = 'changed'");
    await database.query("update customers set status = 'canceled' where customer_id = 'canceled'");
    await store({ customerId: "revoked", plan: "free" }, "key-new");
    const keyIds = ["key-active", "key-changed", "key-revoked", "key-canceled", "key-unknown"];
    assert.deepEqual(
      await findActivePlans(database, keyIds),
      new Map([
        ["key-active", "free"],
        ["key-changed", "pro"],
      ]),
    );
  },
);

/** A database that counts its queries. */
function createCountingDatabase(respond: () => Promise<never[]>): Database & { queries: number } {
  const database = {
    queries: 0,
    query() {
      database.queries += 1;
      return respond();
    },
    close: async () => {},
  };
  return database as unknown as Database & { queries: number };
}

test("concurrent look-ups share one query, malformed keys cause no query, and cache entries expire and are evicted", async () => {
  const clock = new FakeClock();
  const database = createCountingDatabase(async () => []);
  const directory = createKeyDirectory({ database, clock, entriesMax: 2 });
  const keys = [1, 2, 3].map((seed) => createKey(seededRandom(seed), "free").key);
  await Promise.all([find(directory, keys[0] ?? ""), find(directory, keys[0] ?? ""), find(directory, "plx_free_no")]);
  assert.equal(database.queries, 1);
  await clock.advance(1_000);
  await find(directory, keys[0] ?? "");
  assert.equal(database.queries, 2);
  await find(directory, keys[1] ?? "");
  await find(directory, keys[2] ?? "");
  await find(directory, keys[0] ?? "");
  assert.equal(database.queries, 5);
});

eachDatabase("unknown keys evict no valid key, and the latest unknown keys are cached", async (database) => {
  let queryCount = 0;
  const countingDatabase = {
    ...database,
    query: ((...parameters) => {
      queryCount += 1;
      return database.query(...parameters);
    }) satisfies Database["query"],
  };
  const directory = createKeyDirectory({ database: countingDatabase, clock: new FakeClock(), entriesMax: 3 });
  const { key } = await storeKey(database, "pro");
  assert.notEqual(await find(directory, key), null);
  const unknownKeys = Array.from({ length: 10 }, (_, index) => createKey(seededRandom(100 + index), "pro").key);
  for (const unknownKey of unknownKeys) assert.equal(await find(directory, unknownKey), null);
  const queriesBefore = queryCount;
  assert.equal((find(directory, key) as { keyId: string }).keyId, "key-1");
  for (const unknownKey of unknownKeys.slice(-3)) assert.equal(find(directory, unknownKey), null);
  assert.equal(queryCount, queriesBefore);
  await find(directory, unknownKeys[0] ?? "");
  assert.equal(queryCount, queriesBefore + 1, "the oldest unknown keys are forgotten");
});

test("if the query fails, `find` rejects and does not cache the failure", async () => {
  let isUnavailable = true;
  const database = createCountingDatabase(async () => {
    if (isUnavailable) throw new AppError("store_unavailable", "unavailable");
    return [];
  });
  const directory = createKeyDirectory({ database, clock: new FakeClock() });
  const { key } = createKey(seededRandom(1), "free");
  await assert.rejects(async () => find(directory, key), /unavailable/);
  isUnavailable = false;
  assert.equal(await find(directory, key), null);
});

/** A database whose queries stay pending until the test resolves them. */
function createPendingDatabase() {
  const queries: { resolve(rows: readonly object[]): void; reject(error: Error): void }[] = [];
  const query = (_text: string, [hashes]: readonly [readonly string[]]) =>
    new Promise((resolve, reject) => {
      const addHashes = (rows: readonly object[]) => rows.map((row, index) => ({ ...row, hash: hashes[index] }));
      queries.push({ resolve: (rows) => resolve(addHashes(rows)), reject });
    });
  return { queries, database: { query, close: async () => {} } as unknown as Database };
}

const createOwnerRow = (keyId: string) => ({
  keyId,
  customerId: "cus-a",
  plan: "free",
  quotas: null,
  rateLimits: null,
});
const settle = () => new Promise((resolve) => setImmediate(resolve));

async function setUpCachedKey() {
  const clock = new FakeClock();
  const { queries, database } = createPendingDatabase();
  const directory = createKeyDirectory({ database, clock });
  const { key } = createKey(seededRandom(1), "free");
  const first = find(directory, key);
  queries[0]?.resolve([createOwnerRow("first")]);
  assert.equal((await first)?.keyId, "first");
  return { clock, queries, directory, key };
}

test("after half a second, `find` returns the cached result synchronously while one query refreshes it", async () => {
  const { clock, queries, directory, key } = await setUpCachedKey();
  await clock.advance(499);
  assert.deepEqual(find(directory, key), {
    keyId: "first",
    customerId: "cus-a",
    plan: "free",
    allowance: PLAN_ALLOWANCES.free,
  });
  assert.equal(queries.length, 1);
  await clock.advance(1);
  for (let i = 0; i < 3; i++) assert.equal((find(directory, key) as { keyId: string }).keyId, "first");
  assert.equal(queries.length, 2);
  queries[1]?.resolve([createOwnerRow("second")]);
  await settle();
  assert.equal((find(directory, key) as { keyId: string }).keyId, "second");
  await clock.advance(499);
  // 999 ms have passed since the first query and 499 ms since the second.
  assert.equal((find(directory, key) as { keyId: string }).keyId, "second");
  assert.equal(queries.length, 2);
});

test("a result is not used more than a second after its query was sent, even if the refresh is slow", async () => {
  const { clock, queries, directory, key } = await setUpCachedKey();
  await clock.advance(600);
  find(directory, key);
  await clock.advance(399);
  assert.equal((find(directory, key) as { keyId: string }).keyId, "first");
  await clock.advance(1);
  const pendingResults = [find(directory, key), find(directory, key)];
  assert.ok(pendingResults.every((owner) => owner instanceof Promise));
  assert.equal(queries.length, 2, "waits for the pending query instead of sending another");
  queries[1]?.resolve([]);
  assert.deepEqual(await Promise.all(pendingResults), [null, null]);
  // The age of a result counts from its query, here at 600 ms.
  await clock.advance(600);
  assert.ok(find(directory, key) instanceof Promise);
  assert.equal(queries.length, 3);
});

test("after a failed refresh the old result is used until it expires, without further queries", async () => {
  const { clock, queries, directory, key } = await setUpCachedKey();
  await clock.advance(500);
  find(directory, key);
  queries[1]?.reject(new AppError("store_unavailable", "unavailable"));
  await settle();
  for (let i = 0; i < 3; i++) assert.equal((find(directory, key) as { keyId: string }).keyId, "first");
  assert.equal(queries.length, 2);
  await clock.advance(500);
  const nextResult = find(directory, key);
  assert.equal(queries.length, 3);
  queries[2]?.reject(new AppError("store_unavailable", "unavailable"));
  await assert.rejects(async () => nextResult, /unavailable/);
});

test("if a query fails while callers wait, their calls reject, and the next call sends a new query", async () => {
  const { clock, queries, directory, key } = await setUpCachedKey();
  await clock.advance(999);
  find(directory, key);
  await clock.advance(1);
  const pendingResults = find(directory, key);
  queries[1]?.reject(new AppError("store_unavailable", "unavailable"));
  await assert.rejects(async () => pendingResults, /unavailable/);
  const retriedResult = find(directory, key);
  assert.equal(queries.length, 3);
  queries[2]?.resolve([createOwnerRow("third")]);
  assert.equal((await retriedResult)?.keyId, "third");
});

test("after the cache is cleared, the result of an earlier query is not used", async () => {
  const { clock, queries, directory, key } = await setUpCachedKey();
  await clock.advance(500);
  find(directory, key);
  directory.clear();
  queries[1]?.resolve([createOwnerRow("stale")]);
  await settle();
  const nextResult = find(directory, key);
  assert.equal(queries.length, 3);
  queries[2]?.resolve([]);
  assert.equal(await nextResult, null);
});

test("key texts are cleared from memory after a second, even without further requests", async () => {
  const { clock, directory, key } = await setUpCachedKey();
  find(directory, key);
  assert.equal(clock.pending, 1);
  await clock.advance(1_000);
  assert.equal(clock.pending, 0);
  find(directory, key);
  // Only the first text starts the timer, so the texts had been cleared.
  assert.equal(clock.pending, 1);
});

eachDatabase(
  "only its owner can read the demo key file; keys survive restarts and are recreated if file or row is missing",
  async (database) => {
    const dataDir = await createTestFolder();
    const path = join(dataDir, "demo-keys.json");
    const dependencies = { random: seededRandom(7), clock: new FakeClock() };
    const first = await ensureDemoKeys(database, dataDir, dependencies);
    assert.deepEqual(JSON.parse(await readFile(path, "utf8")), first);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual(await ensureDemoKeys(database, dataDir, dependencies), first);

    await rm(path);
    const second = await ensureDemoKeys(database, dataDir, dependencies);
    assert.notEqual(second.pro, first.pro);
    const directory = createKeyDirectory({ database, clock: dependencies.clock });
    assert.equal(await find(directory, first.pro), null);
    assert.equal((await find(directory, second.enterprise))?.customerId, DEMO_CUSTOMER_IDS.enterprise);

    const readAllowance = async () => (await find(directory, second.enterprise))?.allowance;
    assert.deepEqual((await readAllowance())?.rateLimits, { general: 6_000, strategy: 6_000 });
    assert.equal((await readAllowance())?.quotas.DEEP, 1_000_000);
    await database.query(`update customers set rate_limits = '{"general": 1}' where plan = 'enterprise'`);
    await ensureDemoKeys(database, dataDir, dependencies);
    await dependencies.clock.advance(1_000);
    assert.equal((await readAllowance())?.rateLimits.general, 1, "operator settings are not overwritten");

    await database.query("delete from api_keys where plan = 'free'");
    const third = await ensureDemoKeys(database, dataDir, dependencies);
    assert.notEqual(third.free, second.free);
    assert.equal(third.pro, second.pro);

    await database.query("update customers set status = 'canceled' where plan = 'pro'");
    assert.deepEqual(
      await ensureDemoKeys(database, dataDir, dependencies),
      third,
      "a disabled customer gets no new key",
    );
    await database.query("update customers set status = 'active'");

    const otherDataDir = join(dataDir, "other");
    await ensureDemoKeys(database, otherDataDir, { ...dependencies, name: "demo of another service" });
    assert.deepEqual(
      await ensureDemoKeys(database, dataDir, dependencies),
      third,
      "keys of another service do not revoke these",
    );

    await writeFile(path, '{"free": 5, "pro": "plx_pro_x"');
    const fourth = await ensureDemoKeys(database, dataDir, dependencies);
    assert.equal((await find(directory, fourth.free))?.plan, "free");
  },
);
