import assert from "node:assert/strict";
import { test } from "node:test";
import { ENGINE_COEFFICIENTS, type EngineCoefficients } from "../../src/engine/index.ts";
import { HOUR_MS } from "../../src/lib/durations.ts";
import { fitLeadership, fitSlope, micropricePoints, slopeLowerBound } from "./fit/recording-slopes.ts";
import { createLaterPriceCases } from "./later-cases.ts";
import { findLaterPrice, scoreLaterPrices } from "./later-price.ts";
import type { DepthPoint, QuotesPoint } from "./rows.ts";

const START = Date.UTC(2026, 6, 4);

test("the later price is the first recorded price at or after the due time, within the tolerance", () => {
  const prices = [0, 1, 1.5, 25, 190].map((hours) => ({ at: hours * HOUR_MS, yesPrice: hours / 1_000 }));
  assert.equal(findLaterPrice(prices, 0, 1), 0.001);
  assert.equal(findLaterPrice(prices, 0, 24), 0.025);
  assert.equal(findLaterPrice(prices, 0, 168), 0.19);
  assert.equal(findLaterPrice(prices, 1.5 * HOUR_MS, 1), null);
  assert.equal(findLaterPrice([{ at: HOUR_MS, yesPrice: null }], 0, 1), null);
});

/** Prices of two venues over ten days. The follower's price on a day is the leader's price on the previous day. */
const QUOTES: QuotesPoint[] = ["A", "B", "C", "D"].flatMap((outcome, contract) =>
  Array.from({ length: 10 }, (_, day) => {
    const priceOn = (index: number) => 0.3 + 0.04 * ((index * (contract + 3)) % 7);
    const side = (venue: string, price: number) => ({ venue, bid: price - 0.001, ask: price + 0.001 });
    return {
      at: START + day * 24 * HOUR_MS,
      contest: `contest ${contract % 2}`,
      outcome,
      sides: [side("leader", priceOn(day)), side("follower", priceOn(day - 1 + 7))],
    };
  }),
);

test("if one venue follows another, the fitted share of the follower is high and predicts its later price", () => {
  const cases = [...createLaterPriceCases({ kind: "quotes", rows: QUOTES })];
  assert.equal(cases.length, 80);
  const { leadership, pairs } = fitLeadership(cases, ENGINE_COEFFICIENTS);
  const slopeOf = (venue: string) => pairs.find((pair) => pair.venue === venue)?.slope.value ?? Number.NaN;
  assert.ok(slopeOf("follower") > 0.8);
  assert.ok((leadership.follower?.leader ?? 0) > (leadership.leader?.follower ?? 0));
  const coefficients: EngineCoefficients = {
    ...ENGINE_COEFFICIENTS,
    leadership,
    weights: { ...ENGINE_COEFFICIENTS.weights, cross_venue: 1 },
  };
  const followers = cases.filter(({ view }) => view.venue === "follower");
  const { model, parts } = scoreLaterPrices(followers, () => coefficients);
  const day = model.find(({ hours }) => hours === 24);
  assert.ok(day?.ratio != null && day.ratio.value < 1);
  assert.ok(parts.has("cross_venue"));
});

test("fits a separate share for each peer of a venue", () => {
  const rename = (rows: readonly QuotesPoint[], peer: string) =>
    rows.map((row) => ({
      ...row,
      contest: `${row.contest} ${peer}`,
      sides: row.sides.map((side) => (side.venue === "leader" ? { ...side, venue: peer } : side)),
    }));
  const rows = [...rename(QUOTES, "first"), ...rename(QUOTES, "second")];
  const { leadership } = fitLeadership([...createLaterPriceCases({ kind: "quotes", rows })], ENGINE_COEFFICIENTS);
  assert.deepEqual(Object.keys(leadership.follower ?? {}), ["first", "second"]);
});

test("the view of a case contains no later prices, and a bid of 0 counts as no bid", () => {
  const [first, ...others] = createLaterPriceCases({ kind: "quotes", rows: QUOTES });
  assert.deepEqual(first?.view.prices.length, 1);
  assert.ok(others.every(({ view }) => view.prices.every(({ at }) => at <= view.asOf)));
  const rows = QUOTES.map((row) => ({ ...row, sides: row.sides.map((side) => ({ ...side, bid: 0 })) }));
  assert.deepEqual([...createLaterPriceCases({ kind: "quotes", rows })], []);
});

test("the fit recovers the microprice share from recorded order books", () => {
  const rows = Array.from({ length: 60 }, (_, market): DepthPoint[] => {
    const bidSize = 100 + 50 * (market % 7);
    const microprice = 0.4 + (0.04 * bidSize) / (bidSize + 200);
    const later = 0.42 + 0.5 * (microprice - 0.42);
    const book = { venue: "v", ticker: `E${market}-A` };
    return [
      { ...book, at: START, yes_bids: [[0.4, bidSize]], no_bids: [[0.56, 200]] },
      { ...book, at: START + HOUR_MS, yes_bids: [[later - 0.01, 1]], no_bids: [[1 - later - 0.01, 1]] },
    ];
  }).flat();
  const points = micropricePoints(createLaterPriceCases({ kind: "depth", rows }), 1, ENGINE_COEFFICIENTS);
  assert.ok(Math.abs(fitSlope(points).value - 0.5) < 1e-3);
  const lowerBound = slopeLowerBound(points);
  assert.ok(lowerBound > 0.2 && lowerBound <= 0.5, `${lowerBound}`);
});

test("the lower bound of the slope is 0 if the slope is negative or there are no points", () => {
  assert.equal(
    slopeLowerBound([
      { group: "a", x: 1, y: -1 },
      { group: "b", x: 1, y: -2 },
    ]),
    0,
  );
  assert.equal(slopeLowerBound([]), 0);
});
