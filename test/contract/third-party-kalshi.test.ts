/** Tests the sandbox with Kalshi's client library. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, test } from "node:test";
import kalshi from "kalshi-typescript";
import { kalshiEventTicker, kalshiExchange, kalshiTicker, kalshiTradeId } from "../../sandbox/protocol/kalshi/index.ts";
import { serveExchanges } from "../../sandbox/serve.ts";
import { createFeed, createWorld } from "../../sandbox/world/index.ts";
import type { ListedMarket } from "../../sandbox/world/types.ts";
import { HOUR_MS } from "../../src/lib/durations.ts";

const GENESIS = Date.UTC(2026, 10, 21);
const NOW = GENESIS + HOUR_MS + 1_234;

const world = createWorld({ seed: 7, genesis: GENESIS, speed: 60, marketCount: 150 });
const feed = createFeed(world, { now: () => NOW, intervalMs: 1_000 });
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const exchange = kalshiExchange(
  { world, feed, now: () => NOW, enforceLimits: false },
  {
    publicKeys: { "test-key": publicKey.export({ type: "spki", format: "pem" }).toString() },
    orderbookNeedsKey: true,
  },
);
const listedMarkets = world.markets("kalshi", NOW);
const isActive = (market: ListedMarket) => world.lifecycle(market, NOW).phase === "active";

let served: Awaited<ReturnType<typeof serveExchanges>>;
let basePath = "";

before(async () => {
  served = await serveExchanges(exchange, { host: "127.0.0.1", firstPort: 0 });
  basePath = served.urls.kalshi?.rest ?? "";
});

after(async () => {
  feed.close();
  await served.close();
});

const createMarketApi = () => new kalshi.MarketApi(new kalshi.Configuration({ basePath }));
const createSignedConfiguration = () =>
  new kalshi.Configuration({
    basePath,
    apiKey: "test-key",
    privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  });

/** Finds the active market with the highest volume, which has trades and a two-sided book. */
function findBusiestMarket(): ListedMarket {
  const busiest = listedMarkets
    .filter(isActive)
    .toSorted((a, b) => world.activity(b, NOW).volume24hUsd - world.activity(a, NOW).volume24hUsd)[0];
  assert.ok(busiest);
  return busiest;
}

test("kalshi-typescript lists exactly the world's open markets, page by page until the cursor is empty", async () => {
  const tickers: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 100; page++) {
    const { data } = await createMarketApi().getMarkets(20, cursor, ...Array(9).fill(undefined), "open");
    assert.ok(data.markets.length <= 20);
    tickers.push(...data.markets.map(({ ticker }) => ticker));
    cursor = data.cursor;
    if (cursor === "") break;
  }
  assert.equal(cursor, "");
  assert.deepEqual(tickers, listedMarkets.filter(isActive).map(kalshiTicker));
});

test("kalshi-typescript reads one market with the world's prices, volume and rules", async () => {
  const market = findBusiestMarket();
  const { data } = await createMarketApi().getMarket(kalshiTicker(market));
  const book = world.book(market, NOW);
  const activity = world.activity(market, NOW);
  assert.equal(data.market.event_ticker, kalshiEventTicker(market.event));
  assert.equal(data.market.status, "active");
  assert.equal(Number(data.market.yes_bid_dollars), book.bids[0]?.price ?? 0);
  assert.equal(Number(data.market.yes_ask_dollars), book.asks[0]?.price ?? 1);
  assert.equal(Number(data.market.yes_bid_size_fp), book.bids[0]?.size ?? 0);
  assert.equal(Number(data.market.last_price_dollars), book.lastPrice);
  assert.equal(Number(data.market.volume_24h_fp), activity.volume24hContracts);
  assert.equal(data.market.close_time, new Date(market.closeAt).toISOString());
  assert.ok(market.rules.startsWith(data.market.rules_primary));
});

test("401: kalshi-typescript cannot read a book without a key, and reads the world's book with a signed request", async () => {
  const market = findBusiestMarket();
  await assert.rejects(
    createMarketApi().getMarketOrderbook(kalshiTicker(market)),
    (error: { response?: { status?: number } }) => {
      return error.response?.status === 401;
    },
  );
  // The client adds its signer to the global HTTP library, so the requests after this line are signed.
  const { data } = await new kalshi.MarketApi(createSignedConfiguration()).getMarketOrderbook(kalshiTicker(market));
  const { bids, asks } = world.book(market, NOW);
  const toLevels = (side: readonly (readonly string[])[]) => side.map(([price, size]) => [Number(price), Number(size)]);
  assert.deepEqual(toLevels(data.orderbook_fp.yes_dollars), bids.map(({ price, size }) => [price, size]).reverse());
  assert.deepEqual(
    toLevels(data.orderbook_fp.no_dollars),
    asks.map(({ price, size }) => [Math.round((1 - price) * 1e6) / 1e6, size]).reverse(),
  );
  const batch = await new kalshi.MarketApi(createSignedConfiguration()).getMarketOrderbooks([kalshiTicker(market)]);
  assert.deepEqual(batch.data.orderbooks[0]?.orderbook_fp, data.orderbook_fp);
});

test("kalshi-typescript reads the world's trades, newest first", async () => {
  const market = findBusiestMarket();
  const expected = world.trades(market, NOW - 6 * 24 * HOUR_MS, NOW + 1).toReversed();
  const { data } = await createMarketApi().getTrades(25, undefined, kalshiTicker(market));
  assert.deepEqual(
    data.trades.map(({ created_time }) => Date.parse(created_time)),
    expected.slice(0, 25).map(({ at }) => at),
  );
  const byId = new Map(expected.map((trade) => [kalshiTradeId(trade), trade]));
  for (const row of data.trades) {
    const trade = byId.get(row.trade_id);
    assert.ok(trade);
    assert.equal(Date.parse(row.created_time), trade.at);
    assert.equal(Number(row.yes_price_dollars), trade.yesPrice);
    assert.equal(Number(row.count_fp), trade.size);
    assert.equal(row.taker_outcome_side, trade.takerSide);
  }
});

test("kalshi-typescript reads events with markets, series, candles, the historical tier and the exchange status", async () => {
  const market = findBusiestMarket();
  const configuration = new kalshi.Configuration({ basePath });
  const events = new kalshi.EventsApi(configuration);
  const { data } = await events.getEvent(kalshiEventTicker(market.event), true);
  assert.equal(data.event.title, market.event.title);
  assert.ok(data.event.markets?.some(({ ticker }) => ticker === kalshiTicker(market)));
  const series = await createMarketApi().getSeries(data.event.series_ticker);
  assert.equal(series.data.series.title, market.event.seriesTitle);
  const candles = await createMarketApi().getMarketCandlesticks(
    data.event.series_ticker,
    kalshiTicker(market),
    (GENESIS - 5 * HOUR_MS) / 1_000,
    GENESIS / 1_000,
    60,
  );
  const worldPoints = world.priceHistory(market, GENESIS - 5 * HOUR_MS - 1, GENESIS, HOUR_MS);
  assert.deepEqual(
    candles.data.candlesticks.map((candle) => [candle.end_period_ts * 1_000, Number(candle.yes_bid.close_dollars)]),
    worldPoints.map(({ at, bid }) => [at, bid ?? 0]),
  );
  const historical = new kalshi.HistoricalApi(configuration);
  const cutoff = Date.parse((await historical.getHistoricalCutoff()).data.market_settled_ts);
  const settled = await historical.getHistoricalMarkets(1_000);
  assert.deepEqual(
    settled.data.markets.map(({ ticker }) => ticker),
    listedMarkets.filter(({ finalizeAt }) => finalizeAt < cutoff).map(kalshiTicker),
  );
  const { data: status } = await new kalshi.ExchangeApi(configuration).getExchangeStatus();
  assert.equal(status.trading_active, true);
});
