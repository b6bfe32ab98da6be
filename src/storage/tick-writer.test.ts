import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../test/support/databases.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { sampleTick } from "../../test/support/storage-samples.ts";
import { AppError } from "../domain/errors.ts";
import { DAY_MS, MINUTE_MS } from "../lib/durations.ts";
import type { Database } from "../ports/database.ts";
import { createTickWriter, storedTickTime } from "./tick-writer.ts";

const NOW = Date.UTC(2026, 10, 21, 23, 59, 59);
eachDatabase(
  "stores prices in millionths in daily partitions, and for each timestamp only the tick received last",
  async (database) => {
    const writer = createTickWriter({ database, clock: new FakeClock(NOW), log: quietLog });
    writer.write(sampleTick(1, NOW, { yesPrice: 0.1 }));
    writer.write(sampleTick(1, NOW, { yesPrice: 0.123456, bid: null }));
    writer.write(sampleTick(1, NOW + 2_000));
    await writer.flush();
    writer.write(sampleTick(1, NOW, { yesPrice: 0.9, receivedAt: NOW + 5 }));
    writer.write(sampleTick(1, NOW, { yesPrice: 0.2, receivedAt: NOW + 1 }));
    await writer.close();
    const rows = await database.query(
      `select event_at, bid, yes_price, relname as day from ticks join pg_class on pg_class.oid = ticks.tableoid
     order by event_at`,
    );
    assert.deepEqual(rows, [
      { event_at: new Date(NOW), bid: 400_000, yes_price: 900_000, day: "ticks_20261121" },
      { event_at: new Date(NOW + 2_000), bid: 400_000, yes_price: 410_000, day: "ticks_20261122" },
    ]);
    assert.deepEqual(writer.counters, { written: 5, dropped: 0, queued: 0 });
  },
);

eachDatabase("writes queued ticks after a delay if `flush` is not called", async (database) => {
  const clock = new FakeClock(NOW);
  const writer = createTickWriter({ database, clock, log: quietLog });
  writer.write(sampleTick(1, NOW));
  assert.equal(writer.counters.queued, 1);
  await clock.advance(1_000);
  await writer.flush();
  assert.equal(writer.counters.written, 1);
  assert.equal((await database.query("select 1 from ticks")).length, 1);
});

test("a tick has the venue time unless that is later or much earlier than the receive time", () => {
  assert.equal(storedTickTime({ eventAt: NOW - 5_000, receivedAt: NOW }), NOW - 5_000);
  assert.equal(storedTickTime({ eventAt: NOW + 5_000, receivedAt: NOW }), NOW);
  assert.equal(storedTickTime({ eventAt: NOW - 11 * MINUTE_MS, receivedAt: NOW }), NOW);
  assert.equal(storedTickTime({ eventAt: null, receivedAt: NOW }), NOW);
  assert.equal(storedTickTime({ eventAt: Number.NaN, receivedAt: NOW }), NOW);
});

/** A tick writer whose database records the inserted columns and fails while `state.failure` is set. */
function openHarness({ queueMax, failure = null }: { queueMax?: number; failure?: Error | null } = {}) {
  const state = { failure, attempts: 0, inserted: [] as (readonly unknown[])[] };
  const database: Pick<Database, "query"> = {
    async query(text, parameters = []) {
      if (!text.includes("insert into ticks")) return [];
      state.attempts += 1;
      if (state.failure !== null) throw state.failure;
      state.inserted.push(parameters);
      return [];
    },
  };
  const clock = new FakeClock(NOW);
  const writer = createTickWriter({ database: database as Database, clock, log: quietLog, queueMax });
  const storedKeys = () => state.inserted.flatMap(([marketKeys]) => marketKeys);
  return { state, clock, writer, storedKeys };
}

const unavailableError = new AppError("store_unavailable", "unavailable");

test("writes the ticks of half a second in one batch, and 250 ticks at once", async () => {
  const { state, clock, writer } = openHarness();
  const batchSizes = () => state.inserted.map(([marketKeys]) => (marketKeys as readonly unknown[]).length);
  for (let index = 0; index < 5; index++) {
    writer.write(sampleTick(index, NOW));
    await clock.advance(90);
  }
  assert.deepEqual(batchSizes(), []);
  await clock.advance(50);
  assert.deepEqual(batchSizes(), [5]);
  for (let index = 0; index < 250; index++) writer.write(sampleTick(index, NOW + 500));
  await clock.advance(0);
  assert.deepEqual(batchSizes(), [5, 250]);
});

test("if the database is unavailable, retries with backoff and loses no tick", async () => {
  const { state, clock, writer, storedKeys } = openHarness({ failure: unavailableError });
  for (let index = 0; index < 10; index++) writer.write(sampleTick(index, NOW + index));
  await clock.advance(10 * MINUTE_MS);
  assert.ok(state.attempts > 5 && state.attempts < 40);
  assert.equal(writer.counters.queued, 10);
  await assert.rejects(writer.flush(), /unavailable/);
  state.failure = null;
  await clock.advance(MINUTE_MS);
  assert.deepEqual(storedKeys(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(writer.counters, { written: 10, dropped: 0, queued: 0 });
});

test("writes a batch in primary key order; if two ticks have equal times, stores the one queued last", async () => {
  const { state, writer } = openHarness();
  writer.write(sampleTick(7, NOW, { bid: 0.1 }));
  writer.write(sampleTick(3, NOW + 1, { bid: 0.2 }));
  writer.write(sampleTick(7, NOW, { bid: 0.3 }));
  writer.write(sampleTick(3, NOW, { bid: 0.4 }));
  await writer.close();
  const [[marketKeys, eventTimes, , bids] = []] = state.inserted;
  assert.deepEqual(marketKeys, [3, 3, 7]);
  assert.deepEqual(eventTimes, [NOW, NOW + 1, NOW]);
  assert.deepEqual([bids, state.inserted.length], [[400_000, 200_000, 300_000], 1]);
  assert.deepEqual(writer.counters, { written: 4, dropped: 0, queued: 0 });
});

test("if the queue is full, drops and counts the oldest tick", async () => {
  const { writer, storedKeys } = openHarness({ queueMax: 3 });
  for (let index = 0; index < 5; index++) writer.write(sampleTick(index, NOW));
  assert.deepEqual(writer.counters, { written: 0, dropped: 2, queued: 3 });
  await writer.flush();
  assert.deepEqual(storedKeys(), [2, 3, 4]);
});

test("drops a batch after three permanent failures and writes the next batch", async () => {
  const { state, writer, storedKeys } = openHarness({ failure: new Error("rejected") });
  writer.write(sampleTick(1, NOW));
  await writer.flush();
  assert.equal(state.attempts, 3);
  assert.deepEqual(writer.counters, { written: 0, dropped: 1, queued: 0 });
  state.failure = null;
  writer.write(sampleTick(2, NOW));
  await writer.flush();
  assert.deepEqual(storedKeys(), [2]);
});

test("drops and counts ticks with an implausible receive time or an invalid key and ticks written after `close`", async () => {
  const { writer, storedKeys } = openHarness();
  writer.write(sampleTick(1, NOW + 2 * DAY_MS));
  writer.write(sampleTick(Number.NaN, NOW));
  writer.write(sampleTick(3, NOW, { bid: 1.5, volumeUsd: Number.POSITIVE_INFINITY }));
  await writer.close();
  writer.write(sampleTick(4, NOW));
  assert.deepEqual(storedKeys(), [3]);
  assert.deepEqual(writer.counters, { written: 1, dropped: 3, queued: 0 });
});

test("if the database is unavailable, `close` ends and counts the lost ticks", async () => {
  const { writer } = openHarness({ failure: unavailableError });
  writer.write(sampleTick(1, NOW));
  await writer.close();
  assert.deepEqual(writer.counters, { written: 0, dropped: 1, queued: 0 });
});
