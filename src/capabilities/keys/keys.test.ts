import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { eachDatabase } from "../../../test/support/databases.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { systemRandom } from "../../adapters/system/system-random.ts";
import { AppError } from "../../domain/errors.ts";
import { PLAN_ALLOWANCES, type Plan } from "../../domain/plan.ts";
import type { Database } from "../../ports/database.ts";
import type { Random } from "../../ports/random.ts";
import { DEMO_CUSTOMER_IDS, ensureDemoKeys } from "./demo-keys.ts";
import { createKeyDirectory } from "./key-directory.ts";
import { createKey, parseKey } from "./key-format.ts";
import { replaceKey } from "./queries.ts";

/** Deterministic random numbers, so that failures can be reproduced. */
function seededRandom(seed: number): Random {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return { uniform: () => next() / 2 ** 32, bytes: (length) => Uint8Array.from({ length }, () => next() >>> 24) };
}

const plans = fc.constantFrom<Plan>("free", "pro", "enterprise");

test("a created key has the documented format and parses to its plan and hash", () => {
  fc.assert(
    fc.property(fc.integer(), plans, (seed, plan) => {
      const created = createKey(seededRandom(seed), plan);
      assert.match(created.key, /^plx_(free|pro|ent)_[a-z2-7]{33}$/);
      assert.deepEqual(parseKey(created.key), { plan, hash: created.hash });
      assert.ok(created.key.startsWith(created.prefix) && created.prefix.length < created.key.length - 26);
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
      plans,
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

async function withKey(database: Database, plan: Plan, seed = 1) {
  const created = createKey(seededRandom(seed), plan);
  const customer = { customerId: "cus-a", plan };
  await replaceKey(database, customer, { ...created, keyId: `key-${seed}`, name: "test" }, Date.UTC(2026, 10, 21));
  return created;
}

eachDatabase("a stored key is found by its text, and only its hash is in the database", async (database) => {
  const { key } = await withKey(database, "pro");
  const directory = createKeyDirectory({ database, clock: new FakeClock() });
  assert.deepEqual(await directory.find(key), {
    customerId: "cus-a",
    plan: "pro",
    keyId: "key-1",
    allowance: PLAN_ALLOWANCES.pro,
  });
  const [row] = await database.query("select * from api_keys");
  assert.ok(!JSON.stringify(row).includes(key.slice(-20)));
});

eachDatabase("an unknown key, or a key with a different plan in its prefix, is not found", async (database) => {
  const directory = createKeyDirectory({ database, clock: new FakeClock() });
  assert.equal(await directory.find(createKey(seededRandom(2), "pro").key), null);
  const created = createKey(seededRandom(3), "pro");
  const customer = { customerId: "cus-a", plan: "free" as const };
  await replaceKey(database, customer, { ...created, plan: "free", keyId: "key-3", name: "test" }, 0);
  assert.equal(await directory.find(created.key), null);
});

test("a hundred thousand keys are unique, and their characters are uniformly distributed", () => {
  const KEYS = 100_000;
  const seen = new Set<string>();
  const counts = Array.from({ length: 26 }, () => new Map<string, number>());
  for (let index = 0; index < KEYS; index++) {
    const text = createKey(systemRandom, "free").key.slice("plx_free_".length, -7);
    seen.add(text);
    for (const [position, count] of counts.entries()) {
      const character = text[position] ?? "";
      count.set(character, (count.get(character) ?? 0) + 1);
    }
  }
  assert.equal(seen.size, KEYS);
  const expected = KEYS / 32;
  for (const [position, count] of counts.entries()) {
    assert.equal(count.size, 32);
    const chiSquare = [...count.values()].reduce((sum, observed) => sum + (observed - expected) ** 2 / expected, 0);
    // 31 degrees of freedom: the probability of a false alarm is about 1e-9.
    assert.ok(chiSquare < 110, `position ${position}: ${chiSquare}`);
  }
});

eachDatabase("custom limits override those of the plan; the others stay", async (database) => {
  const { key } = await withKey(database, "enterprise");
  await database.query(`update customers set quotas = '{"DEEP": 7}' where customer_id = 'cus-a'`);
  const owner = await createKeyDirectory({ database, clock: new FakeClock() }).find(key);
  const standard = PLAN_ALLOWANCES.enterprise;
  assert.deepEqual(owner?.allowance, { ...standard, quotas: { ...standard.quotas, DEEP: 7 } });
});

eachDatabase("a replaced key is rejected within a second, even if it is cached", async (database) => {
  const clock = new FakeClock();
  const directory = createKeyDirectory({ database, clock });
  const old = await withKey(database, "pro", 1);
  assert.notEqual(await directory.find(old.key), null);
  const next = await withKey(database, "pro", 2);
  await clock.advance(1_000);
  assert.equal(await directory.find(old.key), null);
  assert.equal((await directory.find(next.key))?.keyId, "key-2");
});

eachDatabase("a replaced key is rejected immediately after the cache has been cleared", async (database) => {
  const directory = createKeyDirectory({ database, clock: new FakeClock() });
  const old = await withKey(database, "pro", 1);
  assert.notEqual(await directory.find(old.key), null);
  await withKey(database, "pro", 2);
  assert.notEqual(directory.find(old.key), null);
  directory.clear();
  assert.equal(await directory.find(old.key), null);
});

eachDatabase("the key of a canceled customer is not found", async (database) => {
  const { key } = await withKey(database, "pro");
  await database.query("update customers set status = 'canceled'");
  assert.equal(await createKeyDirectory({ database, clock: new FakeClock() }).find(key), null);
});

/** A database that counts its queries. */
function countingDatabase(respond: () => Promise<never[]>): Database & { queries: number } {
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

test("concurrent look-ups share one query, malformed keys cause none, and the cache expires and is bounded", async () => {
  const clock = new FakeClock();
  const database = countingDatabase(async () => []);
  const directory = createKeyDirectory({ database, clock, entriesMax: 2 });
  const keys = [1, 2, 3].map((seed) => createKey(seededRandom(seed), "free").key);
  await Promise.all([directory.find(keys[0] ?? ""), directory.find(keys[0] ?? ""), directory.find("plx_free_no")]);
  assert.equal(database.queries, 1);
  await clock.advance(1_000);
  await directory.find(keys[0] ?? "");
  assert.equal(database.queries, 2);
  await directory.find(keys[1] ?? "");
  await directory.find(keys[2] ?? "");
  await directory.find(keys[0] ?? "");
  assert.equal(database.queries, 5);
});

eachDatabase("assertMayLookUp is called only for keys that were not valid at their last look-up", async (database) => {
  const clock = new FakeClock();
  const directory = createKeyDirectory({ database, clock });
  const { key } = await withKey(database, "free");
  const unknown = createKey(seededRandom(77), "free").key;
  const unexpected = () => assert.fail("assertMayLookUp was called");
  const rejectLookUp = () => {
    throw new AppError("rate_limited", "Too often");
  };
  assert.throws(() => directory.find(key, rejectLookUp), isLimited);
  assert.throws(() => directory.find(unknown, rejectLookUp), isLimited);
  assert.notEqual(await directory.find(key), null);
  // A valid key stays known as valid after its cache entry has expired or been cleared.
  assert.notEqual(await directory.find(key, unexpected), null);
  await clock.advance(60_000);
  directory.clear();
  assert.notEqual(await directory.find(key, unexpected), null);
  await database.query("update customers set status = 'canceled'");
  await clock.advance(1_000);
  assert.equal(await directory.find(key, unexpected), null);
  await clock.advance(1_000);
  assert.throws(() => directory.find(key, rejectLookUp), isLimited);
});

const isLimited = (error: unknown) => error instanceof AppError && error.code === "rate_limited";

test("a failed query is an error and is not cached", async () => {
  let isUnavailable = true;
  const database = countingDatabase(async () => {
    if (isUnavailable) throw new AppError("store_unavailable", "unavailable");
    return [];
  });
  const directory = createKeyDirectory({ database, clock: new FakeClock() });
  const { key } = createKey(seededRandom(1), "free");
  await assert.rejects(async () => directory.find(key), /unavailable/);
  isUnavailable = false;
  assert.equal(await directory.find(key), null);
});

/** A database whose queries stay pending until the test resolves them. */
function pendingDatabase() {
  const queries: { resolve(rows: readonly object[]): void; reject(error: Error): void }[] = [];
  const query = () => new Promise((resolve, reject) => queries.push({ resolve, reject }));
  return { queries, database: { query, close: async () => {} } as unknown as Database };
}

const ownerRow = (keyId: string) => ({ keyId, customerId: "cus-a", plan: "free", quotas: null, rateLimits: null });
const settle = () => new Promise((resolve) => setImmediate(resolve));

async function withCachedKey() {
  const clock = new FakeClock();
  const { queries, database } = pendingDatabase();
  const directory = createKeyDirectory({ database, clock });
  const { key } = createKey(seededRandom(1), "free");
  const first = directory.find(key);
  queries[0]?.resolve([ownerRow("first")]);
  assert.equal((await first)?.keyId, "first");
  return { clock, queries, directory, key };
}

test("a result half a second old is still returned synchronously while one query refreshes it", async () => {
  const { clock, queries, directory, key } = await withCachedKey();
  await clock.advance(499);
  assert.deepEqual(directory.find(key), {
    keyId: "first",
    customerId: "cus-a",
    plan: "free",
    allowance: PLAN_ALLOWANCES.free,
  });
  assert.equal(queries.length, 1);
  await clock.advance(1);
  for (let i = 0; i < 3; i++) assert.equal((directory.find(key) as { keyId: string }).keyId, "first");
  assert.equal(queries.length, 2);
  queries[1]?.resolve([ownerRow("second")]);
  await settle();
  assert.equal((directory.find(key) as { keyId: string }).keyId, "second");
  await clock.advance(499);
  // A second after the first query, half a second after the second one.
  assert.equal((directory.find(key) as { keyId: string }).keyId, "second");
  assert.equal(queries.length, 2);
});

test("a result is not used later than a second after its query was sent, even if the next one is slow", async () => {
  const { clock, queries, directory, key } = await withCachedKey();
  await clock.advance(600);
  directory.find(key);
  await clock.advance(399);
  assert.equal((directory.find(key) as { keyId: string }).keyId, "first");
  await clock.advance(1);
  const pending = [directory.find(key), directory.find(key)];
  assert.ok(pending.every((owner) => owner instanceof Promise));
  assert.equal(queries.length, 2, "waits for the pending query instead of sending another");
  queries[1]?.resolve([]);
  assert.deepEqual(await Promise.all(pending), [null, null]);
  // The age of a result counts from its query, here at 600 ms.
  await clock.advance(600);
  assert.ok(directory.find(key) instanceof Promise);
  assert.equal(queries.length, 3);
});

test("after a failed refresh the old result is used until it expires, without further queries", async () => {
  const { clock, queries, directory, key } = await withCachedKey();
  await clock.advance(500);
  directory.find(key);
  queries[1]?.reject(new AppError("store_unavailable", "unavailable"));
  await settle();
  for (let i = 0; i < 3; i++) assert.equal((directory.find(key) as { keyId: string }).keyId, "first");
  assert.equal(queries.length, 2);
  await clock.advance(500);
  const after = directory.find(key);
  assert.equal(queries.length, 3);
  queries[2]?.reject(new AppError("store_unavailable", "unavailable"));
  await assert.rejects(async () => after, /unavailable/);
});

test("a query that fails while callers wait rejects their calls, and the next call queries again", async () => {
  const { clock, queries, directory, key } = await withCachedKey();
  await clock.advance(999);
  directory.find(key);
  await clock.advance(1);
  const pending = directory.find(key);
  queries[1]?.reject(new AppError("store_unavailable", "unavailable"));
  await assert.rejects(async () => pending, /unavailable/);
  const retried = directory.find(key);
  assert.equal(queries.length, 3);
  queries[2]?.resolve([ownerRow("third")]);
  assert.equal((await retried)?.keyId, "third");
});

test("the result of a query sent before the cache was cleared is not used for later calls", async () => {
  const { clock, queries, directory, key } = await withCachedKey();
  await clock.advance(500);
  directory.find(key);
  directory.clear();
  queries[1]?.resolve([ownerRow("stale")]);
  await settle();
  const after = directory.find(key);
  assert.equal(queries.length, 3);
  queries[2]?.resolve([]);
  assert.equal(await after, null);
});

test("key texts are cleared from memory after a second, also without further requests", async () => {
  const { clock, directory, key } = await withCachedKey();
  directory.find(createKey(seededRandom(2), "free").key);
  assert.equal(clock.pending, 1);
  await clock.advance(1_000);
  assert.equal(clock.pending, 0);
  directory.find(key);
  // The timer starts only with the first text, so the texts had been cleared.
  assert.equal(clock.pending, 1);
});

eachDatabase(
  "demo keys are private, survive restarts, and are recreated if the file or the database row is missing",
  async (database) => {
    const dataDir = await mkdtemp(join(tmpdir(), "parallax-demo-"));
    const path = join(dataDir, "demo-keys.json");
    const dependencies = { random: seededRandom(7), clock: new FakeClock() };
    try {
      const first = await ensureDemoKeys(database, dataDir, dependencies);
      assert.deepEqual(JSON.parse(await readFile(path, "utf8")), first);
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      assert.deepEqual(await ensureDemoKeys(database, dataDir, dependencies), first);

      await rm(path);
      const second = await ensureDemoKeys(database, dataDir, dependencies);
      assert.notEqual(second.pro, first.pro);
      const directory = createKeyDirectory({ database, clock: dependencies.clock });
      assert.equal(await directory.find(first.pro), null);
      assert.equal((await directory.find(second.enterprise))?.customerId, DEMO_CUSTOMER_IDS.enterprise);

      const allowanceOf = async () => (await directory.find(second.enterprise))?.allowance;
      assert.deepEqual((await allowanceOf())?.rateLimits, { general: 6_000, strategy: 6_000 });
      assert.equal((await allowanceOf())?.quotas.DEEP, 1_000_000);
      await database.query(`update customers set rate_limits = '{"general": 1}' where plan = 'enterprise'`);
      await ensureDemoKeys(database, dataDir, dependencies);
      await dependencies.clock.advance(1_000);
      assert.equal((await allowanceOf())?.rateLimits.general, 1, "operator settings are not overwritten");

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

      const otherDir = join(dataDir, "other");
      await ensureDemoKeys(database, otherDir, { ...dependencies, name: "demo of another service" });
      assert.deepEqual(
        await ensureDemoKeys(database, dataDir, dependencies),
        third,
        "keys of another service do not revoke these",
      );

      await writeFile(path, '{"free": 5, "pro": "plx_pro_x"');
      const fourth = await ensureDemoKeys(database, dataDir, dependencies);
      assert.equal((await directory.find(fourth.free))?.plan, "free");
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  },
);
