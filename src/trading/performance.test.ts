import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { summarisePerformance, type TradeTotals } from "./index.ts";

const createTotals = (parts: Partial<TradeTotals> = {}): TradeTotals => ({
  totalTrades: 10,
  resolvedTrades: 4,
  wonTrades: 3,
  resolvedCostUsd: 200,
  resolvedPnlUsd: 30,
  averageEdge: 0.05,
  ...parts,
});
const createDays = (...profits: readonly number[]) => profits.map((pnlUsd) => ({ pnlUsd }));
const profit = fc.integer({ min: -1e9, max: 1e9 }).map((micros) => micros / 1e6);

test("known values: win rate, return, total profit and largest decline", () => {
  assert.deepEqual(summarisePerformance(createTotals(), createDays(5, -8, 2, 10, -1)), {
    totalTrades: 10,
    resolvedTrades: 4,
    winRate: 0.75,
    totalPnlUsd: 8,
    roiPct: 15,
    averageEdge: 0.05,
    maxDrawdownUsd: -8,
    sharpeRatio: null,
  });
});

test("without resolved trades the rates are null, and without days the profit and the drawdown are 0", () => {
  const totals = createTotals({ resolvedTrades: 0, wonTrades: 0, resolvedCostUsd: 0, resolvedPnlUsd: 0 });
  const days = createDays(...Array.from({ length: 40 }, (_, index) => index));
  const { winRate, roiPct, averageEdge, sharpeRatio } = summarisePerformance(totals, days);
  assert.deepEqual([winRate, roiPct, averageEdge, sharpeRatio], [null, null, null, null]);
  assert.deepEqual(
    [summarisePerformance(totals, []).totalPnlUsd, summarisePerformance(totals, []).maxDrawdownUsd],
    [0, 0],
  );
});

test("closed form: with profits of 1 and 3 in turn the Sharpe ratio is 2 / sqrt(n / (n - 1)) x sqrt(365)", () => {
  const days = createDays(...Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? 1 : 3)));
  const expected = (2 / Math.sqrt(30 / 29)) * Math.sqrt(365);
  assert.ok(Math.abs((summarisePerformance(createTotals(), days).sharpeRatio ?? 0) - expected) < 1e-9);
});

test("the Sharpe ratio is null below 30 days and without variation", () => {
  const varied = Array.from({ length: 29 }, (_, index) => index);
  assert.equal(summarisePerformance(createTotals(), createDays(...varied)).sharpeRatio, null);
  assert.notEqual(summarisePerformance(createTotals(), createDays(...varied, 29)).sharpeRatio, null);
  assert.equal(summarisePerformance(createTotals(), createDays(...Array(30).fill(0.1))).sharpeRatio, null);
});

test("a day that is not over counts for the profit and the drawdown, but not for the Sharpe ratio", () => {
  const ended = createDays(...Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? 1 : 3)));
  const days = [...ended, { pnlUsd: -50 }];
  const { totalPnlUsd, maxDrawdownUsd, sharpeRatio } = summarisePerformance(createTotals(), days, ended);
  assert.deepEqual([totalPnlUsd, maxDrawdownUsd], [10, -50]);
  assert.equal(sharpeRatio, summarisePerformance(createTotals(), ended).sharpeRatio);
  assert.equal(summarisePerformance(createTotals(), ended, ended.slice(0, -1)).sharpeRatio, null);
});

test("brute force: the drawdown is the smallest difference of a later and an earlier cumulative profit, at most 0", () => {
  fc.assert(
    fc.property(fc.array(profit, { maxLength: 30 }), (profits) => {
      const cumulative = [0];
      for (const value of profits) cumulative.push((cumulative.at(-1) ?? 0) + value);
      let expected = 0;
      for (const [from, before] of cumulative.entries())
        for (const after of cumulative.slice(from)) expected = Math.min(expected, after - before);
      assert.ok(
        Math.abs(summarisePerformance(createTotals(), createDays(...profits)).maxDrawdownUsd - expected) < 1e-4,
      );
    }),
  );
});

test("law: multiplying all profits by k multiplies the drawdown by k and keeps the Sharpe ratio", () => {
  fc.assert(
    fc.property(fc.array(profit, { minLength: 30, maxLength: 60 }), fc.integer({ min: 1, max: 9 }), (profits, k) => {
      const once = summarisePerformance(createTotals(), createDays(...profits));
      const often = summarisePerformance(createTotals(), createDays(...profits.map((value) => value * k)));
      assert.ok(Math.abs(often.maxDrawdownUsd - k * once.maxDrawdownUsd) < 1e-3);
      const ratio = once.sharpeRatio ?? 0;
      assert.ok(Math.abs((often.sharpeRatio ?? 0) - ratio) <= 1e-6 * Math.max(1, Math.abs(ratio)));
    }),
  );
});

test("throws a RangeError for contradictory counts, trades without a cost, and profits that are not finite", () => {
  const contradictions = [{ wonTrades: 5 }, { resolvedTrades: 11 }, { wonTrades: -1 }, { totalTrades: Number.NaN }];
  for (const parts of [...contradictions, { resolvedCostUsd: 0 }])
    assert.throws(() => summarisePerformance(createTotals(parts), []), RangeError);
  for (const value of [Number.NaN, Infinity])
    assert.throws(() => summarisePerformance(createTotals(), createDays(value)), RangeError);
});
