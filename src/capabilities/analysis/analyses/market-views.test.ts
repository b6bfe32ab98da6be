import assert from "node:assert/strict";
import { test } from "node:test";
import {
  SAMPLE_AT,
  type SampleParts,
  sampleChildren,
  sampleEvent,
  sampleMarket,
} from "../../../../test/support/markets/market-samples.ts";
import { type BoardMarket, MarketBoard } from "../../../board/index.ts";
import type { MatchedMarket } from "../../markets/matching/index.ts";
import { createMarketViews, type MarketViewPorts } from "./market-views.ts";

function setUp(ports: Partial<MarketViewPorts> = {}) {
  const board = new MarketBoard(() => SAMPLE_AT);
  const addMarket = (marketId: string, parts: SampleParts = {}): BoardMarket =>
    board.apply(sampleMarket(marketId, parts), SAMPLE_AT).market;
  const views = createMarketViews({
    board,
    traitsOf: (venue) => ({ adapter: `${venue}-adapter`, isPlayMoney: venue === "gamma" }),
    equalMarketsOf: () => [],
    pairsRevision: () => 0,
    trackedBookOf: async () => null,
    readPrices: async () => [],
    readTrades: async () => [],
    readConsensus: async () => null,
    ...ports,
  });
  return { board, addMarket, views };
}

test("stored prices and trades are read up to `asOf`, and only for markets in the store", async () => {
  const calls: unknown[] = [];
  const { board, addMarket, views } = setUp({
    async readPrices(...parameters) {
      calls.push(parameters);
      return [{ at: SAMPLE_AT - 1, yesPrice: 0.3 }];
    },
    async readTrades(...parameters) {
      calls.push(parameters);
      return [];
    },
  });
  const market = addMarket("m");
  assert.deepEqual((await views.viewOf(market, SAMPLE_AT)).prices, []);
  assert.deepEqual(calls, []);
  const view = await views.viewOf(board.annotate(market, { storeKey: 7 }), SAMPLE_AT + 5);
  assert.deepEqual(view.prices, [{ at: SAMPLE_AT - 1, yesPrice: 0.3 }]);
  assert.deepEqual(calls, [
    [7, SAMPLE_AT + 5],
    [7, SAMPLE_AT + 5],
  ]);
});

test("a quote with a time after `asOf` is part of the view, with the time `asOf`", async () => {
  const { addMarket, views } = setUp();
  const view = await views.viewOf(addMarket("m"), SAMPLE_AT - 1_000);
  assert.equal(view.quote?.at, SAMPLE_AT - 1_000);
  assert.equal(view.quote?.bid, 0.4);
});

test("the order book of a stream is part of the view, with a time of at most `asOf`", async () => {
  const book = { bids: [{ price: 0.4, size: 9 }], asks: [], lastPrice: null, eventAt: null, receivedAt: SAMPLE_AT + 5 };
  const { addMarket, views } = setUp({
    trackedBookOf: async ({ listing }) => (listing.marketId === "m" ? book : null),
  });
  const bookOf = async (id: string) => (await views.viewOf(addMarket(id), SAMPLE_AT)).book;
  assert.deepEqual(await bookOf("m"), { at: SAMPLE_AT, bids: book.bids, asks: [] });
  assert.equal(await bookOf("n"), null);
});

test("an event is exhaustive only if every market of it is open and has a price", async () => {
  const { board, addMarket, views } = setUp();
  board.applyEvent(sampleEvent("E", { mutuallyExclusive: true, exhaustive: true, children: sampleChildren(2) }));
  const market = addMarket("a", { listing: { eventId: "E", outcomeLabel: "Ann" } });
  addMarket("b", { listing: { eventId: "E" }, quote: { bid: null, ask: null, lastPrice: 0.6 } });
  const complete = (await views.viewOf(market, SAMPLE_AT)).event;
  assert.deepEqual(
    [
      complete?.isExclusive,
      complete?.isExhaustive,
      complete?.legs.map(({ label, yesPrice, spread }) => [label, yesPrice, spread && Math.round(100 * spread)]),
    ],
    [
      true,
      true,
      [
        ["Ann", 0.41, 2],
        ["Question b", 0.6, null],
      ],
    ],
  );
  addMarket("b", { listing: { eventId: "E", status: "closed" } });
  addMarket("c", { listing: { eventId: "E" } });
  const incomplete = (await views.viewOf(market, SAMPLE_AT)).event;
  assert.deepEqual([incomplete?.isExhaustive, incomplete?.legs.map(({ marketId }) => marketId)], [false, ["a", "c"]]);
});

test("a market with a one-sided quote is not a leg of another market's event, and the event is then not exhaustive", async () => {
  const { board, addMarket, views } = setUp();
  board.applyEvent(sampleEvent("e", { mutuallyExclusive: true, exhaustive: true, children: sampleChildren(3) }));
  const listing = { eventId: "e" };
  const market = addMarket("a", { listing });
  addMarket("b", { listing });
  const bound = addMarket("c", { listing, quote: { bid: null, ask: 0.99, lastPrice: 0.99 } });
  const readLegs = async (own: BoardMarket) => {
    const { event } = await views.viewOf(own, SAMPLE_AT);
    return [event?.legs.map(({ marketId }) => marketId).join(), event?.isExhaustive];
  };
  assert.deepEqual(await readLegs(market), ["a,b", false]);
  assert.deepEqual(await readLegs(bound), ["a,b,c", true]);
  addMarket("c", { listing, quote: { bid: null, ask: 0.02, lastPrice: 0.01 } });
  assert.deepEqual(await readLegs(market), ["a,b,c", true], "an ask of 0.02 without a bid is nearly a price");
});

test("a ladder is listed from the widest market to the narrowest", async () => {
  const { board, addMarket, views } = setUp();
  board.applyEvent(sampleEvent("E"));
  const listing = (threshold: number) => ({ eventId: "E", title: `Will the rate be above ${threshold}%?` });
  const market = addMarket("high", { listing: listing(5) });
  addMarket("low", { listing: listing(3) });
  addMarket("other", { listing: { eventId: "E", title: "Will the rate be cut?" } });
  assert.deepEqual((await views.viewOf(market, SAMPLE_AT)).event?.ladder, ["low", "high"]);
});

test("peers are only open markets with a price, and contain their adapter and kind of money", async () => {
  const { board, addMarket } = setUp();
  const equal = (market: BoardMarket, isPlayMoney: boolean): MatchedMarket => ({
    market,
    isInverse: true,
    isPlayMoney,
    confidence: 0.9,
  });
  const peer = addMarket("p", { listing: { venue: "gamma" } });
  const unpriced = addMarket("q", { listing: { venue: "beta" }, quote: { bid: null, ask: null, lastPrice: null } });
  const closed = addMarket("r", { listing: { venue: "beta", status: "closed" } });
  const { views } = setUp({ equalMarketsOf: () => [equal(unpriced, false), equal(closed, false), equal(peer, true)] });
  assert.deepEqual((await views.viewOf(addMarket("m"), SAMPLE_AT)).peers, [
    {
      venue: "gamma",
      adapter: "gamma-adapter",
      marketId: "p",
      isInverse: true,
      matchConfidence: 0.9,
      kind: "play_money",
      at: SAMPLE_AT,
      yesPrice: 0.41,
      spread: 0.42 - 0.4,
      liquidityUsd: null,
      volume24hUsd: null,
    },
  ]);
  assert.ok(board.size > 0);
});
