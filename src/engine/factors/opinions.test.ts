import assert from "node:assert/strict";
import { test } from "node:test";
import { AS_OF, createQuote, createView } from "../../../test/support/engine/market-views.ts";
import { HOUR_MS } from "../../lib/durations.ts";
import type { Factor, MarketView } from "../model.ts";
import { ENGINE_COEFFICIENTS } from "../model-data.ts";
import { computePrior } from "../reference-price.ts";
import { reportedConsensus } from "./reported-consensus.ts";
import { research } from "./research.ts";

function read(factor: Factor, changes: Partial<MarketView>) {
  const view = createView({ quote: createQuote(0.49, 0.51), ...changes });
  return factor.evaluate(view, computePrior(view, 0.5, ENGINE_COEFFICIENTS), ENGINE_COEFFICIENTS);
}

const LN_3 = Math.log(3);

test("reported consensus: lambda is the difference of the log-odds, and 20 agents give half of the confidence", () => {
  const consensus = { at: AS_OF, probability: 0.75, agents: 20, trades: 100 };
  const reading = read(reportedConsensus, { consensus });
  assert.ok(Math.abs((reading?.lambda ?? 0) - LN_3) < 1e-9);
  assert.equal(reading?.confidence, 0.5);
  assert.equal(reading?.claim, "The trades that 20 agents reported imply 75%.");
  assert.ok((read(reportedConsensus, { consensus: { ...consensus, agents: 60 } })?.confidence ?? 0) > 0.5);
});

test("reported consensus: without agents there is no reading", () => {
  assert.equal(read(reportedConsensus, {}), null);
  assert.equal(read(reportedConsensus, { consensus: { at: AS_OF, probability: 0.9, agents: 0, trades: 0 } }), null);
});

test("research: lambda is the difference of the log-odds, and the confidence halves in 48 hours", () => {
  const found = { at: AS_OF - 48 * HOUR_MS, probability: 0.75, standardError: 0.4, trials: 5, evidence: ["A source."] };
  const reading = read(research, { research: found });
  assert.ok(Math.abs((reading?.lambda ?? 0) - LN_3) < 1e-9);
  assert.equal(reading?.confidence, 0.5);
  assert.equal(reading?.standardError, 0.4);
  assert.deepEqual(reading?.evidence, ["A source."]);
  assert.equal(read(research, { research: { ...found, at: AS_OF } })?.confidence, 1);
  assert.equal(read(research, {}), null);
});
