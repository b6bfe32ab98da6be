import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { adviseExecution } from "./advice.ts";
import type { ExecutionFigures, ExecutionObstacle } from "./model.ts";

/** A market with a usual spread of two cents. */
const FIGURES: ExecutionFigures = {
  bid: 0.41,
  ask: 0.43,
  spread: 0.02,
  averageSpread: 0.021,
  spreadPercentile: 45,
  spreadTrend: "stable",
  liquidityScore: 70,
  slippagePercent: 0.4,
  limitPrice: 0.42,
  sizeUsd: 100,
  tick: 0.01,
  nextEvent: null,
};
const recommend = (parts: Partial<ExecutionFigures>, obstacle: ExecutionObstacle | null = null) =>
  adviseExecution({ ...FIGURES, ...parts }, obstacle, "active").recommendation;
const explain = (parts: Partial<ExecutionFigures>, obstacle: ExecutionObstacle | null = null) =>
  adviseExecution({ ...FIGURES, ...parts }, obstacle, "active").rationale;

test("recommends a limit order for a usual spread above one cent", () => {
  assert.equal(recommend({}), "LIMIT_ORDER");
  assert.equal(
    explain({ nextEvent: { label: "Trading closes", hours: 3.5 } }),
    "The spread is 0.02 (bid 0.41, ask 0.43). The mean of the last 48 h is 0.021; the current spread is at percentile 45 of it. " +
      "The trend is stable. A market order of $100 for YES or NO pays up to 0.4% more than the best price. " +
      "A limit order to buy YES at 0.42 avoids paying the spread. Next event: Trading closes in 3.5 h.",
  );
});

test("recommends a market order only for a spread of one cent or tick and a known slippage of at most 1%", () => {
  const tight = { spread: 0.01, ask: 0.42, slippagePercent: 1 };
  assert.equal(recommend(tight), "MARKET_ORDER");
  assert.equal(recommend({ ...tight, spread: 0.011 }), "LIMIT_ORDER");
  assert.equal(recommend({ ...tight, spread: 0.02, tick: 0.02 }), "MARKET_ORDER");
  assert.equal(recommend({ ...tight, tick: null }), "MARKET_ORDER");
  assert.equal(recommend({ ...tight, spread: 0.011, tick: null }), "LIMIT_ORDER");
  assert.equal(recommend({ ...tight, slippagePercent: 1.01 }), "LIMIT_ORDER");
  assert.equal(recommend({ ...tight, slippagePercent: null }), "LIMIT_ORDER");
  assert.match(explain({ slippagePercent: null }), /The book cannot fill an order of \$100 on both sides\./);
});

test("recommends waiting only if the spread is both rare and far above its mean", () => {
  const wide = { spread: 0.06, averageSpread: 0.04, spreadPercentile: 90 };
  assert.equal(recommend(wide), "WAIT");
  assert.equal(recommend({ ...wide, spreadPercentile: 89.9 }), "LIMIT_ORDER");
  assert.equal(recommend({ ...wide, averageSpread: 0.041 }), "LIMIT_ORDER");
  assert.equal(recommend({ ...wide, spreadPercentile: null }), "LIMIT_ORDER");
  assert.equal(recommend({ ...wide, averageSpread: null, spreadPercentile: null }), "LIMIT_ORDER");
  assert.match(explain(wide), /unusually wide/);
});

test("recommends waiting and states the reason if no order can be filled", () => {
  const unknown = { bid: null, ask: null, spread: null, slippagePercent: null, limitPrice: null };
  const reasons: Readonly<Record<ExecutionObstacle, RegExp>> = {
    not_open: /^The market is active and accepts no orders\.$/,
    paused: /currently accepts no orders/,
    no_book: /no order book/,
    no_bids: /no bids/,
    no_asks: /no asks/,
    empty_book: /is empty/,
    crossed_book: /inconsistent/,
  };
  for (const side of ["bid", "ask", "spread"]) assert.equal(recommend({ [side]: null }), "WAIT");
  for (const [obstacle, reason] of Object.entries(reasons)) {
    assert.equal(recommend(unknown, obstacle as ExecutionObstacle), "WAIT");
    assert.match(explain(unknown, obstacle as ExecutionObstacle), reason);
    assert.equal(recommend({}, obstacle as ExecutionObstacle), "WAIT");
  }
});

test("the rationale states which part of the spread history is missing, and omits an unknown trend", () => {
  assert.match(
    explain({ averageSpread: null, spreadPercentile: null, spreadTrend: null }),
    /No quote with both sides is stored for the last 48 h\./,
  );
  assert.match(explain({ spreadPercentile: null, spreadTrend: null }), /0\.021, from less than an hour of quotes\./);
  assert.match(explain({ slippagePercent: 0 }), /The best level of each side can fill an order of \$100\./);
  assert.match(explain({ limitPrice: null }), /A limit order avoids paying the spread\./);
  assert.doesNotMatch(explain({ spreadTrend: null }), /trend/);
});

test("every number in the rationale is a figure of the response", () => {
  const number = (max: number, digits: number) =>
    fc.integer({ min: 1, max: max * 10 ** digits }).map((value) => value / 10 ** digits);
  const figures: fc.Arbitrary<ExecutionFigures> = fc.record({
    bid: number(1, 2),
    ask: number(1, 2),
    spread: number(1, 2),
    averageSpread: fc.option(number(1, 6), { nil: null }),
    spreadPercentile: fc.option(number(100, 1), { nil: null }),
    spreadTrend: fc.constantFrom("tightening", "widening", "stable", null),
    liquidityScore: fc.option(number(100, 1), { nil: null }),
    slippagePercent: fc.option(number(50, 4), { nil: null }),
    limitPrice: fc.option(number(1, 2), { nil: null }),
    sizeUsd: number(1_000, 0),
    tick: fc.constantFrom(0.01, 0.001, null),
    nextEvent: fc.option(fc.record({ label: fc.constant("Trading closes"), hours: number(1_000, 2) }), { nil: null }),
  });
  fc.assert(
    fc.property(figures, (values) => {
      const known = new Set([...Object.values({ ...values, nextEvent: values.nextEvent?.hours }), 48].map(String));
      const { rationale } = adviseExecution(values, null, "active");
      for (const [text] of rationale.matchAll(/\d+(\.\d+)?(e-?\d+)?/g))
        assert.ok(known.has(text), `${text}: ${rationale}`);
    }),
  );
});
