import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isWhale, largestBurst, shareOfVolume, TradeSizeHistogram } from "./whale.ts";

const LIMITS = { minUsd: 5_000, percentile: 99.5, volumeShare: 0.1, shareMinUsd: 1_000 };
const sizesOf = (amounts: readonly number[]) => {
  const sizes = new TradeSizeHistogram();
  for (const amount of amounts) sizes.add(amount);
  return sizes;
};

test("known values: 5,000 is above 199 of 200 trades, which is the 99.5th percentile, and a quarter of 20,000", () => {
  const sizes = sizesOf([...Array.from({ length: 199 }, () => 100), 10_000]);
  assert.equal(sizes.count, 200);
  assert.equal(sizes.percentileOf(5_000), 99.5);
  assert.equal(shareOfVolume(5_000, 20_000), 0.25);
  assert.equal(shareOfVolume(5_000, 100), 1, "the volume does not contain the trade yet");
});

test("without trades the percentile is null, and an amount above all trades has percentile 100", () => {
  assert.equal(new TradeSizeHistogram().percentileOf(1), null);
  assert.equal(sizesOf([1, 2, 3]).percentileOf(10), 100);
  assert.equal(sizesOf([1, 2, 3]).percentileOf(0), 0);
  assert.equal(shareOfVolume(1, null), null);
});

test("a percentile equals that of a sorted list, except that trades within 2% below the amount may not count", () => {
  const amount = fc.double({ min: 0.02, max: 1e7, noNaN: true });
  fc.assert(
    fc.property(fc.array(amount, { minLength: 1, maxLength: 200 }), amount, (amounts, usd) => {
      const percentile = sizesOf(amounts).percentileOf(usd) ?? -1;
      const share = (limit: number) => (100 * amounts.filter((other) => other < limit).length) / amounts.length;
      assert.ok(percentile <= share(usd) + 1e-9 && percentile >= share(usd / 1.0201) - 1e-9);
    }),
  );
});

test("a trade is large by amount and percentile, or by share of the volume, each with its own minimum", () => {
  assert.ok(isWhale(5_000, 99.6, null, LIMITS));
  assert.ok(!isWhale(5_000, 99.5, null, LIMITS), "at the percentile is not above it");
  assert.ok(!isWhale(4_999, 100, 0.09, LIMITS));
  assert.ok(isWhale(1_000, null, 0.1, LIMITS));
  assert.ok(!isWhale(999, 100, 1, LIMITS));
  assert.ok(!isWhale(1e6, null, null, LIMITS), "unknown figures fulfil no rule");
});

const trade = (executedAt: number, usd: number) => ({ executedAt, usd });

test("known values: the largest burst has the largest sum in the window, ends included; the earliest of equal sums", () => {
  const trades = [trade(0, 5), trade(60_000, 1), trade(60_001, 5), trade(200_000, 6)];
  assert.deepEqual(largestBurst(trades, 60_000), trades.slice(0, 2));
  assert.deepEqual(largestBurst(trades, 60_001), trades.slice(0, 3));
  assert.deepEqual(largestBurst(trades.slice(1), 1), trades.slice(1, 3));
  assert.deepEqual(largestBurst(trades.slice(1), 0), trades.slice(3));
  assert.deepEqual(largestBurst([], 60_000), []);
});

test("brute force: no run of consecutive trades within the window has a larger sum than the largest burst", () => {
  const arbitraryTrades = fc
    .array(fc.record({ executedAt: fc.integer({ min: 0, max: 100 }), usd: fc.integer({ min: 1, max: 1_000 }) }), {
      maxLength: 30,
    })
    .map((trades) => trades.sort((a, b) => a.executedAt - b.executedAt));
  fc.assert(
    fc.property(arbitraryTrades, fc.integer({ min: 0, max: 100 }), (trades, windowMs) => {
      const sumOf = (run: readonly { readonly usd: number }[]) => run.reduce((sum, { usd }) => sum + usd, 0);
      const runs = trades.flatMap((_, from) =>
        trades.slice(from).map((_, count) => trades.slice(from, from + count + 1)),
      );
      const allowed = runs.filter((run) => (run.at(-1)?.executedAt ?? 0) - (run[0]?.executedAt ?? 0) <= windowMs);
      const burst = largestBurst(trades, windowMs);
      assert.equal(sumOf(burst), Math.max(0, ...allowed.map(sumOf)));
      assert.ok(trades.length === 0 || allowed.some((run) => run.length === burst.length && run[0] === burst[0]));
    }),
  );
});

test("refuses amounts that are negative or not finite", () => {
  for (const usd of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => new TradeSizeHistogram().add(usd), RangeError);
    assert.throws(() => new TradeSizeHistogram().percentileOf(usd), RangeError);
    assert.throws(() => shareOfVolume(usd, 1), RangeError);
  }
  assert.throws(() => shareOfVolume(1, -1), RangeError);
});
