import assert from "node:assert/strict";
import { test } from "node:test";
import { MINUTE_MS } from "../../src/lib/durations.ts";
import { priceAt, worldCandles } from "./candles.ts";
import { createWorld } from "./index.ts";
import { type ListedMarket, SANDBOX_VENUES } from "./types.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const NOW = GENESIS + 30 * MINUTE_MS;
const world = createWorld({ seed: 5, genesis: GENESIS, speed: 60, marketCount: 40 });
const openMarkets = SANDBOX_VENUES.flatMap((venue) => world.markets(venue, NOW)).filter(
  (market) => world.lifecycle(market, NOW).phase === "active",
);
const candlesOf = (market: ListedMarket, from: number, to = NOW, intervalMs = 5 * MINUTE_MS) =>
  worldCandles(world, market, { from, to, intervalMs });

test("every price during a candle is between the candle's low and high, or is the close of the previous candle", () => {
  let movingCount = 0;
  for (const market of openMarkets) {
    let previous = priceAt(world, market, GENESIS);
    for (const { startAt, endAt, open, high, low, close } of candlesOf(market, GENESIS)) {
      assert.equal(close, priceAt(world, market, endAt));
      assert.ok(low <= Math.min(open, close) && Math.max(open, close) <= high);
      if (low < high) movingCount += 1;
      for (let at = startAt + 1_000; at <= endAt; at += 1_000) {
        const price = priceAt(world, market, at);
        if (price === previous || price === null) continue;
        assert.ok(price >= low && price <= high, `${market.question} at ${at}: ${price}`);
      }
      previous = close;
    }
  }
  assert.ok(movingCount > openMarkets.length, `${movingCount} intervals have several prices`);
});

test("the trades of all intervals add up to the volume since the market opened", () => {
  for (const market of openMarkets.slice(0, 10)) {
    const candles = candlesOf(market, market.openAt - MINUTE_MS, NOW, 24 * 60 * MINUTE_MS);
    const contracts = candles.reduce((sum, { volumeContracts }) => sum + volumeContracts, 0);
    const count = candles.reduce((sum, { tradeCount }) => sum + tradeCount, 0);
    assert.ok(Math.abs(contracts - world.activity(market, NOW).volumeContracts) < 0.01, market.question);
    assert.equal(count, world.trades(market, market.openAt, NOW + 1).length);
  }
});

test("there are no candles before the market opens, and the last one ends at `to`", () => {
  const [market] = openMarkets;
  assert.ok(market !== undefined);
  assert.deepEqual(candlesOf(market, market.openAt - 60 * MINUTE_MS, market.openAt - 1), []);
  assert.deepEqual(
    candlesOf(market, NOW - 7 * MINUTE_MS).map(({ startAt, endAt }) => [NOW - startAt, NOW - endAt]),
    [
      [7 * MINUTE_MS, 2 * MINUTE_MS],
      [2 * MINUTE_MS, 0],
    ],
  );
});
