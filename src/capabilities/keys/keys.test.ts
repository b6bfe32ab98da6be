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

/** A fixed stream of bytes, so that a failing run can be repeated. */
function seededRandom(seed: number): Random {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return { uniform: () => next() / 2 ** 32, bytes: (length) => Uint8Array.from({ length }, () => next() >>> 24) };
}

const plans = fc.constantFrom<Plan>("free", "pro", "enterprise");

test("a key has the form of the contract and is read back with its plan and hash", () => {
  fc.assert(
    fc.property(fc.integer(), plans, (seed, plan) => {
      const made = createKey(seededRandom(seed), plan);
      assert.match(made.key, /^plx_(free|pro|ent)_[a-z2-7]{33}$/);
      assert.deepEqual(parseKey(made.key), { plan, hash: made.hash });
      assert.ok(made.key.startsWith(made.prefix) && made.prefix.length < made.key.length - 26);
    }),
  );
});

test("the checksum is CRC-32 over prefix and random part, in base32", () => {
  // CRC-32 of "plx_free_aaaaaaaaaaaaaaaaaaaaaaaaaa" by zlib: computed outside this code base.
  const key = createKey({ uniform: () => 0, bytes: (length) => new Uint8Array(length) }, "free").key;
  assert.equal(key, `plx_free_${"a".repeat(26)}ahlsiwq`);
});

test("a key with any one character changed, or the plan swapped, is refused without a look-up", () => {
  fc.assert(
    fc.property(
      fc.integer(),
      plans,
      fc.nat(),
      fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz234567"),
      (seed, plan, at, character) => {
        const { key } = createKey(seededRandom(seed), plan);
        const position = key.length - 1 - (at % 33);
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
  const made = createKey(seededRandom(seed), plan);
  const customer = { customerId: "cus-a", plan };
  await replaceKey(database, customer, { ...made, keyId: `key-${seed}`, name: "test" }, Date.UTC(2026, 10, 21));
  return made;
}

eachDatabase("a stored key is found by its text, and only its hash is in the store", async (database) => {
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

eachDatabase("a key that the store does not know, or with another plan than its own, is null", async (database) => {
  const directory = createKeyDirectory({ database, clock: new FakeClock() });
  assert.equal(await directory.find(createKey(seededRandom(2), "pro").key), null);
  const made = createKey(seededRandom(3), "pro");
  const customer = { customerId: "cus-a", plan: "free" as const };
  await replaceKey(database, customer, { ...made, plan: "free", keyId: "key-3", name: "test" }, 0);
  assert.equal(await directory.find(made.key), null);
});

test("a hundred thousand keys repeat nothing, and every character of each place is as likely as any other", () => {
  const KEYS = 100_000;
  const seen = new Set<string>();
  const counts = Array.from({ length: 26 }, () => new Map<string, number>());
  for (let made = 0; made < KEYS; made++) {
    const text = createKey(systemRandom, "free").key.slice("plx_free_".length, -7);
    seen.add(text);
    for (const [place, count] of counts.entries()) {
      const character = text[place] ?? "";
      count.set(character, (count.get(character) ?? 0) + 1);
    }
  }
  assert.equal(seen.size, KEYS);
  const expected = KEYS / 32;
  for (const [place, count] of counts.entries()) {
    assert.equal(count.size, 32);
    const chiSquare = [...count.values()].reduce((sum, observed) => sum + (observed - expected) ** 2 / expected, 0);
    // 31 degrees of freedom: passed by chance once in a thousand million times.
    assert.ok(chiSquare < 110, `place ${place}: ${chiSquare}`);
  }
});

eachDatabase("numbers of a customer's own take the place of the plan's, the others stay", async (database) => {
  const { key } = await withKey(database, "enterprise");
  await database.query(`update customers set quotas = '{"DEEP": 7}' where customer_id = 'cus-a'`);
  const owner = await createKeyDirectory({ database, clock: new FakeClock() }).find(key);
  const standard = PLAN_ALLOWANCES.enterprise;
  assert.deepEqual(owner?.allowance, { ...standard, quotas: { ...standard.quotas, DEEP: 7 } });
});

eachDatabase("a replaced key ends within a second, also where its answer is remembered", async (database) => {
  const clock = new FakeClock();
  const directory = createKeyDirectory({ database, clock });
  const old = await withKey(database, "pro", 1);
  assert.notEqual(await directory.find(old.key), null);
  const next = await withKey(database, "pro", 2);
  await clock.advance(1_000);
  assert.equal(await directory.find(old.key), null);
  assert.equal((await directory.find(next.key))?.keyId, "key-2");
});

eachDatabase("a replaced key ends at once where the directory is told to forget", async (database) => {
  const directory = createKeyDirectory({ database, clock: new FakeClock() });
  const old = await withKey(database, "pro", 1);
  assert.notEqual(await directory.find(old.key), null);
  await withKey(database, "pro", 2);
  assert.notEqual(directory.find(old.key), null);
  directory.forget();
  assert.equal(await directory.find(old.key), null);
});

eachDatabase("the key of a canceled customer is null", async (database) => {
  const { key } = await withKey(database, "pro");
  await database.query("update customers set status = 'canceled'");
  assert.equal(await createKeyDirectory({ database, clock: new FakeClock() }).find(key), null);
});

/** A store that only counts, or fails. */
function countingDatabase(answer: () => Promise<never[]>): Database & { queries: number } {
  const database = {
    queries: 0,
    query() {
      database.queries += 1;
      return answer();
    },
    close: async () => {},
  };
  return database as unknown as Database & { queries: number };
}

test("the store is asked once for a key that is asked for at once or anew after a second, never for a malformed one, and no more are remembered than allowed", async () => {
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

eachDatabase(
  "whether a look-up may be made is asked for keys that were not good last time, and only then",
  async (database) => {
    const clock = new FakeClock();
    const directory = createKeyDirectory({ database, clock });
    const { key } = await withKey(database, "free");
    const unknown = createKey(seededRandom(77), "free").key;
    const never = () => assert.fail("asked");
    const no = () => {
      throw new AppError("rate_limited", "Too often");
    };
    assert.throws(() => directory.find(key, no), isLimited);
    assert.throws(() => directory.find(unknown, no), isLimited);
    assert.notEqual(await directory.find(key), null);
    // Remembered for a second as it is, and for longer as one that was good, also where all is looked up anew.
    assert.notEqual(await directory.find(key, never), null);
    await clock.advance(60_000);
    directory.forget();
    assert.notEqual(await directory.find(key, never), null);
    await database.query("update customers set status = 'canceled'");
    await clock.advance(1_000);
    assert.equal(await directory.find(key, never), null);
    await clock.advance(1_000);
    assert.throws(() => directory.find(key, no), isLimited);
  },
);

const isLimited = (error: unknown) => error instanceof AppError && error.code === "rate_limited";

test("an answer that did not come is an error, and is not remembered", async () => {
  let isAway = true;
  const database = countingDatabase(async () => {
    if (isAway) throw new AppError("store_unavailable", "away");
    return [];
  });
  const directory = createKeyDirectory({ database, clock: new FakeClock() });
  const { key } = createKey(seededRandom(1), "free");
  await assert.rejects(async () => directory.find(key), /away/);
  isAway = false;
  assert.equal(await directory.find(key), null);
});

/** A store whose every look-up waits until the test answers it. */
function heldDatabase() {
  const waiting: { resolve(rows: readonly object[]): void; reject(error: Error): void }[] = [];
  const query = () => new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  return { waiting, database: { query, close: async () => {} } as unknown as Database };
}

const ownerRow = (keyId: string) => ({
  ...{ key_id: keyId, customer_id: "cus-a", plan: "free", quotas: null, rate_limits: null },
});
const settle = () => new Promise((resolve) => setImmediate(resolve));

async function withRememberedKey() {
  const clock = new FakeClock();
  const { waiting, database } = heldDatabase();
  const directory = createKeyDirectory({ database, clock });
  const { key } = createKey(seededRandom(1), "free");
  const first = directory.find(key);
  waiting[0]?.resolve([ownerRow("first")]);
  assert.equal((await first)?.keyId, "first");
  return { clock, waiting, directory, key };
}

test("an answer half a second old serves on without a wait while one look-up asks for the next", async () => {
  const { clock, waiting, directory, key } = await withRememberedKey();
  await clock.advance(499);
  assert.deepEqual(directory.find(key), {
    ...{ keyId: "first", customerId: "cus-a", plan: "free", allowance: PLAN_ALLOWANCES.free },
  });
  assert.equal(waiting.length, 1);
  await clock.advance(1);
  for (let turn = 0; turn < 3; turn++) assert.equal((directory.find(key) as { keyId: string }).keyId, "first");
  assert.equal(waiting.length, 2);
  waiting[1]?.resolve([ownerRow("second")]);
  await settle();
  assert.equal((directory.find(key) as { keyId: string }).keyId, "second");
  await clock.advance(499);
  // A second after the first look-up, half a second after the one that counts.
  assert.equal((directory.find(key) as { keyId: string }).keyId, "second");
  assert.equal(waiting.length, 2);
});

test("an answer is never told a second after its look-up was sent, however late the next one comes", async () => {
  const { clock, waiting, directory, key } = await withRememberedKey();
  await clock.advance(600);
  directory.find(key);
  await clock.advance(399);
  assert.equal((directory.find(key) as { keyId: string }).keyId, "first");
  await clock.advance(1);
  const late = [directory.find(key), directory.find(key)];
  assert.ok(late.every((answer) => answer instanceof Promise));
  assert.equal(waiting.length, 2, "the look-up under way is waited for, not sent again");
  waiting[1]?.resolve([]);
  assert.deepEqual(await Promise.all(late), [null, null]);
  // It was sent at 600 ms and counts from there.
  await clock.advance(600);
  assert.ok(directory.find(key) instanceof Promise);
  assert.equal(waiting.length, 3);
});

test("a look-up that fails leaves the old answer its second, is not repeated meanwhile, and is told after it", async () => {
  const { clock, waiting, directory, key } = await withRememberedKey();
  await clock.advance(500);
  directory.find(key);
  waiting[1]?.reject(new AppError("store_unavailable", "away"));
  await settle();
  for (let turn = 0; turn < 3; turn++) assert.equal((directory.find(key) as { keyId: string }).keyId, "first");
  assert.equal(waiting.length, 2);
  await clock.advance(500);
  const after = directory.find(key);
  assert.equal(waiting.length, 3);
  waiting[2]?.reject(new AppError("store_unavailable", "away"));
  await assert.rejects(async () => after, /away/);
});

test("a look-up that fails while callers wait for it is told to them and asked anew at once", async () => {
  const { clock, waiting, directory, key } = await withRememberedKey();
  await clock.advance(999);
  directory.find(key);
  await clock.advance(1);
  const waits = directory.find(key);
  waiting[1]?.reject(new AppError("store_unavailable", "away"));
  await assert.rejects(async () => waits, /away/);
  const again = directory.find(key);
  assert.equal(waiting.length, 3);
  waiting[2]?.resolve([ownerRow("third")]);
  assert.equal((await again)?.keyId, "third");
});

test("a look-up that was sent before the directory was told to forget serves nobody who comes after", async () => {
  const { clock, waiting, directory, key } = await withRememberedKey();
  await clock.advance(500);
  directory.find(key);
  directory.forget();
  waiting[1]?.resolve([ownerRow("stale")]);
  await settle();
  const after = directory.find(key);
  assert.equal(waiting.length, 3);
  waiting[2]?.resolve([]);
  assert.equal(await after, null);
});

test("all texts of keys are forgotten a second after the first use, also of those that are never asked for again", async () => {
  const { clock, directory, key } = await withRememberedKey();
  directory.find(createKey(seededRandom(2), "free").key);
  assert.equal(clock.pending, 1);
  await clock.advance(1_000);
  assert.equal(clock.pending, 0);
  directory.find(key);
  // The timer is set with the first text only: the other one is not there any more.
  assert.equal(clock.pending, 1);
});

eachDatabase(
  "demo keys are made once, kept over restarts, private, and made anew when file or store lost them",
  async (database) => {
    const dataDir = await mkdtemp(join(tmpdir(), "parallax-demo-"));
    const path = join(dataDir, "demo-keys.json");
    const tools = { random: seededRandom(7), clock: new FakeClock() };
    try {
      const first = await ensureDemoKeys(database, dataDir, tools);
      assert.deepEqual(JSON.parse(await readFile(path, "utf8")), first);
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      assert.deepEqual(await ensureDemoKeys(database, dataDir, tools), first);

      await rm(path);
      const second = await ensureDemoKeys(database, dataDir, tools);
      assert.notEqual(second.pro, first.pro);
      const directory = createKeyDirectory({ database, clock: tools.clock });
      assert.equal(await directory.find(first.pro), null);
      assert.equal((await directory.find(second.enterprise))?.customerId, DEMO_CUSTOMER_IDS.enterprise);

      const allowanceOf = async () => (await directory.find(second.enterprise))?.allowance;
      assert.deepEqual((await allowanceOf())?.rateLimits, { general: 6_000, strategy: 6_000 });
      assert.equal((await allowanceOf())?.quotas.DEEP, 1_000_000);
      await database.query(`update customers set rate_limits = '{"general": 1}' where plan = 'enterprise'`);
      await ensureDemoKeys(database, dataDir, tools);
      await tools.clock.advance(1_000);
      assert.equal((await allowanceOf())?.rateLimits.general, 1, "what an operator sets stays");

      await database.query("delete from api_keys where plan = 'free'");
      const third = await ensureDemoKeys(database, dataDir, tools);
      assert.notEqual(third.free, second.free);
      assert.equal(third.pro, second.pro);

      await database.query("update customers set status = 'canceled' where plan = 'pro'");
      assert.deepEqual(await ensureDemoKeys(database, dataDir, tools), third, "what is disabled gets no new keys");
      await database.query("update customers set status = 'active'");

      const otherDir = join(dataDir, "other");
      await ensureDemoKeys(database, otherDir, { ...tools, name: "demo of another service" });
      assert.deepEqual(
        await ensureDemoKeys(database, dataDir, tools),
        third,
        "another service's keys end none of these",
      );

      await writeFile(path, '{"free": 5, "pro": "plx_pro_x"');
      const fourth = await ensureDemoKeys(database, dataDir, tools);
      assert.equal((await directory.find(fourth.free))?.plan, "free");
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  },
);
