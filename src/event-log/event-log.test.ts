import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { eachDatabase, postgresDatabase } from "../../test/support/databases.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { createInProcessBus } from "../adapters/bus/in-process-bus.ts";
import type { Database } from "../ports/database.ts";
import { appendEvents, createEventLog, type NewEvent } from "./index.ts";

const AT = Date.UTC(2026, 10, 21);
const logOf = (database: Database) => createEventLog({ database, bus: createInProcessBus(quietLog) });
const happening = (key: string, parts: Partial<NewEvent> = {}): NewEvent => ({
  ...{ type: "price_shift", key, occurredAt: AT, venue: "alpha", marketId: "m", payload: { key } },
  ...parts,
});
const append = (database: Database, events: readonly NewEvent[]) =>
  database.transaction((transaction) => appendEvents(transaction, events));
const keysOf = (events: readonly { readonly payload: Readonly<Record<string, unknown>> }[]) =>
  events.map(({ payload }) => payload.key);

eachDatabase("events come back in their order, whole, and an empty log has none", async (database) => {
  const log = logOf(database);
  assert.deepEqual(await log.readAfter(0, { limit: 10 }), { events: [], through: 0, hasGap: false, latestId: 0 });
  assert.deepEqual([await log.latestId(), await log.oldestId()], [0, 1]);
  const hostile = { text: "a\0b\ud800 \u{1f600}\"'\\", none: null, share: 0.1, list: [1] };
  await append(database, [
    happening("a", { payload: hostile }),
    happening("b", { type: "analysis_complete", venue: null, marketId: null, occurredAt: AT + 1 }),
  ]);
  assert.deepEqual(await log.readAfter(0, { limit: 10 }), {
    events: [
      { id: 1, type: "price_shift", occurredAt: AT, venue: "alpha", marketId: "m", payload: hostile },
      { id: 2, type: "analysis_complete", occurredAt: AT + 1, venue: null, marketId: null, payload: { key: "b" } },
    ],
    ...{ through: 2, hasGap: false, latestId: 2 },
  });
  assert.deepEqual([await log.latestId(), await log.oldestId()], [2, 1]);
});

eachDatabase("what is rolled back was never in the log and leaves no id behind", async (database) => {
  const log = logOf(database);
  const failing = database.transaction(async (transaction) => {
    assert.equal(await appendEvents(transaction, [happening("lost")]), 1);
    throw new Error("no");
  });
  await assert.rejects(failing, /no/);
  assert.equal(await log.latestId(), 0);
  assert.equal(await append(database, [happening("lost")]), 1);
  const { events } = await log.readAfter(0, { limit: 10 });
  assert.deepEqual([events.map(({ id }) => id), keysOf(events)], [[1], ["lost"]]);
});

eachDatabase("an event appended again is kept once, within a batch and after it", async (database) => {
  const log = logOf(database);
  assert.equal(await append(database, [happening("a"), happening("a"), happening("b")]), 2);
  assert.equal(await append(database, [happening("b"), happening("c")]), 1);
  const { events, through, latestId } = await log.readAfter(0, { limit: 10 });
  assert.deepEqual(keysOf(events), ["a", "b", "c"]);
  assert.equal(through, latestId);
});

eachDatabase("more events than one statement takes keep their order", async (database) => {
  const log = logOf(database);
  const count = 2_300;
  const all = Array.from({ length: count }, (_, number) => happening(`k${number}`));
  assert.equal(await append(database, all), count);
  const seen: unknown[] = [];
  for (let after = 0; after < count; ) {
    const page = await log.readAfter(after, { limit: 1_000 });
    seen.push(...keysOf(page.events));
    after = page.through;
  }
  assert.deepEqual(
    seen,
    all.map(({ key }) => key),
  );
});

eachDatabase("a filter gives what it asks for and says how far it looked", async (database) => {
  const log = logOf(database);
  await append(database, [
    happening("1"),
    happening("2", { type: "whale_alert" }),
    happening("3", { marketId: "n" }),
    happening("4", { venue: "beta" }),
    happening("5", { type: "whale_alert", marketId: "n" }),
    happening("6", { venue: null, marketId: null }),
  ]);
  const read = async (filter: Parameters<typeof log.readAfter>[1]["filter"], limit = 10, after = 0) => {
    const page = await log.readAfter(after, { limit, ...(filter === undefined ? {} : { filter }) });
    return [keysOf(page.events).join(""), page.through];
  };
  assert.deepEqual(await read({ types: ["whale_alert"] }), ["25", 6]);
  assert.deepEqual(await read({ types: ["whale_alert"] }, 1), ["2", 2]);
  assert.deepEqual(await read({ types: ["whale_alert"] }, 10, 5), ["", 6]);
  assert.deepEqual(await read({ types: [] }), ["", 6]);
  assert.deepEqual(await read({ markets: [{ venue: "alpha", marketId: "n" }] }), ["35", 6]);
  const both = [
    { venue: "alpha", marketId: "m" },
    { venue: "beta", marketId: "m" },
  ];
  assert.deepEqual(await read({ markets: both }), ["124", 6]);
  assert.deepEqual(await read({ markets: both, types: ["whale_alert"] }), ["2", 6]);
  assert.deepEqual(await read({ markets: [{ venue: "beta", marketId: "n" }] }), ["", 6]);
  assert.deepEqual(await read({}, 2, 3), ["45", 5]);
});

eachDatabase("a choosy reader of a long log gets there in steps that are bounded", async (database) => {
  const log = logOf(database);
  // Rows in one statement: what is measured is the reading.
  await database.query(
    `insert into event_log (id, event_key, type, occurred_at, payload)
     select n, n::text, case when n = 25000 then 'whale_alert' else 'price_shift' end, now(), '{}'
     from generate_series(1, 25000) as n`,
  );
  await database.query("insert into event_log_head (last_id, dropped_through) values (25000, 0)");
  const steps: [number, number][] = [];
  for (let after = 0; after < 25_000; ) {
    const page = await log.readAfter(after, { limit: 10, filter: { types: ["whale_alert"] } });
    steps.push([page.events.length, page.through]);
    after = page.through;
  }
  assert.deepEqual(steps, [
    [0, 10_000],
    [0, 20_000],
    [1, 25_000],
  ]);
});

eachDatabase("what is out of bounds is refused, and nothing of its transaction is kept", async (database) => {
  const log = logOf(database);
  const bad: NewEvent[] = [
    happening(""),
    happening("a\0b"),
    happening("\ud800"),
    happening("k".repeat(601)),
    happening("large", { payload: { text: "x".repeat(16 * 1_024) } }),
    happening("wide", { payload: { text: "é".repeat(8 * 1_024) } }),
    { ...happening("type"), type: "nonsense" as NewEvent["type"] },
  ];
  for (const event of bad) await assert.rejects(append(database, [happening("good"), event]), RangeError);
  const full = JSON.stringify({ text: "" }).length;
  await append(database, [happening("k".repeat(600), { payload: { text: "x".repeat(16 * 1_024 - full) } })]);
  assert.equal(await log.latestId(), 1);
  for (const after of [-1, 0.5, Number.NaN]) await assert.rejects(log.readAfter(after, { limit: 1 }), RangeError);
  for (const limit of [0, 1_001, 1.5]) await assert.rejects(log.readAfter(0, { limit }), RangeError);
  const markets = Array.from({ length: 1_001 }, (_, number) => ({ venue: "alpha", marketId: `${number}` }));
  await assert.rejects(log.readAfter(0, { limit: 1, filter: { markets } }), RangeError);
});

eachDatabase("retention drops the old, keeps the young, and tells a reader that comes too late", async (database) => {
  const log = logOf(database);
  await append(
    database,
    ["1", "2", "3", "4"].map((key) => happening(key)),
  );
  await database.query("update event_log set appended_at = now() - interval '8 days' where id <= 2");
  // A younger event ends the old ones even where an older one follows: ids are dropped from the beginning only.
  await database.query("update event_log set appended_at = now() - interval '9 days' where id = 4");
  assert.equal((await log.readAfter(1, { limit: 10 })).hasGap, false);
  assert.equal(await log.applyRetention(7), 2);
  assert.equal(await log.applyRetention(7), 0);
  assert.deepEqual([await log.oldestId(), await log.latestId()], [3, 4]);
  const late = await log.readAfter(1, { limit: 10 });
  assert.deepEqual([late.hasGap, keysOf(late.events), late.through], [true, ["3", "4"], 4]);
  assert.equal((await log.readAfter(2, { limit: 10 })).hasGap, false);

  await database.query("update event_log set appended_at = now() - interval '8 days'");
  assert.equal(await log.applyRetention(7), 2);
  assert.deepEqual([await log.oldestId(), await log.latestId()], [5, 4]);
  assert.deepEqual(await log.readAfter(4, { limit: 10 }), { events: [], through: 4, hasGap: false, latestId: 4 });
  await append(database, [happening("5")]);
  assert.deepEqual(keysOf((await log.readAfter(4, { limit: 10 })).events), ["5"]);
});

eachDatabase("ids lost to repeated events are no gap, and a position never given out is one", async (database) => {
  const log = logOf(database);
  await append(database, [happening("a")]);
  await append(database, [happening("a"), happening("a")]);
  await append(database, [happening("b")]);
  const { events, hasGap } = await log.readAfter(1, { limit: 10 });
  assert.deepEqual([keysOf(events), hasGap], [["b"], false]);
  const ahead = await log.readAfter(1_000, { limit: 10 });
  assert.deepEqual([ahead.events, ahead.hasGap, ahead.through], [[], true, await log.latestId()]);
});

eachDatabase("a writer that stalls before its commit is ended by the server within seconds", async (database) => {
  const bound = await database.transaction(async (transaction) => {
    await appendEvents(transaction, [happening("a")]);
    const [row] = await transaction.query<{ bound: string }>(
      "select current_setting('idle_in_transaction_session_timeout') as bound",
    );
    return row?.bound;
  });
  assert.equal(bound, "5s");
});

/**
 * Writers whose transactions last differently long, some of them rolled back, while a reader follows: what it has seen
 * must be everything that was committed, once, in the order of the ids.
 */
async function writeAndFollow(
  database: Database,
  writers: readonly (readonly { readonly before: number; readonly after: number; readonly fails: boolean }[])[],
): Promise<{ seen: { id: number; key: unknown }[]; committed: Set<string> }> {
  const log = logOf(database);
  const committed = new Set<string>();
  const seen: { id: number; key: unknown }[] = [];
  let areWriting = true;
  let after = 0;
  const read = async () => {
    const { events, through } = await log.readAfter(after, { limit: 7 });
    seen.push(...events.map(({ id, payload }) => ({ id, key: payload.key })));
    after = through;
    return events.length;
  };
  const follow = async () => {
    while (areWriting) await read();
    while ((await read()) > 0);
  };
  const following = follow();
  await Promise.all(
    writers.map(async (transactions, writer) => {
      for (const [number, { before, after: later, fails }] of transactions.entries()) {
        const keys = [`${writer}/${number}/0`, `${writer}/${number}/1`];
        const done = database.transaction(async (transaction) => {
          for (let turn = 0; turn < before; turn++) await transaction.query("select 1");
          await appendEvents(
            transaction,
            keys.map((key) => happening(key)),
          );
          for (let turn = 0; turn < later; turn++) await transaction.query("select 1");
          if (fails) throw new Error("rolled back");
        });
        await done.then(
          () => keys.forEach((key) => void committed.add(key)),
          (error: Error) => assert.equal(error.message, "rolled back"),
        );
      }
    }),
  );
  areWriting = false;
  await following;
  return { seen, committed };
}

const work = fc.record({
  before: fc.integer({ min: 0, max: 3 }),
  after: fc.integer({ min: 0, max: 3 }),
  fails: fc.boolean(),
});

eachDatabase("no event is skipped, repeated or out of order, however writers overlap", async (database) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(work, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 8 }),
      async (writers) => {
        await database.query("truncate event_log, event_log_head");
        const { seen, committed } = await writeAndFollow(database, writers);
        assert.deepEqual(new Set(seen.map(({ key }) => key)), committed);
        assert.deepEqual(
          seen.map(({ id }) => id),
          Array.from({ length: committed.size }, (_, index) => index + 1),
        );
      },
    ),
    { numRuns: 12 },
  );
});

test("a transaction that appended first is seen first, although one that appended later wants to commit before it", {
  skip: process.env.TEST_DATABASE_URL === undefined ? "TEST_DATABASE_URL is not set" : false,
}, async () => {
  const database = await postgresDatabase();
  await database.query("truncate event_log, event_log_head");
  const log = logOf(database);
  const hold = Promise.withResolvers<void>();
  const appended = Promise.withResolvers<number | undefined>();
  const slow = database.transaction(async (transaction) => {
    await appendEvents(transaction, [happening("slow")]);
    const [session] = await transaction.query<{ pid: number }>("select pg_backend_pid() as pid");
    appended.resolve(session?.pid);
    await hold.promise;
  });
  const pid = await appended.promise;
  const quick = append(database, [happening("quick")]);
  const isWaiting = async () => {
    const waiting = await database.query("select 1 from pg_stat_activity where $1 = any(pg_blocking_pids(pid))", [pid]);
    return waiting.length > 0;
  };
  while (!(await isWaiting())) await pause(1);
  assert.deepEqual(await log.readAfter(0, { limit: 10 }), { events: [], through: 0, hasGap: false, latestId: 0 });
  hold.resolve();
  await Promise.all([slow, quick]);
  assert.deepEqual(keysOf((await log.readAfter(0, { limit: 10 })).events), ["slow", "quick"]);
});
