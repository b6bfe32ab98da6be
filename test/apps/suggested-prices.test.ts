import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type BoardMarket, MarketBoard } from "../../src/board/index.ts";
import { describePair, quotesOfBook } from "../../src/capabilities/markets/arbitrage/compare.ts";
import { presentCrossVenueList } from "../../src/capabilities/markets/arbitrage/present.ts";
import { guideSides } from "../../src/capabilities/markets/execution/sides.ts";
import { createRelatedMarkets } from "../../src/capabilities/markets/relations/index.ts";
import { advisePositions } from "../../src/capabilities/strategy/portfolio-signals/advise.ts";
import { presentPortfolioSignal } from "../../src/capabilities/strategy/portfolio-signals/present.ts";
import { describeHedge } from "../../src/capabilities/strategy/signals/hedge.ts";
import type { OrderBook } from "../../src/domain/order-book.ts";
import type { PriceRange } from "../../src/domain/order-rules.ts";
import { type Side, toMicros } from "../../src/domain/price.ts";
import type { MarketPair } from "../../src/matching/index.ts";
import { decideSignal, type SignalInput } from "../../src/trading/index.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { SAMPLE_AT, sampleMarket } from "../support/markets/market-samples.ts";

const GRIDS: readonly (readonly PriceRange[])[] = [
  [{ from: 0, to: 1, step: 0.01 }],
  [
    { from: 0, to: 0.1, step: 0.001 },
    { from: 0.1, to: 0.9, step: 0.01 },
    { from: 0.9, to: 1, step: 0.001 },
  ],
  [{ from: 0, to: 1, step: 0.0001 }],
];
const NO_FEE = { kind: "none" } as const;
const SIZING = { bankrollUsd: 1_000, kellyShare: 0.25, positionMax: 0.1 };
const PAIR: MarketPair = {
  a: "alpha/m",
  b: "beta/m",
  relation: "identical",
  confidence: 0.95,
  source: "model",
  evidence: [],
};

/** A NO price is on the grid if the YES price of the same trade is. */
function isOnGrid(ranges: readonly PriceRange[], side: Side, price: number): boolean {
  const micros = side === "yes" ? toMicros(price) : 1_000_000 - toMicros(price);
  return (
    price > 0 &&
    price < 1 &&
    Math.abs(price - toMicros(price) / 1e6) < 1e-12 &&
    ranges.some(
      ({ from, to, step }) =>
        micros >= toMicros(from) && micros <= toMicros(to) && (micros - toMicros(from)) % toMicros(step) === 0,
    )
  );
}

function assertOnGrid(ranges: readonly PriceRange[], side: Side, price: number | null, what: string): void {
  if (price !== null) assert.ok(isOnGrid(ranges, side, price), `${what}: ${price} of ${side} on ${ranges[0]?.step}`);
}

/** All prices of a grid that orders can have, in micros. */
const pricesOf = (ranges: readonly PriceRange[]): number[] =>
  ranges.flatMap(({ from, to, step }) => {
    const count = Math.round((to - from) / step);
    return Array.from({ length: count }, (_, index) => toMicros(from) + (index + 1) * toMicros(step));
  });
const LISTS = GRIDS.map((ranges) => pricesOf(ranges).filter((micros) => micros < 1_000_000));

/** Prices of a book with two levels on each side: 0 < bid below the best < bid < ask < ask above the best < 1. */
type Prices = readonly [lowBid: number, bid: number, ask: number, highAsk: number];
const sorted = (values: readonly number[]): Prices => {
  const [a = 0, b = 0, c = 0, d = 0] = values.toSorted((x, y) => x - y).map((micros) => micros / 1e6);
  return [a, b, c, d];
};
const grid = fc.nat(GRIDS.length - 1);
/** Quotes that do not have to be on the grid: a venue can change its grid before we read its new one. */
const anyPrices = fc.uniqueArray(fc.integer({ min: 1, max: 999_999 }), { minLength: 4, maxLength: 4 }).map(sorted);
const quotedOn = (index: number) =>
  fc.uniqueArray(fc.constantFrom(...(LISTS[index] ?? [])), { minLength: 4, maxLength: 4 }).map(sorted);
/** A grid and quotes, either on it or anywhere. */
const quotes = grid.chain((index) =>
  fc.tuple(
    fc.constant(GRIDS[index] ?? []),
    fc.oneof(
      quotedOn(index).map((prices) => ({ prices, isQuotedOnGrid: true })),
      anyPrices.map((prices) => ({ prices, isQuotedOnGrid: false })),
    ),
  ),
);
const probability = fc.double({ min: 0.001, max: 0.999, noNaN: true });
const side = fc.constantFrom<Side>("yes", "no");

const bookOf = ([lowBid, bid, ask, highAsk]: Prices): OrderBook => ({
  bids: [
    { price: bid, size: 40 },
    { price: lowBid, size: 500 },
  ],
  asks: [
    { price: ask, size: 40 },
    { price: highAsk, size: 500 },
  ],
  lastPrice: null,
  eventAt: null,
  receivedAt: SAMPLE_AT,
});

function addMarket(board: MarketBoard, venue: string, ranges: readonly PriceRange[], [, bid, ask]: Prices) {
  const listing = { venue, priceRanges: ranges, takerFee: NO_FEE };
  const quote = { bid, ask, bidSize: 40, askSize: 40 };
  return board.apply(sampleMarket("m", { listing, quote, activity: { volume24hUsd: 9_000 } }), SAMPLE_AT).market;
}

function signalOf(ranges: readonly PriceRange[], prices: Prices, p: number) {
  const input: SignalInput = {
    now: SAMPLE_AT,
    analysis: { probability: p, standardError: 0.1, dailyMove: 0.3, confidence: 0.8, riskRating: "low" },
    market: {
      kind: "money",
      isOpen: true,
      closeAt: null,
      resolutionAt: null,
      priceRanges: ranges,
      takerFee: { kind: "quadratic", rate: 0.07, exponent: 1 },
      minOrderContracts: 500,
      contractStep: 1,
    },
    yesPrice: (prices[1] + prices[2]) / 2,
    book: { at: SAMPLE_AT, ...bookOf(prices) },
  };
  return decideSignal(input, SIZING);
}

test("the target price of a signal is on the grid, as a field and in the reason", () => {
  fc.assert(
    fc.property(quotes, probability, ([ranges, { prices }], p) => {
      const { recommendation, targetPrice, reason } = signalOf(ranges, prices, p);
      assertOnGrid(ranges, recommendation === "BUY_NO" ? "no" : "yes", targetPrice, "target_price");
      const [, cents] = /are offered at ([\d.]+)¢ or less/.exec(reason) ?? [];
      if (cents === undefined) return;
      const isYes = p > (prices[1] + prices[2]) / 2;
      assertOnGrid(ranges, isYes ? "yes" : "no", Number(cents) / 100, reason);
    }),
    { numRuns: 500 },
  );
});

test("the price in the text of a hedge is on the grid of its market and at least the best offer, for YES and for NO", () => {
  fc.assert(
    fc.property(quotes, side, ([ranges, { prices, isQuotedOnGrid }], own) => {
      const market = addMarket(new MarketBoard(() => SAMPLE_AT), "beta", ranges, prices);
      const recommendation = own === "yes" ? "BUY_YES" : "BUY_NO";
      const text = describeHedge(
        { recommendation, probability: 0.5 },
        [{ market, dependence: "same", correlation: null }],
        () => 0.5,
      );
      const [, name, cents] = /^Buy (YES|NO) .* at ([\d.]+)¢: /.exec(text ?? "") ?? [];
      if (text === null) return assert.equal(isQuotedOnGrid, false);
      const hedged: Side = name === "YES" ? "yes" : "no";
      assert.notEqual(hedged, own);
      const [price, offer] = [Number(cents) / 100, hedged === "yes" ? prices[2] : 1 - prices[1]];
      assertOnGrid(ranges, hedged, Math.round(price * 1e6) / 1e6, text);
      assert.ok(isQuotedOnGrid ? Math.abs(price - offer) < 1e-9 : price >= offer - 1e-9, text);
    }),
    { numRuns: 500 },
  );
});

/** Advises on a position on alpha, with the same question on beta. */
async function advise(alpha: BoardMarket, beta: BoardMarket, book: OrderBook, own: Side, p: number) {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => SAMPLE_AT);
  board.apply({ listing: alpha.listing, quote: alpha.quote, activity: alpha.activity }, SAMPLE_AT);
  board.apply({ listing: beta.listing, quote: beta.quote, activity: beta.activity }, SAMPLE_AT);
  const pairsOf = () => [PAIR];
  const correlatePairs = async () => [];
  const position = { venue: "alpha", marketId: "m", side: own, sizeUsd: 60, entryPrice: 0.6 };
  const advised = await advisePositions(
    {
      board,
      pairsOf,
      relatedMarkets: createRelatedMarkets({ board, pairsOf, correlatePairs, venues: ["alpha", "beta"], clock }),
      probabilityOf: () => p,
      trackedBooksOf: async (markets) => markets.map(({ listing }) => (listing.venue === "alpha" ? book : null)),
      clock,
    },
    [position],
    [alpha],
    SIZING,
  );
  return advised[0];
}

test("the sale price and the hedge price of position advice are each on the grid of their market", async () => {
  let hedges = 0;
  await fc.assert(
    fc.asyncProperty(quotes, quotes, side, probability, async (first, second, own, p) => {
      const board = new MarketBoard(() => SAMPLE_AT);
      const [[ranges, { prices }], [otherRanges, { prices: otherPrices }]] = [first, second];
      const [alpha, beta] = [
        addMarket(board, "alpha", ranges, prices),
        addMarket(board, "beta", otherRanges, otherPrices),
      ];
      const advice = await advise(alpha, beta, bookOf(prices), own, p);
      assertOnGrid(ranges, own, advice?.exit?.limit_price ?? null, "exit");
      if (advice?.hedge === null || advice === undefined) return;
      hedges += 1;
      assertOnGrid(otherRanges, advice.hedge.side, advice.hedge.limit_price, "hedge");
      assert.ok(Number.isInteger(advice.hedge.contracts), "contracts are on the step");
    }),
    { numRuns: 300 },
  );
  assert.ok(hedges > 20, `${hedges} hedges`);
});

test("the price of a hedge that a portfolio signal recommends is on the grid of its market", () => {
  fc.assert(
    fc.property(quotes, side, ([ranges, { prices }], own) => {
      const market = addMarket(new MarketBoard(() => SAMPLE_AT), "beta", ranges, prices);
      const { hedge_recommendations } = presentPortfolioSignal({
        market,
        analysisId: "plx-1",
        signal: signalOf(ranges, prices, 0.5),
        size: {
          share: 0,
          limit: "no_trade",
          cost: null,
          fill: null,
          correlations: [],
          concentrationDelta: 0,
          expectedShortfallUsd: 0,
          hedges: [{ index: 0, stakeUsd: 10, reductionUsd: 5 }],
          droppedConstraints: 0,
        },
        positions: [],
        hedges: [{ market, side: own }],
        sizing: SIZING,
      });
      assertOnGrid(ranges, own, hedge_recommendations[0]?.limit_price ?? null, "hedge_recommendations");
    }),
  );
});

test("the limit prices of the four sides of an execution are on the grid", () => {
  const trend = fc.constantFrom("tightening" as const, "stable" as const, "widening" as const, null);
  fc.assert(
    fc.property(quotes, trend, ([ranges, { prices, isQuotedOnGrid }], spreadTrend) => {
      const rules = { priceRanges: ranges, takerFee: NO_FEE, minOrderContracts: null, contractStep: null };
      const sides = guideSides(bookOf(prices), rules, { sizeUsd: 30, trend: spreadTrend });
      assert.ok(sides !== null);
      for (const [name, { limit_price, worst_price }] of Object.entries(sides)) {
        const traded: Side = name.endsWith("yes") ? "yes" : "no";
        assertOnGrid(ranges, traded, limit_price, name);
        if (isQuotedOnGrid) assertOnGrid(ranges, traded, worst_price, `${name} worst`);
      }
    }),
    { numRuns: 500 },
  );
});

test("the prices of the legs of an arbitrage are those of the books, and on the grid of their market", () => {
  const books = grid.chain((index) => fc.tuple(fc.constant(GRIDS[index] ?? []), quotedOn(index)));
  fc.assert(
    fc.property(books, books, ([ranges, prices], [otherRanges, otherPrices]) => {
      const board = new MarketBoard(() => SAMPLE_AT);
      const [alpha, beta] = [
        addMarket(board, "alpha", ranges, prices),
        addMarket(board, "beta", otherRanges, otherPrices),
      ];
      const opportunity = describePair(
        PAIR,
        quotesOfBook(alpha, bookOf(prices)),
        quotesOfBook(beta, bookOf(otherPrices)),
        SAMPLE_AT,
      );
      if (opportunity === null) return;
      const list = { opportunities: [opportunity], venues: {}, scannedAt: SAMPLE_AT };
      const [presented] = presentCrossVenueList(list, { hasScoring: true, isLive: false }).opportunities;
      const legs = presented !== undefined && "legs" in presented ? (presented.legs ?? []) : [];
      assert.equal(legs.length, 2);
      for (const { platform, side: bought, levels } of legs)
        for (const { price } of levels) assertOnGrid(platform === "alpha" ? ranges : otherRanges, bought, price, "leg");
    }),
  );
});
