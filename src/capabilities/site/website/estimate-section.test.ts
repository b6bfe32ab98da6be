import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_RESEARCH } from "../../../../test/support/analyses/no-research.ts";
import { unmoved } from "../../../../test/support/analyses/unmoved.ts";
import { createQuote, createView } from "../../../../test/support/engine/market-views.ts";
import { SAMPLE_AT, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { openWebsite } from "../../../../test/support/pages/website-harness.ts";
import { analyse, ENGINE_COEFFICIENTS } from "../../../engine/index.ts";
import type { StoredAnalysis } from "../../analysis/analyses/index.ts";

function createStored(claims: readonly string[]): StoredAnalysis {
  const analysis = analyse(createView({ quote: createQuote(0.4, 0.42) }), ENGINE_COEFFICIENTS);
  if (analysis === null) throw new Error("the view has a price");
  const factors = claims.map((claim, index) => ({
    claim,
    direction: "supports_yes" as const,
    evidence: [],
    weight: 1 / claims.length,
    confidence: 1,
    prior: 0.41 + index / 100,
    posterior: 0.42 + index / 100,
  }));
  return {
    analysisId: "plx-a",
    venue: "alpha",
    marketId: "m",
    type: "light",
    analysedAt: SAMPLE_AT,
    result: {
      title: "Question m",
      analysis: { ...analysis, probability: 0.43, interval: { low: 0.35, high: 0.52 }, factors },
      research: NO_RESEARCH,
      durationMs: 5,
    },
  };
}

test("a market page shows estimate, interval and one bar per factor, with texts escaped", async () => {
  const stored = createStored(["<script>alert(1)</script> moved it.", "Other venues moved it."]);
  const { board, visit } = await openWebsite({ readAnalysis: async () => unmoved(stored) });
  board.apply(sampleMarket("m"), SAMPLE_AT);
  const { body: text } = await visit("/markets/alpha/m");
  assert.match(text, /<h2 id="estimate-title">Our estimate<\/h2>/);
  assert.match(text, /<strong>43\.0%<\/strong> Yes/);
  assert.match(text, /80% interval 35\.0% to 52\.0%, price 41\.0%/);
  assert.equal(text.match(/class="bar up"/g)?.length, 2);
  assert.match(text, /&lt;script&gt;alert\(1\)&lt;\/script&gt; moved it\.<\/span> <strong>\+1\.0<\/strong>/);
  assert.ok(!text.includes("<script>alert(1)"));
});

test("without an estimate, the page says why, and how to request one if that is possible", async () => {
  const expired = async () => unmoved(createStored([]), "expired");
  const failing = () => Promise.reject(new Error("the store is unavailable"));
  const noPrice = { quote: { bid: null, ask: null, lastPrice: null } };
  const cases = [
    [async () => null, {}, /Nobody has analysed this market yet/, true],
    [expired, {}, /The last analysis, of Nov 21, 2026, 00:00:00 UTC, has expired/, true],
    [failing, {}, /The estimate is not available at the moment/, false],
    [async () => null, { listing: { status: "closed" } }, /Trading has ended/, false],
    [async () => null, noPrice, /The market has no price at present/, false],
  ] as const;
  for (const [readAnalysis, parts, reason, canAnalyse] of cases) {
    const { board, visit } = await openWebsite({ readAnalysis });
    board.apply(sampleMarket("m", parts), SAMPLE_AT);
    const { statusCode, body: text } = await visit("/markets/alpha/m");
    assert.equal(statusCode, 200);
    assert.match(text, reason);
    assert.equal(
      text.includes("curl -X POST &quot;http://127.0.0.1:8787/v1/markets/alpha/m/analyze&quot;"),
      canAnalyse,
    );
    assert.equal(text.includes('<a href="/account">Sign in</a>'), canAnalyse);
    assert.ok(!text.includes("80% interval"));
  }
});
