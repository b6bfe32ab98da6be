/** Kalshi's own published client against the sandbox: a stranger's program must not notice the difference. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, test } from "node:test";
import kalshi from "kalshi-typescript";
import { kalshiEventTicker, kalshiExchange, kalshiTicker, kalshiTradeId } from "../../sandbox/protocol/kalshi/index.ts";
import { serveExchanges } from "../../sandbox/serve.ts";
import { createFeed, createWorld } from "../../sandbox/world/index.ts";
import type { ListedMarket } from "../../sandbox/world/types.ts";

const HOUR_MS = 3_600_000;
const GENESIS = Date.UTC(2026, 10, 21);
const NOW = GENESIS + HOUR_MS + 1_234;

const world = createWorld({ seed: 7, genesis: GENESIS, speed: 60, marketCount: 150 });
const feed = createFeed(world, { now: () => NOW, intervalMs: 1_000 });
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const exchange = kalshiExchange(
  { world, feed, now: () => NOW, enforceLimits: false },
  {
    publicKeys: { "stranger-key": publicKey.export({ type: "spki", format: "pem" }).toString() },
    orderbookNeedsKey: true,
  },
);
const listed = world.markets("kalshi", NOW);
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

const markets = () => new kalshi.MarketApi(new kalshi.Configuration({ basePath }));
const signed = () =>
  new kalshi.Configuration({
    basePath,
    apiKey: "stranger-key",
    privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  });

/** The liveliest active market: it has trades and both sides. */
function liveliest(): ListedMarket {
  const found = listed
    .filter(isActive)
    .toSorted((a, b) => world.activity(b, NOW).volume24hUsd - world.activity(a, NOW).volume24hUsd)[0];
  assert.ok(found);
  return found;
}

test("the client lists exactly the world's open markets, page by page until the empty cursor", async () => {
  const tickers: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 100; page++) {
    const { data } = await markets().getMarkets(20, cursor, ...Array(9).fill(undefined), "open");
    tickers.push(...data.markets.map(({ ticker }) => ticker));
    cursor = data.cursor;
    if (cursor === "") break;
  }
  assert.equal(cursor, "");
  assert.deepEqual(tickers, listed.filter(isActive).map(kalshiTicker));
});

test("the client reads one market with the world's prices, volume and rules", async () => {
  const market = liveliest();
  const { data } = await markets().getMarket(kalshiTicker(market));
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

test("401: the client without a key is refused the book; signing its request it reads the world's", async () => {
  const market = liveliest();
  await assert.rejects(
    markets().getMarketOrderbook(kalshiTicker(market)),
    (error: { response?: { status?: number } }) => {
      return error.response?.status === 401;
    },
  );
  // The client adds its signer to the shared HTTP library, so that everything after this line is signed.
  const { data } = await new kalshi.MarketApi(signed()).getMarketOrderbook(kalshiTicker(market));
  const { bids, asks } = world.book(market, NOW);
  const levels = (side: readonly (readonly string[])[]) => side.map(([price, size]) => [Number(price), Number(size)]);
  assert.deepEqual(levels(data.orderbook_fp.yes_dollars), bids.map(({ price, size }) => [price, size]).reverse());
  assert.deepEqual(
    levels(data.orderbook_fp.no_dollars),
    asks.map(({ price, size }) => [Math.round((1 - price) * 1e6) / 1e6, size]).reverse(),
  );
  const batch = await new kalshi.MarketApi(signed()).getMarketOrderbooks([kalshiTicker(market)]);
  assert.deepEqual(batch.data.orderbooks[0]?.orderbook_fp, data.orderbook_fp);
});

test("the client reads the tape, newest first, equal to the world's trades", async () => {
  const market = liveliest();
  const truth = world.trades(market, NOW - 6 * 24 * HOUR_MS, NOW + 1).toReversed();
  const { data } = await markets().getTrades(25, undefined, kalshiTicker(market));
  assert.deepEqual(
    data.trades.map(({ created_time }) => Date.parse(created_time)),
    truth.slice(0, 25).map(({ at }) => at),
  );
  const byId = new Map(truth.map((trade) => [kalshiTradeId(trade.id), trade]));
  for (const told of data.trades) {
    const trade = byId.get(told.trade_id);
    assert.ok(trade);
    assert.equal(Date.parse(told.created_time), trade.at);
    assert.equal(Number(told.yes_price_dollars), trade.yesPrice);
    assert.equal(Number(told.count_fp), trade.size);
    assert.equal(told.taker_outcome_side, trade.takerSide);
  }
});

test("the client reads events with their markets, series, candles, the historical tier and the exchange's state", async () => {
  const market = liveliest();
  const configuration = new kalshi.Configuration({ basePath });
  const events = new kalshi.EventsApi(configuration);
  const { data } = await events.getEvent(kalshiEventTicker(market.event), true);
  assert.equal(data.event.title, market.event.title);
  assert.ok(data.event.markets?.some(({ ticker }) => ticker === kalshiTicker(market)));
  const series = await markets().getSeries(data.event.series_ticker);
  assert.equal(series.data.series.title, market.event.seriesTitle);
  const candles = await markets().getMarketCandlesticks(
    data.event.series_ticker,
    kalshiTicker(market),
    (GENESIS - 5 * HOUR_MS) / 1_000,
    GENESIS / 1_000,
    60,
  );
  const past = world.past(market, GENESIS - 5 * HOUR_MS - 1, GENESIS, HOUR_MS);
  assert.deepEqual(
    candles.data.candlesticks.map((candle) => [candle.end_period_ts * 1_000, Number(candle.yes_bid.close_dollars)]),
    past.map(({ at, bid }) => [at, bid ?? 0]),
  );
  const historical = new kalshi.HistoricalApi(configuration);
  const cutoff = Date.parse((await historical.getHistoricalCutoff()).data.market_settled_ts);
  const old = await historical.getHistoricalMarkets(1_000);
  assert.deepEqual(
    old.data.markets.map(({ ticker }) => ticker),
    listed.filter(({ finalizeAt }) => finalizeAt < cutoff).map(kalshiTicker),
  );
  const { data: state } = await new kalshi.ExchangeApi(configuration).getExchangeStatus();
  assert.equal(state.trading_active, true);
});
