import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AS_OF, createQuote, createView } from "../../../test/support/engine/market-views.ts";
import { DAY_MS } from "../../lib/durations.ts";
import type { EngineCoefficients, MarketView } from "../model.ts";
import { ENGINE_COEFFICIENTS } from "../model-data.ts";
import { computePrior } from "../reference-price.ts";
import { calibration } from "./calibration.ts";

const COEFFICIENTS: EngineCoefficients = { ...ENGINE_COEFFICIENTS, tail: { from: 2, kinds: ["money"] } };

function read(price: number, changes: Partial<MarketView> = {}) {
  const view = createView({ quote: createQuote(price - 0.001, price + 0.001), ...changes });
  return calibration.evaluate(view, computePrior(view, price, COEFFICIENTS), COEFFICIENTS);
}

test("known value: a price of 95% exceeds log-odds of 2 by ln 19 - 2", () => {
  const reading = read(0.95);
  assert.ok(Math.abs((reading?.lambda ?? 0) - (Math.log(19) - 2)) < 1e-9);
  assert.equal(reading?.confidence, 1);
  assert.match(reading?.claim ?? "", /95% to YES/);
});

test("closed form: a day before the close, the confidence is one seventh", () => {
  assert.ok(Math.abs((read(0.95, { closeAt: AS_OF + DAY_MS })?.confidence ?? 0) - 1 / 7) < 1e-9);
});

test("law: the correction of NO mirrors that of YES, and neither points toward 50%", () => {
  fc.assert(
    fc.property(fc.integer({ min: 890, max: 998 }), (thousandths) => {
      const price = thousandths / 1_000;
      const [yes, no] = [read(price), read(1 - price)];
      assert.ok(yes !== null && no !== null && yes.lambda > 0);
      assert.ok(Math.abs(yes.lambda + no.lambda) < 1e-9);
    }),
  );
});

test("no reading for a price of 85%, for play money, and without a close in the future", () => {
  for (const reading of [
    read(0.85),
    read(0.95, { kind: "play_money" }),
    read(0.95, { closeAt: null }),
    read(0.95, { closeAt: AS_OF }),
  ])
    assert.equal(reading, null);
});
