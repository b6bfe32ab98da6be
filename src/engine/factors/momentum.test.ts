import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AS_OF, createView } from "../../../test/support/engine/market-views.ts";
import { DAY_MS } from "../../lib/durations.ts";
import { toProbability } from "../log-odds.ts";
import { ENGINE_COEFFICIENTS } from "../model-data.ts";
import { computePrior } from "../reference-price.ts";
import { momentum } from "./momentum.ts";

/** Reads daily prices with these log-odds; the last one is the current price. */
function readDaily(logOdds: readonly number[]) {
  const prices = logOdds.map((value, index) => ({
    at: AS_OF - (logOdds.length - 1 - index) * DAY_MS,
    yesPrice: toProbability(value),
  }));
  const view = createView({ quote: null, prices });
  return momentum.evaluate(
    view,
    computePrior(view, prices.at(-1)?.yesPrice ?? 0.5, ENGINE_COEFFICIENTS),
    ENGINE_COEFFICIENTS,
  );
}

test("known value: equal daily steps up are one standard move in a day and the root of 7 in a week", () => {
  const reading = readDaily([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]);
  assert.ok(Math.abs((reading?.lambda ?? 0) - (0.1 * (1 + Math.sqrt(7))) / 2) < 1e-9);
  assert.equal(reading?.evidence.length, 2);
  assert.match(reading?.claim ?? "", /towards YES/);
});

test("closed form: a move counts at most three standard moves", () => {
  const steps = [0.001, -0.001, 0.001, -0.001, 0.001, -0.001, 0.001, -0.001, 0.001, -0.001, 1];
  const path = [0, ...steps].map((_, index) => steps.slice(0, index).reduce((sum, step) => sum + step, 0));
  const volatility = Math.sqrt(steps.reduce((sum, step) => sum + step ** 2, 0) / steps.length);
  assert.ok(Math.abs((readDaily(path)?.lambda ?? 0) - (volatility * (3 + 1 / (volatility * Math.sqrt(7)))) / 2) < 0.01);
});

test("law: the mirrored path has the opposite reading", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: -4, max: 4, noNaN: true }), { minLength: 9, maxLength: 40 }), (path) => {
      const [up, down] = [readDaily(path), readDaily(path.map((value) => -value))];
      assert.ok(Math.abs((up?.lambda ?? 0) + (down?.lambda ?? 0)) < 1e-6);
    }),
  );
});

test("no reading for few moves, and for a price that never moved", () => {
  assert.equal(readDaily([0, 1, 0, 1]), null);
  assert.equal(readDaily(new Array(20).fill(0.5)), null);
});
