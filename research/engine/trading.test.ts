import assert from "node:assert/strict";
import { test } from "node:test";
import { ENGINE_COEFFICIENTS } from "../../src/engine/index.ts";
import { assertNear } from "../../test/support/asserts/assert-near.ts";
import { createRow, daysBefore } from "../../test/support/engine/sample-rows.ts";
import type { ResolvedRow } from "./rows.ts";
import { createSamples, estimateSamples } from "./samples.ts";
import { simulateTrading } from "./trading.ts";
import { toQuestionHistories } from "./views.ts";

/** A sample with a market price of 0.6 and the given model probability. */
function samplesOf(probability: number, changes: Partial<ResolvedRow> = {}) {
  const samples = createSamples(toQuestionHistories([createRow({ prices: [[daysBefore(0.5), 0.6]], ...changes })]));
  return estimateSamples(samples, ENGINE_COEFFICIENTS).map((sample) => ({ ...sample, probability }));
}

test("YES bought at 0.61 plus the assumed fee earns 1 minus its cost if right, and loses its cost if wrong", () => {
  const cost = 0.61 + 0.07 * 0.61 * 0.39;
  const won = simulateTrading(samplesOf(0.7));
  assert.equal(won.signals, 1);
  assertNear(won.cost, cost);
  assertNear(won.profit, 1 - cost);
  assertNear(simulateTrading(samplesOf(0.7, { outcome: 0 })).profit, -cost);
});

test("NO is bought at 1 minus the bid", () => {
  const cost = 0.41 + 0.07 * 0.41 * 0.59;
  assertNear(simulateTrading(samplesOf(0.4, { outcome: 0 })).profit, 1 - cost);
});

test("there is no signal for an edge below one cent after costs, nor for play money", () => {
  assert.equal(simulateTrading(samplesOf(0.63)).signals, 0);
  assert.deepEqual(simulateTrading(samplesOf(0.9, { venue: "manifold" })).offers, 0);
  assert.equal(simulateTrading([]).profitShare, null);
});
