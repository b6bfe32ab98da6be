import assert from "node:assert/strict";
import { test } from "node:test";
import { openWebsite } from "../../../../test/support/pages/website-harness.ts";
import { AppError } from "../../../domain/errors.ts";
import type { DayTotals, Performance } from "../../../trading/index.ts";
import type { Calibration, CalibrationScores } from "../../analysis/calibration/index.ts";
import type { ShownPerformance } from "./track-record-page.ts";

const EMPTY_SCORES: CalibrationScores = {
  sampleSize: 0,
  markets: 0,
  questions: 0,
  brierScore: null,
  marketBrierScore: null,
  brierSkillScore: null,
  logLoss: null,
  marketLogLoss: null,
  expectedCalibrationError: null,
};
const HORIZONS = ["under_24h", "1d_7d", "7d_30d", "30d_90d", "over_90d"] as const;
const EMPTY: Calibration = {
  mode: "shadow",
  period: "all",
  category: null,
  total: EMPTY_SCORES,
  brierDifference: null,
  bins: Array.from({ length: 10 }, (_, index) => ({
    lower: index / 10,
    upper: (index + 1) / 10,
    count: 0,
    meanPredicted: null,
    observedFrequency: null,
    low: null,
    high: null,
  })),
  byCategory: [],
  byHorizon: HORIZONS.map((horizon) => ({ horizon, ...EMPTY_SCORES })),
  generatedAt: Date.UTC(2026, 10, 23, 12),
};
const SCORES: CalibrationScores = {
  sampleSize: 1_234,
  markets: 567,
  questions: 345,
  brierScore: 0.1834,
  marketBrierScore: 0.1876,
  brierSkillScore: 0.0224,
  logLoss: 0.5421,
  marketLogLoss: 0.5533,
  expectedCalibrationError: 0.0312,
};

function sampleCalibration(parts: Partial<Calibration> = {}): Calibration {
  const filled = { count: 40, meanPredicted: 0.25, observedFrequency: 0.3, low: 0.2, high: 0.41 };
  return {
    ...EMPTY,
    total: SCORES,
    brierDifference: { value: -0.0042, low: -0.0061, high: -0.0023 },
    bins: EMPTY.bins.map((bin, index) => (index === 2 ? { ...bin, ...filled } : bin)),
    byCategory: [
      { category: "Sports", ...SCORES, sampleSize: 1_000 },
      { category: null, ...SCORES, sampleSize: 234 },
    ],
    ...parts,
  };
}

const day = (date: string, pnlUsd: number): DayTotals => ({
  date,
  pnlUsd,
  enteredTrades: 3,
  resolvedTrades: 2,
  wonTrades: 1,
});
const PERFORMANCE: Performance = {
  totalTrades: 1_140,
  resolvedTrades: 1_021,
  winRate: 0.523,
  totalPnlUsd: 61.2,
  roiPct: 1.83,
  averageEdge: 0.041,
  maxDrawdownUsd: -148.4,
  sharpeRatio: 0.84,
};

async function visit(calibration: Calibration | Error, performance: ShownPerformance | Error | null) {
  const orThrow = <Value>(value: Value | Error): Value => {
    if (value instanceof Error) throw value;
    return value;
  };
  const website = await openWebsite({
    readCalibration: async () => orThrow(calibration),
    readPerformance: async () => orThrow(performance),
  });
  return website.visit("/track-record");
}

test("200: the track record shows all scores beside those of the price", async () => {
  const { statusCode, body, headers } = await visit(sampleCalibration(), null);
  assert.equal(statusCode, 200);
  assert.equal(headers["cache-control"], "public, no-cache");
  assert.match(String(headers["content-security-policy"]), /default-src 'none'; style-src 'self'/);
  assert.doesNotMatch(body, /style="|<script/);
  for (const text of [
    '<strong>1,234</strong> <span class="small faint">of 567 settled markets, 345 independent questions',
    '<strong>0.1834</strong> <span class="small faint">price: 0.1876',
    '<strong>−0.0042</strong> <span class="small faint">95% interval −0.0061 to −0.0023',
    "<strong>2.2%</strong>",
    '<strong>0.5421</strong> <span class="small faint">price: 0.5533',
    "<strong>3.1%</strong>",
    "Nov 23, 2026, 12:00:00 UTC",
    "simulated",
  ])
    assert.ok(body.includes(text), text);
  assert.match(body, /<td role="cell">Sports<\/td><td role="cell">1,000<\/td>|Sports[\s\S]{0,40}1,000/);
  assert.match(body, />Unknown<[\s\S]{0,40}>234</);
  assert.match(body, />Under 24 hours<[\s\S]{0,40}>0</);
  assert.match(body, /<a href="\/track-record" aria-current="page">Track record<\/a>/);
});

test("200: the diagram has a title, one bar for each range with forecasts, and a table", async () => {
  const { body } = await visit(sampleCalibration(), null);
  assert.equal(body.match(/<g class="bin">/g)?.length, 1);
  assert.match(body, /<path d="M100 320V236"\/>\s*<circle cx="100" cy="280" r="5"\/>/);
  assert.match(
    body,
    /<title>Mean probability 25\.0%, observed 30\.0%, 95% interval 20\.0% to 41\.0%, 40 forecasts<\/title>/,
  );
  assert.match(body, /aria-label="Reliability diagram: in 1 of 1 ranges/);
  const row = />20–30%<[\s\S]{0,40}>40<[\s\S]{0,40}>25\.0%<[\s\S]{0,40}>30\.0%<[\s\S]{0,40}>20\.0%–41\.0%</;
  assert.match(body, row);
  assert.match(body, />90–100%<[\s\S]{0,40}>0<[\s\S]{0,40}>–</);
});

test("200: one sentence interprets the interval of the score difference", async () => {
  const judge = async (brierDifference: Calibration["brierDifference"]) =>
    (await visit(sampleCalibration({ brierDifference }), null)).body;
  assert.match(await judge({ value: -0.01, low: -0.02, high: -0.001 }), /were better than the price/);
  assert.match(await judge({ value: 0.01, low: 0.002, high: 0.02 }), /were worse than the price/);
  assert.match(await judge({ value: -0.01, low: -0.02, high: 0.001 }), /does not show whether/);
  assert.match(await judge({ value: -0.01, low: null, high: null }), /The sample cannot show/);
  // Rounded to four decimals, the bound would be 0.
  assert.match(
    await judge({ value: -0.01, low: -0.02, high: -0.00003 }),
    /−0\.0200 to −0\.00003[\s\S]*the whole interval is below 0/,
  );
  assert.match(await judge({ value: -0.01, low: -0.02, high: 0.00003 }), /to \+0\.00003[\s\S]*does not show whether/);
  assert.match(await judge({ value: -2e-17, low: -3e-17, high: -1e-17 }), /does not show whether/);
});

test("200: with 29 independent questions the page shows only counts; with 30 it also shows scores and profits", async () => {
  const days = [day("2026-10-30", 10), day("2026-10-31", -4)];
  const few = await visit(sampleCalibration({ total: { ...SCORES, sampleSize: 80, markets: 41, questions: 29 } }), {
    performance: PERFORMANCE,
    days,
    questions: 29,
  });
  assert.match(few.body, /80 forecasts of 41 settled markets: 29 independent questions\. Figures are shown from 30/);
  assert.match(few.body, /1,140 trades, 1,021 resolved: 29 independent questions\. Figures are shown from 30/);
  assert.doesNotMatch(few.body, /<svg|<table|<dl|\$|0\.18|better than the price:|\d%(?! scores)/);
  const enough = await visit(sampleCalibration({ total: { ...SCORES, questions: 30 } }), {
    performance: PERFORMANCE,
    days,
    questions: 30,
  });
  assert.match(enough.body, /0\.1834/);
  assert.match(enough.body, /\+\$61\.20/);
});

test("200: the page warns that the sample is small if it has fewer than 200 independent questions", async () => {
  const small = await visit(sampleCalibration({ total: { ...SCORES, questions: 199 } }), null);
  assert.match(small.body, /The sample has only 199 independent questions/);
  const large = await visit(sampleCalibration({ total: { ...SCORES, questions: 200 } }), null);
  assert.doesNotMatch(large.body, /The sample has only/);
});

test("200: without settled markets the page says so and draws nothing", async () => {
  const { body } = await visit(EMPTY, { performance: { ...PERFORMANCE, totalTrades: 0 }, days: [] });
  assert.match(body, /No market that we analysed has been settled yet/);
  assert.match(body, /No signal has been entered yet/);
  assert.doesNotMatch(body, /<svg|NaN|Infinity|null|undefined/);
});

test("200: the shadow book shows its performance, its chart and a table by month", async () => {
  const days = [day("2026-10-30", 10), day("2026-10-31", -4), day("2026-11-01", 2.5)];
  const { body } = await visit(EMPTY, { performance: PERFORMANCE, days, questions: 345 });
  for (const text of [
    "1,140",
    "1,021 resolved, 345 independent questions",
    "+$61.20",
    "1.8%",
    "52.3%",
    "4.1%",
    "−$148.40",
    "0.84",
  ])
    assert.ok(body.includes(text), text);
  const summary =
    "Cumulative profit from Oct 30, 2026 to Nov 1, 2026: +$8.50. Largest decline from an earlier maximum: −$4.00.";
  assert.ok(body.includes(`<title>${summary}</title>`));
  assert.match(body, />2026-11<[\s\S]{0,40}>\+\$2\.50<[\s\S]{0,40}>3<[\s\S]{0,40}>2<[\s\S]{0,40}>1</);
  assert.match(body, />2026-10<[\s\S]{0,40}>\+\$6\.00<[\s\S]{0,40}>6<[\s\S]{0,40}>4<[\s\S]{0,40}>2</);
  assert.doesNotMatch(body, /too few to tell/);
});

test("200: without 30 days, the Sharpe ratio is shown as a dash", async () => {
  const performance = { ...PERFORMANCE, sharpeRatio: null };
  const { body } = await visit(EMPTY, { performance, days: [day("2026-11-01", 0)], questions: 30 });
  assert.match(body, /<dt>Sharpe ratio<\/dt><dd><strong>–<\/strong> <span[^>]*>needs 30 days</);
  assert.match(body, /Only 30 independent questions are resolved/);
});

test("200: figures that cannot be read are shown as unavailable, and the others are shown", async () => {
  const away = new AppError("store_unavailable", "The store is unavailable.");
  const noCalibration = await visit(away, { performance: PERFORMANCE, days: [day("2026-11-01", 1)], questions: 200 });
  assert.equal(noCalibration.statusCode, 200);
  assert.match(noCalibration.body, /not available at the moment/);
  assert.match(noCalibration.body, /\+\$61\.20/);
  const noPerformance = await visit(sampleCalibration(), away);
  assert.match(noPerformance.body, /not available at the moment/);
  assert.match(noPerformance.body, /0\.1834/);
});

test("429: one address can read only 60 pages a minute", async () => {
  const website = await openWebsite({ readCalibration: async () => EMPTY });
  for (let count = 0; count < 60; count++)
    assert.equal((await website.visit("/track-record", { from: "198.51.100.7" })).statusCode, 200);
  assert.equal((await website.visit("/track-record", { from: "198.51.100.7" })).statusCode, 429);
});

test("the start page, the header and the footer link to the track record", async () => {
  const { body } = await (await openWebsite()).visit("/");
  assert.equal(body.match(/href="\/track-record"/g)?.length, 3);
});
