import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { describeErrors } from "../../../../test/support/markets/market-api.ts";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { testServer, VALID_KEY } from "../../../../test/support/test-app.ts";
import { type BoardMarket, MarketBoard } from "../../../board/index.ts";
import type { OrderBook } from "../../../domain/order-book.ts";
import { bestSignalRoutes } from "./best-routes.ts";
import { type BestSignalsDependencies, createBestSignals } from "./best-signals.ts";

const VENUES = { trading: ["alpha", "beta"], all: ["alpha", "beta", "gamma"] };
const KEY = { authorization: `Bearer ${VALID_KEY}` };
const SIZING = { bankrollUsd: 1_000, kellyShare: 0.25, positionMax: 0.1 };

/** Opens the route. Each estimate is the price plus the market's edge, so it moves with the price. */
async function openApi(ports: Partial<BestSignalsDependencies> = {}) {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const { app } = await testServer();
  const edges = new Map<string, number>();
  const books = new Map<string, OrderBook>();
  let estimates = 0;
  const estimateOf = (market: BoardMarket): ReturnType<BestSignalsDependencies["estimateOf"]> => {
    estimates += 1;
    const edge = edges.get(market.listing.marketId);
    if (edge === undefined || market.yesPrice === null) return null;
    return {
      probability: market.yesPrice + edge,
      yesPrice: market.yesPrice,
      edge,
      standardError: 0.1,
      confidence: 0.8,
      recommendation: "NO_TRADE",
      freshness: "fresh",
      analysedAt: SAMPLE_AT - 1_000,
      at: market.updatedAt,
    };
  };
  /** Lists a market at 0.40 to 0.42 with 50 contracts on each side. */
  const addMarket = (marketId: string, edge: number | null, { listing, quote }: SampleParts = {}) => {
    const { market } = board.apply(
      sampleMarket(marketId, {
        listing: { takerFee: { kind: "none" }, title: `Question ${marketId}`, ...listing },
        quote: { bid: 0.4, ask: 0.42, bidSize: 50, askSize: 50, receivedAt: clock.now(), ...quote },
      }),
      clock.now(),
    );
    if (edge === null) return;
    edges.set(marketId, edge);
    board.setEdge(market, Math.abs(edge));
  };
  const findBest = createBestSignals(
    {
      board,
      venues: VENUES.trading,
      estimateOf,
      trackedBooksOf: async (markets) => markets.map(({ listing }) => books.get(listing.marketId) ?? null),
      isPlayMoney: () => false,
      clock,
      ...ports,
    },
    SIZING,
  );
  bestSignalRoutes(app, findBest, VENUES.trading);
  const ask = (query = "", headers: Record<string, string> = KEY) =>
    app.inject({ url: `/v1/signals/best${query}`, headers });
  const idsOf = async (query = "") =>
    ((await ask(query)).json() as { market_id: string }[]).map(({ market_id }) => market_id);
  return { clock, addMarket, books, edges, ask, idsOf, estimates: () => estimates };
}

test("200: lists the trades with an edge after all costs, the largest first", async () => {
  const { addMarket, ask, idsOf } = await openApi();
  addMarket("large", 0.2);
  addMarket("no", -0.15);
  addMarket("small", 0.005);
  addMarket("none", null);
  assert.deepEqual(await idsOf(), ["large", "no"]);
  const [first, second] = (await ask()).json();
  assert.deepEqual(first, {
    platform: "alpha",
    market_id: "large",
    title: "Question large",
    recommendation: "BUY_YES",
    target_price: 0.6,
    edge: 0.2,
    executable_edge: first.executable_edge,
    model_probability: first.model_probability,
    model_probability_at: new Date(SAMPLE_AT).toISOString(),
    yes_price: 0.41,
    confidence: 0.8,
    size_pct: 0.021,
    size_usd: 21,
    contracts: 50,
    average_cost: 0.42,
    capped_by: "depth",
    price_source: "quote",
    priced_at: new Date(SAMPLE_AT).toISOString(),
    freshness: "fresh",
    analyzed_at: new Date(SAMPLE_AT - 1_000).toISOString(),
  });
  assert.ok(Math.abs(first.executable_edge - (first.model_probability - first.average_cost)) < 1e-12);
  assert.ok(Math.abs(second.executable_edge - (1 - second.model_probability - second.average_cost)) < 1e-12);
  assert.equal(second.recommendation, "BUY_NO");
});

test("200: `min_edge` and `limit` restrict the list, and markets whose edge is too small are not computed", async () => {
  const { addMarket, idsOf, estimates } = await openApi();
  for (let index = 0; index < 30; index++) addMarket(`m${index}`, 0.1 + index / 100);
  assert.deepEqual(await idsOf("?limit=2"), ["m29", "m28"]);
  assert.ok(estimates() <= 4, `${estimates()} estimates`);
  assert.equal((await idsOf()).length, 20);
  assert.deepEqual(await idsOf("?min_edge=0.37"), ["m29", "m28"]);
  assert.deepEqual(await idsOf("?min_edge=1"), []);
});

test("200: price, estimate and size are computed from the same tracked book", async () => {
  const { addMarket, books, ask } = await openApi();
  addMarket("m", 0.2);
  const level = (price: number) => [{ price, size: 5_000 }];
  books.set("m", { bids: level(0.5), asks: level(0.52), lastPrice: null, eventAt: null, receivedAt: SAMPLE_AT });
  const [signal] = (await ask()).json();
  assert.deepEqual([signal.price_source, signal.yes_price, signal.average_cost], ["book", 0.51, 0.52]);
  assert.ok(Math.abs(signal.model_probability - 0.71) < 1e-9, "the estimate has moved with the price of the book");
  assert.deepEqual([signal.capped_by, signal.size_usd > 50], [null, true]);
});

test("200: an old price, an expired estimate, and a market without offers or a fee give no signal", async () => {
  const { addMarket, edges, clock, idsOf } = await openApi();
  addMarket("expired", 0.3);
  edges.delete("expired");
  addMarket("unsized", 0.3, { quote: { bidSize: null, askSize: null } });
  addMarket("fee", 0.3, { listing: { takerFee: null } });
  addMarket("paused", 0.3, { listing: { paused: true } });
  addMarket("m", 0.2);
  assert.deepEqual(await idsOf(), ["m"]);
  await clock.advance(300_001);
  assert.deepEqual(await idsOf(), []);
});

test("401 and 422: without a key, and for values outside their ranges", async () => {
  const { ask } = await openApi();
  assert.equal((await ask("", {})).statusCode, 401);
  const errorsOf = async (query: string) => {
    const response = await ask(query);
    assert.equal(response.statusCode, 422);
    return describeErrors(response);
  };
  assert.deepEqual(await errorsOf("?limit=0"), ["greater_than_equal at query.limit"]);
  assert.deepEqual(await errorsOf("?limit=101"), ["less_than_equal at query.limit"]);
  assert.deepEqual(await errorsOf("?min_edge=-0.1"), ["greater_than_equal at query.min_edge"]);
  assert.deepEqual(await errorsOf("?min_edge=1.1"), ["less_than_equal at query.min_edge"]);
});
