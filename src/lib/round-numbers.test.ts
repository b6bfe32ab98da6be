import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { roundNumbers } from "./round-numbers.ts";

test("prices, spreads and contracts lose their binary rounding errors", () => {
  assert.deepEqual(roundNumbers({ price: 0.1 + 0.2, net_spread: 1 - 0.9, legs: [{ contracts: 3 * 1.1 }] }), {
    price: 0.3,
    net_spread: 0.1,
    legs: [{ contracts: 3.3 }],
  });
});

test("amounts in USD have at most six decimals", () => {
  assert.deepEqual(roundNumbers({ cost_usd: 100 / 3, total_pnl: -2 / 3, liquidity: 1_000.1 + 234.46 }), {
    cost_usd: 33.333333,
    total_pnl: -0.666667,
    liquidity: 1234.56,
  });
  assert.deepEqual(roundNumbers({ flow: 100 / 3, max_drawdown: -1 / 3, net_exposure_change: 2 / 3 }), {
    flow: 33.333333,
    max_drawdown: -0.333333,
    net_exposure_change: 0.666667,
  });
});

test("probabilities, causal factors and scenarios are not rounded", () => {
  const exact = {
    probability: 0.1 + 0.2,
    model_probability: 1 / 3,
    causal: { factors: [{ weight: 1 / 3, prior: 0.1 + 0.2 }], confidence: 1 - 0.9 },
    scenarios: [{ conditional_probability: 0.1 + 0.2, share: 0.1 + 0.2 }],
  };
  assert.equal(roundNumbers(exact), exact);
});

test("rounding keeps sums within 1e-9, and a second rounding changes nothing", () => {
  fc.assert(
    fc.property(fc.double({ min: -2, max: 2, noNaN: true }), (edge) => {
      const once = roundNumbers({ edge });
      assert.ok(Math.abs(once.edge - edge) < 1e-9);
      assert.equal(roundNumbers(once), once);
    }),
  );
});

test("unchanged parts are shared, and values that are not plain objects are kept", () => {
  const bytes = Buffer.from("a");
  const rows = [{ price: 0.5 }];
  const body = { rows, bytes, none: null, price: 0.1 + 0.2 };
  const rounded = roundNumbers(body);
  assert.equal(rounded.rows, rows);
  assert.equal(rounded.bytes, bytes);
  assert.equal(body.price, 0.1 + 0.2, "the input is not modified");
});
