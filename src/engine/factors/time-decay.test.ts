import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AS_OF, createQuote, createView } from "../../../test/support/engine/market-views.ts";
import { DAY_MS } from "../../lib/durations.ts";
import { toProbability } from "../log-odds.ts";
import type { MarketView } from "../model.ts";
import { ENGINE_COEFFICIENTS } from "../model-data.ts";
import { computePrior } from "../reference-price.ts";
import { timeDecay } from "./time-decay.ts";

const weekAgo = (yesPrice: number) => [{ at: AS_OF - 7 * DAY_MS, yesPrice }];

function read(changes: Partial<MarketView>, price = 0.75) {
  const view = createView({
    quote: createQuote(price - 0.01, price + 0.01),
    deadlineAt: AS_OF + 7 * DAY_MS,
    ...changes,
  });
  const prior = computePrior(view, price, ENGINE_COEFFICIENTS);
  const reading = timeDecay.evaluate(view, prior, ENGINE_COEFFICIENTS);
  return reading === null ? null : toProbability(prior.logOdds + reading.lambda);
}

test("known value: with half of the time left, 75% decays to 50%", () => {
  assert.ok(Math.abs((read({ prices: weekAgo(0.75) }) ?? 0) - 0.5) < 1e-9);
});

test("law: the decayed probability is below the earlier price, and equal to it if no time has passed", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 300 }), (cents, days) => {
      const decayed = read({ prices: weekAgo(cents / 100), deadlineAt: AS_OF + days * DAY_MS }) ?? 1;
      assert.ok(decayed < cents / 100);
      assert.ok(Math.abs(1 - decayed - (1 - cents / 100) ** (days / (days + 7))) < 1e-9);
    }),
  );
});

test("the newest price that is at least a week old is used, else the oldest that is at least a day old", () => {
  const prices = [9, 8, 3].map((days) => ({ at: AS_OF - days * DAY_MS, yesPrice: days / 10 }));
  const [oldest, weekOld, recent] = prices;
  assert.equal(read({ prices }), read({ prices: weekOld === undefined ? [] : [weekOld] }));
  assert.notEqual(read({ prices }), read({ prices: oldest === undefined ? [] : [oldest] }));
  assert.notEqual(read({ prices: recent === undefined ? [] : [recent] }), null);
});

test("no reading without a deadline, without an old price, or in the last hours", () => {
  assert.equal(read({ prices: weekAgo(0.5), deadlineAt: null }), null);
  assert.equal(read({ prices: [{ at: AS_OF - DAY_MS / 2, yesPrice: 0.5 }] }), null);
  assert.equal(read({ prices: weekAgo(0.5), deadlineAt: AS_OF + DAY_MS / 8 }), null);
});
