import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AS_OF, createQuote, createView } from "../../../test/support/engine/market-views.ts";
import { toProbability } from "../log-odds.ts";
import type { EventView } from "../model.ts";
import { ENGINE_COEFFICIENTS } from "../model-data.ts";
import { computePrior } from "../reference-price.ts";
import { eventCoherence } from "./event-coherence.ts";

const leg = (marketId: string, yesPrice: number, spread: number | null = 0.02) => ({
  marketId,
  label: marketId,
  at: AS_OF,
  yesPrice,
  spread,
});
const exclusive = (prices: readonly number[], isExhaustive = false): EventView => ({
  isExclusive: true,
  isExhaustive,
  ladder: null,
  legs: [leg("M", 0.41), ...prices.map((price, index) => leg(`${index}`, price))],
});

function read(event: EventView, ownPrice = 0.41) {
  const view = createView({ event, quote: createQuote(ownPrice - 0.01, ownPrice + 0.01) });
  const prior = computePrior(view, ownPrice, ENGINE_COEFFICIENTS);
  const reading = eventCoherence.evaluate(view, prior, ENGINE_COEFFICIENTS);
  return reading === null ? null : { ...reading, probability: toProbability(prior.logOdds + reading.lambda) };
}

test("known value: 0.5 and the square root of 0.75 are scaled to their squares, 0.25 and 0.75", () => {
  const reading = read(exclusive([Math.sqrt(0.75)]), 0.5);
  assert.ok(Math.abs((reading?.probability ?? 0) - 0.25) < 1e-9);
  assert.match(reading?.claim ?? "", /2 outcomes.* sum to 136.6%/);
});

test("outcomes that are not exhaustive are scaled down, never up", () => {
  assert.equal(read(exclusive([0.3])), null);
  assert.ok((read(exclusive([0.3], true))?.lambda ?? 0) > 0);
  assert.ok((read(exclusive([0.8]))?.lambda ?? 0) < 0);
});

test("a market that is not exclusive, or not part of the event, has no reading", () => {
  assert.equal(read({ ...exclusive([0.8]), isExclusive: false }), null);
  assert.equal(read({ ...exclusive([0.8]), legs: [leg("A", 0.8), leg("B", 0.8)] }), null);
});

test("law: a ladder moves the market toward the market that it contradicts, and a consistent ladder moves nothing", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 98 }), fc.integer({ min: 2, max: 98 }), (own, other) => {
      const event: EventView = {
        isExclusive: false,
        isExhaustive: false,
        ladder: ["A", "M"],
        legs: [leg("A", other / 100), leg("M", own / 100)],
      };
      const reading = read(event, own / 100);
      if (own <= other) assert.equal(reading, null);
      else assert.ok(reading !== null && reading.lambda < 0 && reading.probability >= other / 100 - 1e-9);
    }),
  );
});

test("wide spreads lower the confidence", () => {
  const wide = { ...exclusive([]), legs: [leg("M", 0.41, 0.1), leg("A", 0.8, null)] };
  assert.ok((read(wide)?.confidence ?? 1) < (read(exclusive([0.8]))?.confidence ?? 0));
});
