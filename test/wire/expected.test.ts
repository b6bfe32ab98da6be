import assert from "node:assert/strict";
import { test } from "node:test";
import { type Expected, type Facts, isMatching } from "./expectation.ts";
import { expectedLimitlessMarket } from "./expected/limitless-markets.ts";
import { expectedBins } from "./expected/manifold-data.ts";
import { expectedManifoldMarkets } from "./expected/manifold-markets.ts";
import { expectedPolymarketStream, marketsOfFrames } from "./expected/polymarket-stream.ts";
import { displayedPrice } from "./expected/price.ts";
import type { JsonObject } from "./json.ts";

const NOW = Date.UTC(2026, 10, 20, 12);
const HOUR_MS = 3_600_000;

function assertMatches(expected: Expected | undefined, facts: Facts): void {
  const named = Object.fromEntries(Object.entries(expected ?? {}).filter(([field]) => field in facts));
  assert.ok(Object.keys(named).length > 0 && isMatching(named, facts), JSON.stringify({ expected: named, facts }));
}

test("the displayed price is the mid, else the last trade within the quotes, else a market maker's probability", () => {
  const empty = { bid: null, ask: null };
  assert.equal(displayedPrice({ bid: 0.3, ask: 0.4, last: 0.9 }), 0.35);
  assert.equal(displayedPrice({ bid: 0.3, ask: 0.41, last: 0.35 }), 0.35);
  assert.equal(displayedPrice({ bid: 0.3, ask: 0.41, last: 0.45 }), 0.41);
  assert.equal(displayedPrice({ bid: 0.3, ask: null, last: 0.2 }), 0.3);
  assert.equal(displayedPrice({ ...empty, last: null, indicative: 0.6 }), 0.6);
  assert.equal(displayedPrice({ bid: 0.3, ask: 0.9, last: null }), null);
});

test("messages of a burst have the best prices that each of them states, and justify no second subscription", () => {
  const change = (price: string, size: string, side: string) => ({
    event_type: "price_change",
    market: "0xaa",
    timestamp: String(NOW),
    price_changes: [{ asset_id: "11", price, size, side, best_bid: "0.2", best_ask: "0.25" }],
  });
  const book = (bids: readonly string[], asks: readonly string[]) => ({
    event_type: "book",
    market: "0xaa",
    asset_id: "11",
    timestamp: String(NOW),
    bids: bids.map((price) => ({ price, size: "7" })),
    asks: asks.map((price) => ({ price, size: "9" })),
  });
  const frames = [
    book(["0.2", "0.25", "0.27"], ["0.4"]),
    change("0.25", "30", "SELL"),
    change("0.27", "0", "BUY"),
    change("0.25", "0", "BUY"),
    book(["0.2"], ["0.4", "0.25"]),
  ];
  const markets = marketsOfFrames(frames);
  const stream = expectedPolymarketStream(frames, markets, NOW);
  assert.equal(stream.resubscriptionsMax, 0);
  const [before, ...after] = stream.frames.map(({ quotes }) => quotes.get(markets[0]?.marketId ?? ""));
  assertMatches(before, { bid: 0.27, ask: 0.4, bid_size: 7 });
  assertMatches(after[0], { bid: 0.2, ask: 0.25, bid_size: 7, ask_size: 30 });
  for (const quote of after) assertMatches(quote, { bid: 0.2, ask: 0.25 });
});

test("if the stated best level was never sent, a second subscription is justified", () => {
  const frames: JsonObject[] = [
    {
      event_type: "book",
      market: "0xaa",
      asset_id: "11",
      timestamp: "1",
      bids: [{ price: "0.2", size: "7" }],
      asks: [],
    },
    {
      event_type: "price_change",
      market: "0xaa",
      timestamp: "2",
      price_changes: [{ asset_id: "11", price: "0.1", size: "3", side: "BUY", best_bid: "0.3", best_ask: "0.5" }],
    },
  ];
  assert.equal(expectedPolymarketStream(frames, marketsOfFrames(frames), NOW).resubscriptionsMax, 1);
});

test("placeholders and wide quotes of an untraded Limitless market give no price, narrow quotes do", () => {
  const row = (bid: number, ask: number) => ({
    slug: "rain",
    title: "Rain?",
    status: "FUNDED",
    tradeType: "clob",
    volume: "0",
    prices: [(bid + ask) / 2, 1 - (bid + ask) / 2],
    tradePrices: { sell: { market: [bid, 0.1] }, buy: { market: [ask, 0.1] } },
  });
  const detailsOf = (bid: number, ask: number) =>
    expectedLimitlessMarket({ row: row(bid, ask), group: null }, NOW).facts;
  assertMatches(detailsOf(0.001, 0.999), { bid: null, ask: null, yes_price: null });
  assertMatches(detailsOf(0.2, 0.9), { yes_price: null });
  assertMatches(detailsOf(0.31, 0.35), { bid: 0.31, ask: 0.35, yes_price: 0.33 });
});

test("a redemption of 0 shares moves the price of an answer in its history", () => {
  const bets = [
    { createdTime: NOW + 60_000, amount: 9, shares: 18, probBefore: 0.4, probAfter: 0.45 },
    { createdTime: NOW + HOUR_MS + 60_000, amount: 0, shares: 0, isRedemption: true, probBefore: 0.45, probAfter: 0.3 },
  ];
  const bins = expectedBins(bets, { fromMs: NOW, toMs: NOW + 2 * HOUR_MS, intervalMs: HOUR_MS });
  assert.equal(bins.length, 2);
  assertMatches(bins[0]?.facts, { yes_price: 0.45 });
  assertMatches(bins[1]?.facts, { yes_price: 0.3 });
});

test("a contract resolved to several answers pays each its share", () => {
  const contract = {
    id: "c",
    question: "Which?",
    outcomeType: "MULTIPLE_CHOICE",
    isResolved: true,
    resolution: "MKT",
    resolutions: { a: 25, b: 75 },
    answers: ["a", "b", "c"].map((id) => ({ id, text: `Answer ${id}` })),
  };
  const outcomes = expectedManifoldMarkets(contract, NOW).map(({ facts }) => facts);
  assertMatches(outcomes[0], { outcome: "partial 0.25" });
  assertMatches(outcomes[1], { outcome: "partial 0.75" });
  assertMatches(outcomes[2], { outcome: "no" });
});
