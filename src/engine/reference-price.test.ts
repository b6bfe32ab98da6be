import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../test/support/asserts/assert-near.ts";
import { AS_OF, createQuote, createView } from "../../test/support/engine/market-views.ts";
import { HOUR_MS } from "../lib/durations.ts";
import type { QuotePoint } from "./model.ts";
import { computePrior, currentPrice, isBound, logOddsError } from "./reference-price.ts";

function read(quote: QuotePoint | null, micropriceShare = 0.15) {
  const view = createView({ quote, prices: [{ at: AS_OF, yesPrice: 0.3 }] });
  return computePrior(view, currentPrice(view) ?? Number.NaN, { micropriceShare });
}

test("known value: with bids of three times the size, the microprice is a quarter of the spread above the mid", () => {
  const quote = { ...createQuote(0.4, 0.44), bidSize: 300, askSize: 100 };
  assertNear(read(quote, 1).probability, 0.43);
  assertNear(read(quote, 0.15).probability, 0.4215);
});

test("closed form: the log-odds error is half of the spread divided by the slope of the logistic curve, at most 1", () => {
  assertNear(logOddsError(0.5, 0.1), 0.2);
  assertNear(logOddsError(0.5, null), 0.2);
  assert.equal(logOddsError(0.001, 0.1), 1);
  assert.equal(logOddsError(0.5, 0), 0);
});

test("law: the prior stays between bid and ask, and mirrors for the NO contract", () => {
  const size = fc.integer({ min: 1, max: 10_000 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 89 }), fc.integer({ min: 1, max: 10 }), size, size, (cents, width, b, a) => {
      const [bid, ask] = [cents / 100, (cents + width) / 100];
      const yes = read({ ...createQuote(bid, ask), bidSize: b, askSize: a }).probability;
      const no = read({ ...createQuote(1 - ask, 1 - bid), bidSize: a, askSize: b }).probability;
      assert.ok(yes >= bid - 1e-9 && yes <= ask + 1e-9);
      assertNear(yes + no, 1);
    }),
  );
});

test("a thin market at most halves the confidence; from $1,000,000 of liquidity or volume nothing is subtracted", () => {
  const confidenceOf = (liquidityUsd: number | null, volume24hUsd: number | null) => {
    const view = createView({ activity: { at: AS_OF, liquidityUsd, volume24hUsd } });
    return computePrior(view, 0.41, { micropriceShare: 0 }).confidence;
  };
  const full = confidenceOf(1e6, null);
  assertNear(confidenceOf(null, 1e7), full);
  assertNear(confidenceOf(null, null), full / 2);
  assertNear(confidenceOf(0, 0), full / 2);
  assertNear(confidenceOf(999, 5), 0.75 * full);
});

test("without sizes or with one side, the price is kept; wide and old books only lower the confidence", () => {
  assertNear(read({ ...createQuote(0.4, 0.44), bidSize: null }).probability, 0.42);
  assertNear(read(createQuote(0.4, null)).probability, 0.3);
  assertNear(read(null).probability, 0.3);
  const confidenceOf = (bid: number, ask: number, at = AS_OF) => read(createQuote(bid, ask, at)).confidence;
  assert.ok(confidenceOf(0.4, 0.48) < confidenceOf(0.4, 0.42));
  assert.ok(confidenceOf(0.4, 0.42, AS_OF - 12 * HOUR_MS) < confidenceOf(0.4, 0.42));
});

test("a one-sided quote is a bound if it leaves more than 0.10 of the probability open", () => {
  assert.equal(isBound({ bid: null, ask: 0.02 }), false);
  assert.equal(isBound({ bid: 0.97, ask: null }), false);
  assert.equal(isBound({ bid: null, ask: 0.99 }), true);
  assert.equal(isBound({ bid: 0.5, ask: null }), true);
  assert.equal(isBound({ bid: 0.2, ask: 0.8 }), false, "a wide quote has a price");
  assert.equal(isBound({ bid: null, ask: null }), false);
});
