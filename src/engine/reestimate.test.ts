import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AS_OF, anyView, createQuote, createView } from "../../test/support/engine/market-views.ts";
import { HOUR_MS } from "../lib/durations.ts";
import {
  type Analysis,
  analyse,
  ENGINE_COEFFICIENTS,
  type EngineCoefficients,
  haveInputsMoved,
  type LogOddsChange,
  type MarketView,
  priceEstimate,
  reestimate,
  toLogOdds,
} from "./index.ts";

const assertNear = (actual: number, expected: number, message = "values differ") =>
  assert.ok(Math.abs(actual - expected) <= 1e-9, `${message}: ${actual} and ${expected}`);
const mid: EngineCoefficients = { ...ENGINE_COEFFICIENTS, micropriceShare: 0 };

const change: LogOddsChange = { name: "cross_venue", claim: "x", evidence: [], confidence: 1, change: Math.log(1.5) };
/** An analysis that multiplies the odds by 1.5. */
function createAnalysis(changes: readonly LogOddsChange[] = [change]): Analysis {
  const analysis = analyse(createView(), mid);
  assert.ok(analysis !== null);
  return { ...analysis, changes };
}
const later = (changes: Partial<MarketView> = {}) =>
  createView({ asOf: AS_OF + HOUR_MS, quote: createQuote(0.49, 0.51, AS_OF + HOUR_MS), ...changes });
const sumOf = (changes: readonly LogOddsChange[]) => changes.reduce((sum, each) => sum + each.change, 0);

test("known value: at a price of 0.50, odds times 1.5 are a probability of 0.60, regardless of the earlier price", () => {
  const moved = reestimate(createAnalysis(), later(), null, mid);
  assert.ok(moved !== null);
  assertNear(moved.probability, 0.6);
  assertNear(moved.marketPrice, 0.5);
  assertNear(moved.edge, 0.1);
  assert.equal(moved.asOf, AS_OF + HOUR_MS);
  assert.deepEqual(
    moved.factors.map(({ prior, weight }) => [prior, weight]),
    [[0.5, 1]],
  );
  assert.match(moved.summary, /The estimate is 60% for YES, \+10 points from the price of 50¢\./);
  assert.match(moved.edgeAssessment, /YES costs 51¢/);
});

test("an analysis at its own price and time does not change", () => {
  fc.assert(
    fc.property(anyView, (view) => {
      const analysis = analyse(view, ENGINE_COEFFICIENTS);
      assert.ok(analysis !== null);
      assert.deepEqual(reestimate(analysis, view, null, ENGINE_COEFFICIENTS), analysis);
    }),
    { numRuns: 200 },
  );
});

test("closed form: the log-odds differ from those of the prior by the sum of the changes, at every price", () => {
  fc.assert(
    fc.property(anyView, anyView, (before, now) => {
      const analysis = analyse(before, ENGINE_COEFFICIENTS);
      const own = analyse({ ...now, peers: [], event: null, book: null, trades: [] }, ENGINE_COEFFICIENTS);
      assert.ok(analysis !== null && own !== null);
      const moved = reestimate(analysis, now, null, ENGINE_COEFFICIENTS);
      assert.ok(moved !== null);
      const first = moved.factors[0]?.prior ?? Number.NaN;
      const isBounded = moved.probability <= 1e-4 || moved.probability >= 1 - 1e-4;
      if (!isBounded) assertNear(toLogOdds(moved.probability), toLogOdds(first) + sumOf(analysis.changes));
    }),
    { numRuns: 200 },
  );
});

test("the figures computed without text equal those of the full analysis", () => {
  fc.assert(
    fc.property(anyView, anyView, (before, now) => {
      const analysis = analyse(before, ENGINE_COEFFICIENTS);
      assert.ok(analysis !== null);
      const moved = reestimate(analysis, now, null, ENGINE_COEFFICIENTS);
      const priced = priceEstimate(now, { ...analysis, change: sumOf(analysis.changes) }, ENGINE_COEFFICIENTS);
      assert.ok(moved !== null && priced !== null);
      // Each step of the whole analysis is bounded to [0.0001, 0.9999]; their sum is bounded once.
      assertNear(priced.probability, moved.probability);
      assertNear(priced.marketPrice, moved.marketPrice);
      assertNear(priced.standardError, moved.standardError);
      assertNear(priced.confidence, moved.confidence);
      assertNear(priced.interval.low, moved.interval.low);
      assertNear(priced.interval.high, moved.interval.high);
    }),
    { numRuns: 200 },
  );
});

test("the recommendation is computed from the current bid and ask", () => {
  const buys = reestimate(createAnalysis(), later(), null, mid);
  assert.equal(buys?.recommendation, "BUY_YES");
  const wide = later({ quote: { ...createQuote(0.3, 0.7, AS_OF + HOUR_MS), lastPrice: 0.5 } });
  assert.equal(reestimate(createAnalysis(), wide, null, mid)?.recommendation, "NO_TRADE");
});

test("the summary says which edge a trade needs if the edge of the better side is smaller", () => {
  // Odds times 1.5 are 0.60 at the mid of 0.50, and YES costs 0.595 without a fee.
  const quote = { ...createQuote(0.405, 0.595, AS_OF + HOUR_MS), lastPrice: 0.5 };
  const view = later({ quote, takerFee: { kind: "flat_value", rate: 0 } });
  const { recommendation, summary } = reestimate(createAnalysis(), view, null, mid) ?? {};
  assert.equal(recommendation, "NO_TRADE");
  assert.match(
    summary ?? "",
    /No trade has the required edge of \+1 point after costs: the better one, YES at 59\.5¢ plus a fee of 0¢, has \+0\.5 points\./,
  );
});

test("the summary names no largest effect if no factor changes the price by 0.1 points", () => {
  const summaryOf = (size: number) =>
    reestimate(createAnalysis([{ ...change, change: size }]), later(), null, mid)?.summary ?? "";
  // At a price of 0.50, the probability changes by a quarter of the change of the log-odds.
  assert.match(summaryOf(0.0018), /\. No factor changes the price by 0\.1 points\. /);
  assert.match(summaryOf(-0.0022), /\. The largest effect, -0\.1 points: x /);
});

test("without a price there is no estimate", () => {
  const view = later({ quote: null });
  assert.equal(reestimate(createAnalysis(), view, null, mid), null);
  assert.equal(priceEstimate(view, { change: 0, changeError: 0, dailyMove: 0 }, mid), null);
});

test("known value: inputs have moved if the gap to peers or siblings changed by over half of the interval's width", () => {
  const earlier = { gaps: { peers: 0.1, siblings: 0 }, interval: { low: 0.4, high: 0.6 } };
  const reach = Math.log(1.5);
  assert.equal(haveInputsMoved(earlier, { peers: 0.1 + reach - 1e-6, siblings: 0 }), false);
  assert.equal(haveInputsMoved(earlier, { peers: 0.1 + reach + 1e-6, siblings: 0 }), true);
  assert.equal(haveInputsMoved(earlier, { peers: 0.1 - reach - 1e-6, siblings: 0 }), true);
  assert.equal(haveInputsMoved(earlier, { peers: 0.1, siblings: reach + 1e-6 }), true);
});

test("an analysis stores how far peers and siblings contradicted the price", () => {
  const peer = {
    venue: "venue_b",
    adapter: null,
    marketId: "P",
    isInverse: false,
    matchConfidence: 1,
    kind: "money" as const,
    at: AS_OF,
    yesPrice: 0.8,
    spread: 0,
    liquidityUsd: 1e6,
    volume24hUsd: 1e6,
  };
  const leg = (marketId: string, yesPrice: number) => ({
    marketId,
    label: marketId,
    at: AS_OF,
    yesPrice,
    spread: 0.01,
  });
  const event = { isExclusive: true, isExhaustive: false, ladder: null, legs: [leg("M", 0.5), leg("A", 0.7)] };
  const quote = createQuote(0.5 - 1e-9, 0.5 + 1e-9);
  const gaps = analyse(createView({ quote, peers: [peer], event }), mid)?.gaps;
  assert.ok(gaps !== undefined);
  assert.ok(Math.abs(gaps.peers - Math.log(4)) < 1e-6, `${gaps.peers}`);
  assert.ok(gaps.siblings < -0.3, "the prices sum to 1.2, so the consistent price is lower");
  assert.deepEqual(analyse(createView(), mid)?.gaps, { peers: 0, siblings: 0 });
});
