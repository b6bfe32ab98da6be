import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { eachDatabase, embeddedDatabase } from "../../test/support/databases.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { samplePoint } from "../../test/support/storage-samples.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../lib/durations.ts";
import type { Database } from "../ports/database.ts";
import { createHistoryStore } from "./history-store.ts";
import { createMarketStore } from "./market-store.ts";
import { FIVE_MINUTES_MS } from "./model.ts";
import { createTickWriter } from "./tick-writer.ts";

/** Noon, a boundary of all intervals but the day. */
const NOON = Date.UTC(2026, 10, 21, 12);

interface StoredTick {
  readonly at: number;
  /** Null if the market had no price. */
  readonly price: number | null;
  readonly volumeUsd?: number;
}

async function writeTicks(database: Database, marketKey: number, ticks: readonly StoredTick[]) {
  const clock = new FakeClock(NOON - 10 * DAY_MS);
  const writer = createTickWriter({ database, clock, log: quietLog });
  for (const { at, price, volumeUsd = null } of ticks) {
    clock.jumpWallClock(at - clock.now());
    const quote = { bid: null, ask: null, lastPrice: price, yesPrice: price, volumeUsd };
    writer.write({ marketKey, eventAt: at, receivedAt: at, ...quote });
  }
  await writer.close();
}

/** Reference implementation: candles of the intervals (start, end], computed from the ticks. */
function naiveCandles(ticks: readonly StoredTick[], fromMs: number, toMs: number, intervalMs: number) {
  const priced = ticks.flatMap(({ at, price }) => (price === null ? [] : [{ at, price }])).sort((a, b) => a.at - b.at);
  const candles: (readonly number[])[] = [];
  for (let startAt = fromMs; startAt < toMs; startAt += intervalMs) {
    const endAt = startAt + intervalMs;
    const close = priced.findLast(({ at }) => at <= endAt)?.price;
    if (close === undefined) continue;
    const observed = priced.filter(({ at }) => at > startAt && at <= endAt).map(({ price }) => price);
    const previousClose = priced.findLast(({ at }) => at <= startAt)?.price ?? close;
    const open = observed[0] ?? previousClose;
    const all = [open, close, ...observed];
    candles.push([startAt, open, Math.max(...all), Math.min(...all), close]);
  }
  return candles;
}

/** Ticks over three hours before noon, with equal prices, pauses and times on the boundaries of intervals. */
const ticksArbitrary = fc
  .uniqueArray(
    fc.record({
      at: fc.oneof(
        fc.integer({ min: -180 * 60, max: 0 }).map((seconds) => NOON + seconds * 1_000),
        fc.integer({ min: -36, max: 0 }).map((count) => NOON + count * FIVE_MINUTES_MS),
        fc.integer({ min: -120_000, max: 0 }).map((offset) => NOON - HOUR_MS + offset),
      ),
      price: fc.option(
        fc.integer({ min: 1, max: 999 }).map((milli) => milli / 1_000),
        { freq: 8 },
      ),
    }),
    { selector: ({ at }) => at, maxLength: 60 },
  )
  .map((ticks) => ticks.sort((a, b) => a.at - b.at));

test("candles of every interval equal those computed from the ticks, before and after the roll-up", async () => {
  const database = await embeddedDatabase();
  const history = createHistoryStore(database);
  let marketKey = 0;
  await fc.assert(
    fc.asyncProperty(ticksArbitrary, fc.integer({ min: -185, max: 2 }), async (ticks, rolledUpMinute) => {
      marketKey += 1;
      await database.query("delete from meta");
      await writeTicks(database, marketKey, ticks);
      await history.rollUp(NOON + rolledUpMinute * MINUTE_MS);
      for (const [intervalMs, fromMs, toMs] of [
        [MINUTE_MS, NOON - 93 * MINUTE_MS, NOON - 3 * MINUTE_MS],
        [FIVE_MINUTES_MS, NOON - 3 * HOUR_MS, NOON + FIVE_MINUTES_MS],
        [HOUR_MS, NOON - 4 * HOUR_MS, NOON + HOUR_MS],
        [DAY_MS, NOON - 36 * HOUR_MS, NOON + 12 * HOUR_MS],
      ] as const) {
        const { points, intervalSeconds } = await history.readRange(marketKey, { fromMs, toMs, intervalMs });
        assert.equal(intervalSeconds * 1_000, intervalMs);
        assert.deepEqual(
          points.map(({ startAt, open, high, low, yesPrice }) => [startAt, open, high, low, yesPrice]),
          naiveCandles(ticks, fromMs, toMs, intervalMs),
          `${intervalMs} ms`,
        );
      }
    }),
    { numRuns: 15 },
  );
});

eachDatabase("points of a period have open, high and low prices", async (database) => {
  const history = createHistoryStore(database);
  const ticks = [0.4, 0.7, 0.2, 0.5].map((price, index) => ({ at: NOON - (50 - 10 * index) * MINUTE_MS, price }));
  await writeTicks(database, 1, ticks);
  await history.rollUp(NOON + MINUTE_MS);
  const { points } = await history.readHistory(1, { period: "48h", maxPoints: 48, now: NOON + HOUR_MS });
  assert.deepEqual(
    points.map(({ open, high, low, yesPrice }) => [open, high, low, yesPrice]),
    [
      [0.4, 0.7, 0.2, 0.5],
      [0.5, 0.5, 0.5, 0.5],
    ],
  );
});

eachDatabase("candles from venue history use only the price at the end of each fetched interval", async (database) => {
  const history = createHistoryStore(database);
  const points = [0.4, 0.9, 0.6].map((price, index) =>
    samplePoint(NOON - (3 - index) * HOUR_MS, NOON - (2 - index) * HOUR_MS, price),
  );
  await history.saveVenueHistory(1, HOUR_MS, points, { fromMs: NOON - 3 * HOUR_MS, toMs: NOON });
  const read = async (intervalMs: number, fromMs: number) => {
    const { points: candles } = await history.readRange(1, { fromMs, toMs: NOON, intervalMs });
    return candles.map(({ open, high, low, yesPrice }) => [open, high, low, yesPrice]);
  };
  assert.deepEqual(await read(HOUR_MS, NOON - 3 * HOUR_MS), [
    [0.4, 0.4, 0.4, 0.4],
    [0.9, 0.9, 0.9, 0.9],
    [0.6, 0.6, 0.6, 0.6],
  ]);
  assert.deepEqual(await read(DAY_MS, NOON - 12 * HOUR_MS), [[0.4, 0.9, 0.4, 0.6]]);
  const minutes = await read(MINUTE_MS, NOON - 2 * MINUTE_MS);
  assert.deepEqual(minutes, [
    [0.9, 0.9, 0.9, 0.9],
    [0.6, 0.6, 0.6, 0.6],
  ]);
});

eachDatabase("the volume of a minute is that of its trades, null without trades", async (database) => {
  const history = createHistoryStore(database);
  // The venue's total volume grows in the last minute. Part of the growth may belong to earlier minutes.
  await writeTicks(database, 1, [
    { at: NOON - 10 * MINUTE_MS, price: 0.5, volumeUsd: 100 },
    { at: NOON - 1_000, price: 0.5, volumeUsd: 150 },
  ]);
  const trade = (tradeId: string, executedAt: number, size: number) => ({
    marketKey: 1,
    trade: { tradeId, executedAt, yesPrice: 0.5, size, takerSide: null },
  });
  await createMarketStore(database).insertTrades([
    trade("a", NOON - 2 * MINUTE_MS, 10),
    trade("b", NOON - 2 * MINUTE_MS + 59_999, 4),
    trade("c", NOON, 100),
  ]);
  const range = { fromMs: NOON - 3 * MINUTE_MS, toMs: NOON, intervalMs: MINUTE_MS };
  const { points } = await history.readRange(1, range);
  assert.deepEqual(
    points.map(({ yesPrice, volumeUsd }) => [yesPrice, volumeUsd]),
    [
      [0.5, null],
      [0.5, 7],
      [0.5, null],
    ],
  );
});

eachDatabase(
  "a market that opened a minute ago has candles from its first price, and none before it",
  async (database) => {
    const history = createHistoryStore(database);
    await writeTicks(database, 1, [
      { at: NOON + 5_000, price: null },
      { at: NOON + 20_000, price: 0.3 },
      { at: NOON + 40_000, price: 0.4 },
    ]);
    for (const intervalMs of [MINUTE_MS, FIVE_MINUTES_MS, HOUR_MS, DAY_MS]) {
      const startAt = Math.floor(NOON / intervalMs) * intervalMs;
      const range = { fromMs: startAt - 2 * intervalMs, toMs: startAt + intervalMs, intervalMs };
      const { points } = await history.readRange(1, range);
      assert.deepEqual(
        points.map(({ startAt: at, open, high, low, yesPrice }) => [at - startAt, open, high, low, yesPrice]),
        [[0, 0.3, 0.4, 0.3, 0.4]],
        `${intervalMs} ms`,
      );
    }
  },
);

eachDatabase(
  "there are no candles for a market without ticks and bars, or for a range in the future",
  async (database) => {
    const history = createHistoryStore(database);
    await writeTicks(database, 2, [{ at: NOON, price: 0.5 }]);
    const future = { fromMs: NOON + DAY_MS, toMs: NOON + HOUR_MS, intervalMs: HOUR_MS };
    assert.deepEqual((await history.readRange(2, future)).points, []);
    for (const intervalMs of [MINUTE_MS, HOUR_MS]) {
      const range = { fromMs: NOON - 10 * intervalMs, toMs: NOON, intervalMs };
      assert.deepEqual((await history.readRange(1, range)).points, []);
    }
  },
);
