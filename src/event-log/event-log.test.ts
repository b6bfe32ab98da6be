import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { eachDatabase, onPostgres } from "../../test/support/databases.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { createInProcessBus } from "../adapters/bus/in-process-bus.ts";
import { DAY_MS } from "../lib/durations.ts";
import type { Database } from "../ports/database.ts";
import { appendEvents, createEventLog, formatEvent, type NewEvent, startEpoch } from "./index.ts";

const OCCURRED_AT = Date.UTC(2026, 10, 21);
const createLog = (database: Database) => createEventLog({ database, bus: createInProcessBus(quietLog) });
const createEvent = (key: string, parts: Partial<NewEvent> = {}): NewEvent => ({
  type: "price_shift",
  key,
  occurredAt: OCCURRED_AT,
  venue: "alpha",
  marketId: "m",
  payload: { key },
  ...parts,
});
const createEvents = (...keys: readonly string[]) => keys.map((key) => createEvent(key));
const appendInTransaction = (database: Database, events: readonly NewEvent[]) =>
  database.transaction((transaction) => appendEvents(transaction, events));
const collectKeys = (events: readonly { readonly payload: Readonly<Record<string, unknown>> }[]) =>
  events.map(({ payload }) => payload.key);

eachDatabase("returns an empty page for an empty log, and all fields of appended events in order", async (database) => {
  const log = createLog(database);
  assert.deepEqual(await log.readAfter(0, { limit: 10 }), { events: [], through: 0, hasGap: false, latestId: 0 });
  assert.deepEqual([await log.latestId(), await log.startOfNewest(10)], [0, 0]);
  const laterAt = OCCURRED_AT + 1;
  const unusualPayload = { text: "a\0b\ud800 \u{1f600}\"'\\", none: null, share: 0.1, list: [1] };
  await appendInTransaction(database, [
    createEvent("a", { payload: unusualPayload }),
    createEvent("b", { type: "analysis_complete", venue: null, marketId: null, occurredAt: laterAt }),
  ]);
  assert.deepEqual(await log.readAfter(0, { limit: 10 }), {
    events: [
      { id: 1, type: "price_shift", occurredAt: OCCURRED_AT, venue: "alpha", marketId: "m", payload: unusualPayload },
      { id: 2, type: "analysis_complete", occurredAt: laterAt, venue: null, marketId: null, payload: { key: "b" } },
    ],
    through: 2,
    hasGap: false,
    latestId: 2,
  });
  assert.deepEqual([await log.latestId(), await log.startOfNewest(10), await log.startOfNewest(1)], [2, 0, 1]);
});

eachDatabase("the numbers of an event are rounded as in responses", async (database) => {
  const log = createLog(database);
  const payload = { new_yes: 0.1 + 0.2, flow: 100 / 3, probability: 1 / 3 };
  await appendInTransaction(database, [createEvent("a", { payload })]);
  const { events } = await log.readAfter(0, { limit: 1 });
  const { id: _id, type: _type, timestamp: _timestamp, ...sent } = JSON.parse(events.map(formatEvent)[0] ?? "");
  assert.deepEqual(sent, { new_yes: 0.3, flow: 33.333333, probability: 1 / 3 });
});

eachDatabase("a rolled-back append stores no event and uses no id", async (database) => {
  const log = createLog(database);
  const failingTransaction = database.transaction(async (transaction) => {
    assert.equal(await appendEvents(transaction, [createEvent("lost")]), 1);
    throw new Error("rolled back");
  });
  await assert.rejects(failingTransaction, /rolled back/);
  assert.equal(await log.latestId(), 0);
  assert.equal(await appendInTransaction(database, [createEvent("lost")]), 1);
  const { events } = await log.readAfter(0, { limit: 10 });
  assert.deepEqual([events.map(({ id }) => id), collectKeys(events)], [[1], ["lost"]]);
});

eachDatabase("stores only one event per key, within a batch and across batches", async (database) => {
  const log = createLog(database);
  assert.equal(await appendInTransaction(database, createEvents("a", "a", "b")), 2);
  assert.equal(await appendInTransaction(database, createEvents("b", "c")), 1);
  const { events, through, latestId } = await log.readAfter(0, { limit: 10 });
  assert.deepEqual(collectKeys(events), ["a", "b", "c"]);
  assert.equal(through, latestId);
});

eachDatabase("events appended by several statements are returned in order", async (database) => {
  const log = createLog(database);
  const count = 2_300;
  const keys = Array.from({ length: count }, (_, number) => `k${number}`);
  assert.equal(await appendInTransaction(database, createEvents(...keys)), count);
  const seenKeys: unknown[] = [];
  for (let after = 0; after < count; ) {
    const page = await log.readAfter(after, { limit: 1_000 });
    seenKeys.push(...collectKeys(page.events));
    after = page.through;
  }
  assert.deepEqual(seenKeys, keys);
});

eachDatabase("a read with a filter returns the matching events and the last id scanned", async (database) => {
  const log = createLog(database);
  await appendInTransaction(database, [
    createEvent("1"),
    createEvent("2", { type: "whale_alert" }),
    createEvent("3", { marketId: "n" }),
    createEvent("4", { venue: "beta" }),
    createEvent("5", { type: "whale_alert", marketId: "n" }),
    createEvent("6", { venue: null, marketId: null }),
  ]);
  const readKeys = async (filter: Parameters<typeof log.readAfter>[1]["filter"], limit = 10, after = 0) => {
    const page = await log.readAfter(after, { limit, filter });
    return [collectKeys(page.events).join(""), page.through];
  };
  assert.deepEqual(await readKeys({ types: ["whale_alert"] }), ["25", 6]);
  assert.deepEqual(await readKeys({ types: ["whale_alert"] }, 1), ["2", 2]);
  assert.deepEqual(await readKeys({ types: ["whale_alert"] }, 10, 5), ["", 6]);
  assert.deepEqual(await readKeys({ types: [] }), ["", 6]);
  assert.deepEqual(await readKeys({ markets: [{ venue: "alpha", marketId: "n" }] }), ["35", 6]);
  const bothMarkets = [
    { venue: "alpha", marketId: "m" },
    { venue: "beta", marketId: "m" },
  ];
  assert.deepEqual(await readKeys({ markets: bothMarkets }), ["124", 6]);
  assert.deepEqual(await readKeys({ markets: bothMarkets, types: ["whale_alert"] }), ["2", 6]);
  assert.deepEqual(await readKeys({ markets: [{ venue: "beta", marketId: "n" }] }), ["", 6]);
  assert.deepEqual(await readKeys({}, 2, 3), ["45", 5]);
});

eachDatabase("a read with a selective filter scans a bounded number of ids", async (database) => {
  const log = createLog(database);
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

eachDatabase("rejects an event that exceeds a bound and rolls back its transaction", async (database) => {
  const log = createLog(database);
  const invalidEvents: NewEvent[] = [
    createEvent(""),
    createEvent("a\0b"),
    createEvent("\ud800"),
    createEvent("k".repeat(601)),
    createEvent("large", { payload: { text: "x".repeat(16 * 1_024) } }),
    createEvent("wide", { payload: { text: "é".repeat(8 * 1_024) } }),
    { ...createEvent("type"), type: "nonsense" as NewEvent["type"] },
  ];
  for (const event of invalidEvents)
    await assert.rejects(appendInTransaction(database, [createEvent("good"), event]), RangeError);
  const overhead = JSON.stringify({ text: "" }).length;
  await appendInTransaction(database, [
    createEvent("k".repeat(600), { payload: { text: "x".repeat(16 * 1_024 - overhead) } }),
  ]);
  assert.equal(await log.latestId(), 1);
  for (const after of [-1, 0.5, Number.NaN]) await assert.rejects(log.readAfter(after, { limit: 1 }), RangeError);
  for (const limit of [0, 1_001, 1.5]) await assert.rejects(log.readAfter(0, { limit }), RangeError);
  const markets = Array.from({ length: 1_001 }, (_, number) => ({ venue: "alpha", marketId: `${number}` }));
  await assert.rejects(log.readAfter(0, { limit: 1, filter: { markets } }), RangeError);
});

eachDatabase("retention deletes old events, and a reader of deleted ids gets `hasGap`", async (database) => {
  const log = createLog(database);
  await appendInTransaction(database, createEvents("1", "2", "3", "4"));
  await database.query("update event_log set appended_at = now() - interval '8 days' where id <= 2");
  // Ids are deleted only from the beginning of the log, so an old event after a newer one is retained.
  await database.query("update event_log set appended_at = now() - interval '9 days' where id = 4");
  assert.equal((await log.readAfter(1, { limit: 10 })).hasGap, false);
  assert.equal(await log.applyRetention(7), 2);
  assert.equal(await log.applyRetention(7), 0);
  assert.deepEqual([await log.startOfNewest(10), await log.latestId()], [2, 4]);
  const lateRead = await log.readAfter(1, { limit: 10 });
  assert.deepEqual([lateRead.hasGap, collectKeys(lateRead.events), lateRead.through], [true, ["3", "4"], 4]);
  assert.equal((await log.readAfter(2, { limit: 10 })).hasGap, false);

  await database.query("update event_log set appended_at = now() - interval '8 days'");
  assert.equal(await log.applyRetention(7), 2);
  assert.deepEqual([await log.startOfNewest(10), await log.latestId()], [4, 4]);
  assert.deepEqual(await log.readAfter(4, { limit: 10 }), { events: [], through: 4, hasGap: false, latestId: 4 });
  await appendInTransaction(database, [createEvent("5")]);
  assert.deepEqual(collectKeys((await log.readAfter(4, { limit: 10 })).events), ["5"]);
});

eachDatabase("a reader gets `hasGap` for an unassigned position, not for ids of repeated events", async (database) => {
  const log = createLog(database);
  await appendInTransaction(database, [createEvent("a")]);
  await appendInTransaction(database, [createEvent("a"), createEvent("a")]);
  await appendInTransaction(database, [createEvent("b")]);
  const { events, hasGap } = await log.readAfter(1, { limit: 10 });
  assert.deepEqual([collectKeys(events), hasGap], [["b"], false]);
  const futureRead = await log.readAfter(1_000, { limit: 10 });
  assert.deepEqual([futureRead.events, futureRead.hasGap, futureRead.through], [[], true, await log.latestId()]);
});

eachDatabase(
  "after a start, ids are above all ids assigned before it, including those that a restored backup lacks",
  async (database) => {
    const log = createLog(database);
    await appendInTransaction(database, createEvents("a", "b"));
    // The state of the backup. The store then started again and appended events that the restored store does not have.
    await startEpoch(database, OCCURRED_AT);
    await appendInTransaction(database, createEvents("c"));
    const lost = await log.latestId();
    await database.query("delete from event_log where id > 2");
    await database.query("delete from event_log_epochs");
    await database.query("update event_log_head set last_id = 2");

    const restoredAt = OCCURRED_AT + 1_000;
    await startEpoch(database, restoredAt);
    assert.equal(await appendInTransaction(database, createEvents("d")), 1);
    const { events, hasGap, through } = await log.readAfter(2, { limit: 10 });
    assert.deepEqual([collectKeys(events), hasGap], [["d"], false]);
    assert.ok(through > lost, `${through} is not above ${lost}`);
    // A reader of the lost state continues with the events after the start, and gets `hasGap`.
    const lostReader = await log.readAfter(lost, { limit: 10 });
    assert.deepEqual([collectKeys(lostReader.events), lostReader.hasGap], [["d"], true]);
  },
);

eachDatabase("a reader misses no event when other nodes start, even without events in between", async (database) => {
  const log = createLog(database);
  await appendInTransaction(database, createEvents("a"));
  const positions = [1];
  for (const seconds of [0, 1, 2]) {
    await startEpoch(database, OCCURRED_AT + seconds * 1_000);
    const { through, hasGap } = await log.readAfter(positions.at(-1) ?? 0, { limit: 10 });
    assert.equal(hasGap, false, `start ${seconds}`);
    positions.push(through);
  }
  // A clock that was set back leaves the ids as they are.
  await startEpoch(database, OCCURRED_AT - DAY_MS);
  const last = (OCCURRED_AT + 2_000) * 1_000;
  assert.equal(await log.latestId(), last);
  const hasGap = async (position: number) => (await log.readAfter(position, { limit: 10 })).hasGap;
  for (const position of positions) assert.equal(await hasGap(position), false, `position ${position}`);
  // Positions that no node of this store has returned.
  for (const position of [2, last - 1]) assert.equal(await hasGap(position), true, `position ${position}`);
});

eachDatabase(
  "a filtered reader misses no event and gets no gap when its scan reaches the ids of a new start",
  async (database) => {
    const log = createLog(database);
    await appendInTransaction(database, createEvents("a", "b"));
    await startEpoch(database, OCCURRED_AT);
    await appendInTransaction(database, [createEvent("c", { marketId: "other" })]);
    const filter = { markets: [{ venue: "alpha", marketId: "other" }] };
    const keys: unknown[] = [];
    for (let position = 0; position < (await log.latestId()); ) {
      const page = await log.readAfter(position, { limit: 10, filter });
      assert.equal(page.hasGap, false, `position ${position}`);
      keys.push(...collectKeys(page.events));
      position = page.through;
    }
    assert.deepEqual(keys, ["c"]);
  },
);

eachDatabase("one read crosses a range of unassigned ids, and retention deletes the range", async (database) => {
  const log = createLog(database);
  await appendInTransaction(database, createEvents("a"));
  await startEpoch(database, OCCURRED_AT);
  await appendInTransaction(database, createEvents("b"));
  const last = await log.latestId();
  assert.deepEqual(collectKeys((await log.readAfter(0, { limit: 10 })).events), ["a"]);
  assert.deepEqual(collectKeys((await log.readAfter(1, { limit: 10 })).events), ["b"]);
  assert.deepEqual([await log.startOfNewest(1), await log.startOfNewest(2)], [last - 1, 0]);
  await database.query("update event_log set appended_at = now() - interval '8 days'");
  await log.applyRetention(7);
  const [row] = await database.query<{ count: number }>("select count(*) as count from event_log_epochs");
  assert.equal(row?.count, 0);
});

eachDatabase("the server ends a transaction that is idle for 5 s after its append", async (database) => {
  const idleTimeout = await database.transaction(async (transaction) => {
    await appendEvents(transaction, [createEvent("a")]);
    const [row] = await transaction.query<{ bound: string }>(
      "select current_setting('idle_in_transaction_session_timeout') as bound",
    );
    return row?.bound;
  });
  assert.equal(idleTimeout, "5s");
});

const transactionPlanArbitrary = fc.record({
  statementsBefore: fc.integer({ min: 0, max: 3 }),
  statementsAfter: fc.integer({ min: 0, max: 3 }),
  fails: fc.boolean(),
});
type TransactionPlan = typeof transactionPlanArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * Runs writers whose transactions have different durations, some rolled back, while a reader follows the log. Returns
 * what the reader saw and what was committed.
 */
async function writeAndFollow(
  database: Database,
  writers: readonly (readonly TransactionPlan[])[],
): Promise<{ seenEvents: { id: number; key: unknown }[]; committedKeys: Set<string> }> {
  const log = createLog(database);
  const committedKeys = new Set<string>();
  const seenEvents: { id: number; key: unknown }[] = [];
  let isWriting = true;
  let after = 0;
  const readKeys = async () => {
    const { events, through } = await log.readAfter(after, { limit: 7 });
    seenEvents.push(...events.map(({ id, payload }) => ({ id, key: payload.key })));
    after = through;
    return events.length;
  };
  const followTask = (async () => {
    while (isWriting) await readKeys();
    while ((await readKeys()) > 0);
  })();
  await Promise.all(
    writers.map(async (transactions, writer) => {
      for (const [number, { statementsBefore, statementsAfter, fails }] of transactions.entries()) {
        const keys = [`${writer}/${number}/0`, `${writer}/${number}/1`];
        const transaction = database.transaction(async (transaction) => {
          for (let count = 0; count < statementsBefore; count++) await transaction.query("select 1");
          await appendEvents(transaction, createEvents(...keys));
          for (let count = 0; count < statementsAfter; count++) await transaction.query("select 1");
          if (fails) throw new Error("rolled back");
        });
        await transaction.then(
          () => keys.forEach((key) => void committedKeys.add(key)),
          (error: Error) => assert.equal(error.message, "rolled back"),
        );
      }
    }),
  );
  isWriting = false;
  await followTask;
  return { seenEvents, committedKeys };
}

eachDatabase("if writers overlap, a reader reads every committed event once and in order", async (database) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(transactionPlanArbitrary, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 8 }),
      async (writers) => {
        await database.query("truncate event_log, event_log_head");
        const { seenEvents, committedKeys } = await writeAndFollow(database, writers);
        assert.deepEqual(new Set(seenEvents.map(({ key }) => key)), committedKeys);
        assert.deepEqual(
          seenEvents.map(({ id }) => id),
          Array.from({ length: committedKeys.size }, (_, index) => index + 1),
        );
      },
    ),
    { numRuns: 12 },
  );
});

onPostgres("the first append becomes visible first, even if the next is ready to commit earlier", async (database) => {
  const log = createLog(database);
  const commitGate = Promise.withResolvers<void>();
  const appendedBackend = Promise.withResolvers<number | undefined>();
  const slowTransaction = database.transaction(async (transaction) => {
    await appendEvents(transaction, [createEvent("slow")]);
    const [session] = await transaction.query<{ pid: number }>("select pg_backend_pid() as pid");
    appendedBackend.resolve(session?.pid);
    await commitGate.promise;
  });
  const pid = await appendedBackend.promise;
  const fastAppend = appendInTransaction(database, [createEvent("fast")]);
  const isBlocked = async () => {
    const blocked = await database.query("select 1 from pg_stat_activity where $1 = any(pg_blocking_pids(pid))", [pid]);
    return blocked.length > 0;
  };
  while (!(await isBlocked())) await pause(1);
  assert.deepEqual(await log.readAfter(0, { limit: 10 }), { events: [], through: 0, hasGap: false, latestId: 0 });
  commitGate.resolve();
  await Promise.all([slowTransaction, fastAppend]);
  assert.deepEqual(collectKeys((await log.readAfter(0, { limit: 10 })).events), ["slow", "fast"]);
});
