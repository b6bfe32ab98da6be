import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { MarketBoard } from "../../../board/index.ts";
import type { MarketWideTrend } from "../../../storage/index.ts";
import { computeSentiment, type Sentiment } from "./sentiment.ts";

const NO_TREND: MarketWideTrend = { volumeUsd: null, volumeBeforeUsd: null, spread: null, spreadBefore: null };

/** Creates markets with a current price of 0.41. */
function computeSampleSentiment(
  markets: Readonly<Record<string, SampleParts & { readonly priceDayAgo?: number }>>,
  trend: MarketWideTrend = NO_TREND,
): Sentiment {
  const board = new MarketBoard(() => SAMPLE_AT);
  for (const [id, parts] of Object.entries(markets)) {
    const { market } = board.apply(sampleMarket(id, parts), SAMPLE_AT);
    if (parts.priceDayAgo !== undefined) board.annotate(market, { priceDayAgo: parts.priceDayAgo });
  }
  return computeSentiment(board.markets(), trend);
}

const partsWithVolume = (volume24hUsd: number | null): SampleParts => ({ activity: { volume24hUsd } });

test("the fear-greed index is the volume-weighted share of upward price changes", () => {
  // Up: 100 * 0.10 = 10. Down: 50 * 0.04 = 2. 100 * 10 / 12 = 83.3.
  const result = computeSampleSentiment({
    up: { ...partsWithVolume(100), priceDayAgo: 0.31 },
    down: { ...partsWithVolume(50), priceDayAgo: 0.45 },
  });
  assert.equal(result.fearGreedIndex, 83);
  assert.equal(result.marketRegime, "risk_on");
});

test("the regime is `risk_on` from 60, `risk_off` up to 40 and `neutral` in between", () => {
  const computeRegime = (up: number, down: number) => {
    const result = computeSampleSentiment({
      up: { ...partsWithVolume(up), priceDayAgo: 0.31 },
      down: { ...partsWithVolume(down), priceDayAgo: 0.51 },
    });
    return [result.fearGreedIndex, result.marketRegime];
  };
  assert.deepEqual(computeRegime(60, 40), [60, "risk_on"]);
  assert.deepEqual(computeRegime(59, 41), [59, "neutral"]);
  assert.deepEqual(computeRegime(41, 59), [41, "neutral"]);
  assert.deepEqual(computeRegime(40, 60), [40, "risk_off"]);
  assert.deepEqual(computeRegime(0, 1), [0, "risk_off"]);
});

test("if no price has changed, the index and the regime are null", () => {
  const result = computeSampleSentiment({
    unmoved: { ...partsWithVolume(9), priceDayAgo: 0.41 },
    unknown: partsWithVolume(5),
  });
  assert.deepEqual([result.fearGreedIndex, result.marketRegime, result.topMovers.length], [null, null, 0]);
});

test("a market with an unknown volume has no weight in the index but can be a top mover", () => {
  const result = computeSampleSentiment({ m: { priceDayAgo: 0.2 } });
  assert.deepEqual([result.fearGreedIndex, result.topMovers.length], [null, 1]);
});

test("the sentiment includes only active markets with a price", () => {
  const result = computeSampleSentiment({
    open: {},
    closed: { listing: { status: "closed" }, priceDayAgo: 0.1, ...partsWithVolume(5) },
    unpriced: { quote: { bid: null, ask: null, lastPrice: null } },
  });
  assert.deepEqual([result.activeMarketCount, result.fearGreedIndex], [1, null]);
});

test("the dominant category has the highest known volume; it is null if no volume is known", () => {
  const createParts = (category: string | null, volume24hUsd: number | null) => ({
    listing: { category },
    activity: { volume24hUsd },
  });
  const result = computeSampleSentiment({
    a: createParts("Sports", 4),
    b: createParts("Politics", 3),
    c: createParts("Politics", 2),
    d: createParts(null, 99),
  });
  assert.equal(result.dominantCategory, "Politics");
  assert.equal(
    computeSampleSentiment({ a: createParts("Sports", null), b: createParts("Politics", 0) }).dominantCategory,
    null,
  );
});

test("the top movers are the ten largest price changes in either direction; equal changes are sorted by id", () => {
  const markets = Object.fromEntries(
    Array.from({ length: 12 }, (_, number) => [`m${number}`, { priceDayAgo: 0.4 - number * 0.01 }]),
  );
  const result = computeSampleSentiment({ ...markets, z: { priceDayAgo: 0.91 }, y: { priceDayAgo: 0.91 } });
  const ids = result.topMovers.map(({ listing }) => listing.marketId);
  assert.deepEqual(ids, ["y", "z", "m11", "m10", "m9", "m8", "m7", "m6", "m5", "m4"]);
});

test("a trend requires a difference of more than 10% from yesterday", () => {
  const computeTrends = (currentValue: number | null, previousValue: number | null) => {
    const result = computeSampleSentiment(
      { m: { priceDayAgo: 0.4 } },
      { volumeUsd: currentValue, volumeBeforeUsd: previousValue, spread: currentValue, spreadBefore: previousValue },
    );
    return [result.volumeTrend, result.spreadTrend];
  };
  assert.deepEqual(computeTrends(111, 100), ["rising", "widening"]);
  assert.deepEqual(computeTrends(110, 100), ["stable", "stable"]);
  assert.deepEqual(computeTrends(90, 100), ["stable", "stable"]);
  assert.deepEqual(computeTrends(89, 100), ["falling", "tightening"]);
  assert.deepEqual(computeTrends(null, 100), [null, null]);
  assert.deepEqual(computeTrends(5, null), [null, null]);
  assert.deepEqual(computeTrends(5, 0), [null, null]);
});

test("until the prices of 24 hours ago are known for half of the markets, everything that needs history is null or empty", () => {
  const trend: MarketWideTrend = { volumeUsd: 9, volumeBeforeUsd: 1, spread: 9, spreadBefore: 1 };
  const known = { ...partsWithVolume(9), priceDayAgo: 0.31 };
  const few = computeSampleSentiment({ a: known, b: partsWithVolume(5), c: partsWithVolume(5) }, trend);
  assert.deepEqual(
    [few.fearGreedIndex, few.marketRegime, few.volumeTrend, few.spreadTrend, few.topMovers, few.activeMarketCount],
    [null, null, null, null, [], 3],
  );
  const half = computeSampleSentiment({ a: known, b: partsWithVolume(5) }, trend);
  assert.deepEqual(
    [half.fearGreedIndex, half.marketRegime, half.volumeTrend, half.spreadTrend, half.topMovers.length],
    [100, "risk_on", "rising", "widening", 1],
  );
});
