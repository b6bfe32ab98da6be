import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AS_OF, anyView, createQuote, createView } from "../../test/support/engine/market-views.ts";
import { DAY_MS } from "../lib/durations.ts";
import { FACTORS } from "./factors/index.ts";
import { analyse, ENGINE_COEFFICIENTS, type EngineCoefficients, estimate, type MarketView } from "./index.ts";
import { FACTOR_NAMES } from "./model.ts";

const EPSILON = 1e-9;
const assertNear = (actual: number, expected: number, message?: string) =>
  assert.ok(Math.abs(actual - expected) <= EPSILON, `${message ?? "values differ"}: ${actual} and ${expected}`);

/** Coefficients with which every factor has an effect. */
const ALL_FACTORS: EngineCoefficients = {
  ...ENGINE_COEFFICIENTS,
  tail: { from: 1, kinds: ["money", "play_money", "forecast"] },
  weights: {
    calibration: 0.1,
    cross_venue: 0.4,
    event_coherence: 0.5,
    momentum: -0.1,
    order_flow: 0.1,
    time_decay: 0.2,
    reported_consensus: 0.2,
    research: 0.3,
  },
  orderFlow: { trades: 0.4, largeTrades: 0.1, book: 0.5 },
  covariance: { calibration: { calibration: 0.01 } },
};

test("the shipped coefficients name every factor, and each factor is used once", () => {
  assert.deepEqual(Object.keys(ENGINE_COEFFICIENTS.weights), [...FACTOR_NAMES]);
  assert.deepEqual(
    FACTORS.map(({ name }) => name),
    FACTOR_NAMES.filter((name) => FACTORS.some((factor) => factor.name === name)),
  );
});

test("without a factor, the probability is the price", () => {
  const result = estimate(createView({ quote: { ...createQuote(0.4, 0.42), bidSize: null } }), ENGINE_COEFFICIENTS);
  assertNear(result?.probability ?? 0, 0.41);
  const analysis = analyse(createView(), ENGINE_COEFFICIENTS);
  assert.deepEqual(
    analysis?.factors.map(({ prior, posterior, weight }) => [prior === posterior, weight]),
    [[true, 1]],
  );
});

test("known value: one factor of weight 0.5 and log likelihood ratio ln 4 doubles the odds", () => {
  const factor = {
    name: "research" as const,
    evaluate: () => ({ claim: "x", evidence: [], lambda: Math.log(4), standardError: 0, confidence: 1 }),
  };
  const coefficients = { ...ALL_FACTORS, weights: { ...ALL_FACTORS.weights, research: 0.5 } };
  const result = estimate(createView({ quote: createQuote(0.49, 0.51) }), coefficients, [factor]);
  assertNear(result?.probability ?? 0, 2 / 3);
});

test("a log likelihood ratio beyond 3 counts as 3, in both directions", () => {
  for (const lambda of [3.5, 100, -3.5, Number.NEGATIVE_INFINITY]) {
    const evaluate = () => ({ claim: "x", evidence: [], lambda, standardError: 0, confidence: 1 });
    const coefficients = { ...ALL_FACTORS, weights: { ...ALL_FACTORS.weights, research: 1 } };
    const view = createView({ quote: createQuote(0.49, 0.51) });
    const result = estimate(view, coefficients, [{ name: "research", evaluate }]);
    assertNear(result?.logOdds ?? 0, 3 * Math.sign(lambda));
    assert.equal(result?.steps[0]?.change, 3 * Math.sign(lambda));
  }
});

test("each posterior is the next prior, the last one is the probability, and the weights sum to 1", () => {
  fc.assert(
    fc.property(anyView, (view) => {
      const analysis = analyse(view, ALL_FACTORS);
      assert.ok(analysis !== null);
      for (const [index, { prior, direction, posterior }] of analysis.factors.entries()) {
        if (index > 0) assertNear(prior, analysis.factors[index - 1]?.posterior ?? 0);
        if (prior !== posterior) assert.equal(direction, posterior > prior ? "supports_yes" : "supports_no");
      }
      assertNear(analysis.factors.at(-1)?.posterior ?? 0, analysis.probability);
      assertNear(
        analysis.factors.reduce((sum, { weight }) => sum + weight, 0),
        1,
      );
      assertNear(analysis.edge, analysis.probability - analysis.marketPrice);
      const { low, high } = analysis.interval;
      assert.ok(low <= analysis.probability && analysis.probability <= high);
      assert.ok(analysis.confidence >= 0 && analysis.confidence <= 1);
    }),
  );
});

test("the scenarios sum to 1 and satisfy the law of total probability", () => {
  fc.assert(
    fc.property(anyView, (view) => {
      const analysis = analyse(view, ALL_FACTORS);
      const scenarios = analysis?.scenarios ?? [];
      assertNear(
        scenarios.reduce((sum, { probability }) => sum + probability, 0),
        1,
      );
      assertNear(
        scenarios.reduce((sum, scenario) => sum + scenario.probability * scenario.conditionalProbability, 0),
        analysis?.probability ?? Number.NaN,
      );
      for (const { probability, conditionalProbability } of scenarios)
        assert.ok(probability >= 0 && probability <= 1 && conditionalProbability >= 0 && conditionalProbability <= 1);
    }),
  );
});

/** The view with data of the future in every part that has a time. */
function plantFuture(view: MarketView): MarketView {
  const at = AS_OF + 1;
  const yesPrice = 0.99;
  const trade = { at, yesPrice, size: 1e6, takerSide: "yes" as const };
  return {
    ...view,
    quote: view.quote ?? createQuote(0.98, 0.99, at),
    prices: [...view.prices, { at, yesPrice }],
    trades: [...view.trades, ...new Array(5).fill(trade)],
    book: view.book ?? { at, bids: [{ price: 0.98, size: 1e6 }], asks: [{ price: 0.99, size: 1 }] },
    activity: view.activity ?? { at, volume24hUsd: 1e9, liquidityUsd: 1e9 },
    peers: [
      ...view.peers,
      {
        venue: "venue_b",
        adapter: null,
        marketId: "F",
        isInverse: false,
        matchConfidence: 1,
        kind: "money" as const,
        at,
        yesPrice,
        spread: 0.001,
        liquidityUsd: 1e9,
        volume24hUsd: 1e9,
      },
    ],
    event:
      view.event === null
        ? null
        : { ...view.event, legs: [...view.event.legs, { marketId: "F", label: "F", at, yesPrice, spread: 0.001 }] },
    consensus: view.consensus ?? { at, probability: 0.99, agents: 1_000, trades: 1_000 },
    research: view.research ?? { at, probability: 0.99, standardError: 0.01, trials: 5, evidence: [] },
  };
}

test("no factor and no text uses what was observed after `asOf`", () => {
  fc.assert(
    fc.property(anyView, (view) => {
      assert.deepEqual(analyse(plantFuture(view), ALL_FACTORS), analyse(view, ALL_FACTORS));
    }),
  );
});

test("a market without any price has no analysis", () => {
  assert.equal(analyse(createView({ quote: null }), ENGINE_COEFFICIENTS), null);
});

test("the scenarios of a market that its event does not list are the bounds of its interval", () => {
  const legs = ["A", "B"].map((marketId) => ({ marketId, label: marketId, at: AS_OF, yesPrice: 0.3, spread: 0.02 }));
  const event = { isExclusive: true, isExhaustive: true, legs, ladder: null };
  const names = analyse(createView({ event }), ENGINE_COEFFICIENTS)?.scenarios.map(({ name }) => name);
  assert.deepEqual(names, ["News for YES", "News for NO"]);
});

test("a wider book, more uncertain weights and a price that moves more widen the interval", () => {
  const widthOf = (view: MarketView, coefficients = ENGINE_COEFFICIENTS) => {
    const interval = estimate(view, coefficients)?.interval ?? { low: 0, high: 0 };
    return interval.high - interval.low;
  };
  assert.ok(widthOf(createView({ quote: createQuote(0.35, 0.45) })) > widthOf(createView()));
  const extreme = createView({ quote: createQuote(0.94, 0.95) });
  const uncertain = { ...ENGINE_COEFFICIENTS, covariance: { calibration: { calibration: 1 } } };
  assert.ok(widthOf(extreme, uncertain) > widthOf(extreme));
  const pricesOf = (move: number) =>
    Array.from({ length: 8 }, (_, day) => ({ at: AS_OF - day * DAY_MS, yesPrice: 0.4 + (day % 2) * move }));
  const widthAt = (move: number) => widthOf(createView({ prices: pricesOf(move).reverse() }));
  assert.ok(widthAt(0.1) > widthAt(0.02));
});

test("a trade is recommended only if its edge after spread and fee is at least a cent", () => {
  const research = { at: AS_OF, probability: 0.9, standardError: 0.1, trials: 5, evidence: [] };
  const recommendationOf = (changes: Partial<MarketView>) => analyse(createView(changes), ALL_FACTORS)?.recommendation;
  assert.equal(recommendationOf({ research }), "BUY_YES");
  assert.equal(recommendationOf({ research: { ...research, probability: 0.01 } }), "BUY_NO");
  assert.equal(recommendationOf({}), "NO_TRADE");
  assert.equal(recommendationOf({ research, takerFee: { kind: "flat_value", rate: 0.9 } }), "NO_TRADE");
  assert.equal(recommendationOf({ research, takerFee: null }), "NO_TRADE");
  assert.equal(recommendationOf({ research, kind: "play_money" }), "NO_TRADE");
  assert.equal(recommendationOf({ research, quote: createQuote(0.4, 0.42, AS_OF - 3_600_001) }), "NO_TRADE");
  assert.equal(recommendationOf({ research, quote: { ...createQuote(0.1, 0.9), lastPrice: 0.5 } }), "NO_TRADE");
  assert.equal(recommendationOf({ research, quote: { ...createQuote(0.42, 0.4), lastPrice: 0.41 } }), "NO_TRADE");
});
