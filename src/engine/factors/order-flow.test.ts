import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../../test/support/asserts/assert-near.ts";
import { AS_OF, createQuote, createView } from "../../../test/support/engine/market-views.ts";
import { HOUR_MS } from "../../lib/durations.ts";
import type { BookView, EngineCoefficients, MarketView, TradePoint } from "../model.ts";
import { ENGINE_COEFFICIENTS } from "../model-data.ts";
import { computePrior, logOddsError } from "../reference-price.ts";
import { orderFlow } from "./order-flow.ts";

const COEFFICIENTS: EngineCoefficients = {
  ...ENGINE_COEFFICIENTS,
  orderFlow: { trades: 0.4, largeTrades: 0.1, book: 0.5 },
};
const PRICE = 0.5;
const HALF_SPREAD = logOddsError(PRICE, 0.04);

function read(changes: Partial<MarketView>) {
  const view = createView({ quote: createQuote(0.48, 0.52), ...changes });
  return orderFlow.evaluate(view, computePrior(view, PRICE, COEFFICIENTS), COEFFICIENTS);
}
const trades = (sides: readonly TradePoint["takerSide"][], at = AS_OF): TradePoint[] =>
  sides.map((takerSide) => ({ at, yesPrice: PRICE, size: 10, takerSide }));
const book = (bidSize: number, askSize: number, at = AS_OF): BookView => ({
  at,
  bids: [
    { price: 0.48, size: bidSize },
    { price: 0.1, size: 1e6 },
  ],
  asks: [{ price: 0.52, size: askSize }],
});

test("known value: three times as many bids as asks near the mid are an imbalance of one half", () => {
  const reading = read({ book: book(300, 100) });
  assertNear(reading?.lambda, 0.5 * HALF_SPREAD);
  assertNear(reading?.confidence, 0.5);
  assert.match(reading?.claim ?? "", /50% towards YES/);
});

test("closed form: trades, large trades and the book have their fitted shares", () => {
  const large: TradePoint = { at: AS_OF, yesPrice: PRICE, size: 60, takerSide: "no" };
  const reading = read({ trades: [...trades(["yes", "yes", "yes", "yes", "no"]), large], book: book(300, 100) });
  assertNear(reading?.lambda, (0.4 * ((40 - 70) / 110) + 0.1 * -1 + 0.5 * 0.5) * HALF_SPREAD);
  assertNear(reading?.confidence, 1);
});

test("law: swapping the sides changes the sign, and the reading stays within the spread", () => {
  const side = fc.constantFrom("yes" as const, "no" as const);
  fc.assert(
    fc.property(fc.array(side, { minLength: 5, maxLength: 30 }), (sides) => {
      const reading = read({ trades: trades(sides) });
      const swapped = read({ trades: trades(sides.map((item) => (item === "yes" ? "no" : "yes"))) });
      assertNear((reading?.lambda ?? 0) + (swapped?.lambda ?? 0), 0);
      assert.ok(Math.abs(reading?.lambda ?? 0) <= HALF_SPREAD + 1e-9);
    }),
  );
});

test("no reading for few, old or unsigned trades, an old book and a book with one side", () => {
  for (const changes of [
    { trades: trades(["yes", "yes"]) },
    { trades: trades(["yes", "yes", "yes", "yes", "yes"], AS_OF - 25 * HOUR_MS) },
    { trades: trades([null, null, null, null, null]) },
    { book: book(300, 100, AS_OF - 2 * HOUR_MS) },
    { book: { ...book(300, 100), asks: [] } },
  ])
    assert.equal(read(changes), null);
  assert.equal(read({ book: book(100, 100) }), null);
});
