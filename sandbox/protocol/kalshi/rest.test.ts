import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  findMarketsInPhase,
  firstOf,
  GENESIS,
  listAllMarkets,
  NOW,
  world,
} from "../../../test/support/sandbox/kalshi-world.ts";
import { serveExchanges } from "../../serve.ts";
import type { Feed } from "../../world/types.ts";
import { kalshiEventTicker, kalshiExchange, kalshiSeriesTicker, kalshiTicker } from "./index.ts";

const feed: Feed = { subscribe: () => () => {}, close() {} };
const serve = (enforceLimits: boolean) =>
  serveExchanges(kalshiExchange({ world, feed, now: () => NOW, enforceLimits }), { host: "127.0.0.1", firstPort: 0 });

let served: Awaited<ReturnType<typeof serve>>;
before(async () => {
  served = await serve(false);
});
after(() => served.close());

interface Row {
  readonly ticker: string;
  readonly event_ticker: string;
  readonly series_ticker: string;
  readonly title: string;
  readonly status: string;
  readonly markets: readonly Row[];
}

interface Candle {
  readonly price: Readonly<Record<string, string | null>>;
  readonly volume_fp: string;
}

/** The fields of all response types; a missing field is `undefined` at run time. */
interface Body {
  readonly error: { readonly code: string };
  readonly cursor: string;
  readonly market: Row;
  readonly markets: readonly Row[];
  readonly event: Row;
  readonly events: readonly Row[];
  readonly series: readonly Row[];
  readonly trades: readonly unknown[];
  readonly candlesticks: readonly Candle[];
  readonly market_settled_ts: string;
  readonly orderbook_fp: { readonly yes_dollars: readonly string[][]; readonly no_dollars: readonly string[][] };
}

async function get(
  path: string,
  service = served,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; json: Body }> {
  const response = await fetch(`${service.urls.kalshi?.rest}${path}`, { headers });
  return { status: response.status, headers: response.headers, json: (await response.json()) as Body };
}

test("market tickers are unique and each returns its market", async () => {
  const tickers = new Set(listAllMarkets().map(kalshiTicker));
  assert.equal(tickers.size, listAllMarkets().length);
  const market = firstOf(findMarketsInPhase("active"));
  const { json } = await get(`/markets/${kalshiTicker(market)}`);
  assert.equal(json.market.title, market.question);
});

test("400: rejects unknown and conflicting filters, invalid limits and invalid cursors", async () => {
  for (const query of [
    // A value of the status field, not of the status filter.
    "status=active",
    "status=open&mve_filter=exclude&min_updated_ts=1",
    "limit=1001",
    "limit=x",
    "cursor=nonsense",
  ]) {
    const { status, json } = await get(`/markets?${query}`);
    assert.deepEqual([status, json.error.code], [400, "bad_request"], query);
  }
});

test("404: only the historical tier returns a market settled before the cutoff, with its trades and candles", async () => {
  const cutoff = Date.parse((await get("/historical/cutoff")).json.market_settled_ts);
  const market = firstOf(
    findMarketsInPhase("finalized").filter(
      (item) => item.finalizeAt < cutoff && world.activity(item, NOW).volumeContracts > 0,
    ),
  );
  const ticker = kalshiTicker(market);
  const missing = await get(`/markets/${ticker}`);
  assert.equal(missing.status, 404);
  assert.deepEqual(missing.json, { error: { code: "not_found", message: "not found" } });
  assert.equal((await get(`/historical/markets/${ticker}`)).json.market.status, "finalized");
  assert.deepEqual((await get(`/markets/trades?ticker=${ticker}`)).json.trades, []);
  assert.ok((await get(`/historical/trades?ticker=${ticker}`)).json.trades.length > 0);
  const range = `start_ts=${Math.floor(market.openAt / 1_000)}&end_ts=${Math.floor(NOW / 1_000)}&period_interval=1440`;
  const path = `/series/${kalshiSeriesTicker(market.event)}/markets/${ticker}/candlesticks?${range}`;
  assert.equal((await get(path)).status, 404);
  const { json } = await get(`/historical/markets/${ticker}/candlesticks?${range}`);
  assert.ok(json.candlesticks.length > 0);
  assert.ok(json.candlesticks.every((candle) => "close" in candle.price && !("close_dollars" in candle.price)));
  const nested = await get(`/events/${kalshiEventTicker(market.event)}?with_nested_markets=true`);
  assert.ok(nested.json.event.markets.every((row) => row.ticker !== ticker));
});

test("a candle without trades has no price, and each candle has the last price before it", async () => {
  const market = firstOf(findMarketsInPhase("active").filter(({ event }) => event.markets.length > 1));
  const query = `start_ts=${GENESIS / 1_000 - 6 * 3_600}&end_ts=${GENESIS / 1_000}&period_interval=60`;
  const path = `/series/${kalshiSeriesTicker(market.event)}/markets/${kalshiTicker(market)}/candlesticks`;
  const { candlesticks } = (await get(`${path}?${query}`)).json;
  assert.equal(candlesticks.length, 7);
  for (const [index, { price, volume_fp }] of candlesticks.entries()) {
    assert.equal("close_dollars" in price, volume_fp !== "0.00");
    const last = candlesticks[index - 1]?.price;
    if (last !== undefined) assert.equal(price.previous_dollars, last.close_dollars ?? last.previous_dollars);
  }
});

test("the candlesticks of a market are the same with any series in the path", async () => {
  const market = firstOf(findMarketsInPhase("active"));
  const query = `start_ts=${GENESIS / 1_000 - 6 * 3_600}&end_ts=${GENESIS / 1_000}&period_interval=60`;
  const read = (series: string) => get(`/series/${series}/markets/${kalshiTicker(market)}/candlesticks?${query}`);
  const expected = await read(kalshiSeriesTicker(market.event));
  assert.ok(expected.json.candlesticks.length > 0);
  for (const series of [kalshiEventTicker(market.event), "KXNOSUCH"]) {
    assert.deepEqual((await read(series)).json, expected.json);
  }
});

test("200: the order book of an unknown or settled market has two empty sides", async () => {
  const settledMarkets = findMarketsInPhase("finalized");
  for (const ticker of ["KXNOSUCH-26DEC01-T1", ...settledMarkets.slice(0, 5).map(kalshiTicker)]) {
    const { status, json } = await get(`/markets/${ticker}/orderbook`);
    assert.deepEqual([status, json.orderbook_fp], [200, { yes_dollars: [], no_dollars: [] }]);
  }
  assert.ok(settledMarkets.length > 0);
});

test("rows of markets and events omit fields without a value and contain no null", async () => {
  const { events } = (await get("/events?limit=200")).json;
  const { markets } = (await get("/markets?limit=1000")).json;
  assert.ok(events.length > 0 && markets.length > 0);
  for (const row of [...events, ...markets]) assert.ok(!Object.values(row).includes(null));
});

test("400: rejects a range of more than 10,000 candlesticks", async () => {
  const ticker = kalshiTicker(firstOf(findMarketsInPhase("active")));
  const query = "start_ts=0&end_ts=1795230000&period_interval=1";
  assert.equal((await get(`/series/KX/markets/${ticker}/candlesticks?${query}`)).status, 400);
});

test("429: rejects the 21st request of a client; the response has no Retry-After or rate limit headers", async (t) => {
  const limited = await serve(true);
  t.after(() => limited.close());
  const userAgent = { "user-agent": "hasty/1" };
  for (let request = 0; request < 20; request++) {
    assert.equal((await get("/exchange/status", limited, userAgent)).status, 200);
  }
  const rejected = await get("/exchange/status", limited, userAgent);
  assert.equal(rejected.status, 429);
  assert.deepEqual(rejected.json, { error: { code: "too_many_requests", message: "too many requests" } });
  assert.equal(rejected.headers.get("retry-after"), null);
  assert.deepEqual(
    [...rejected.headers.keys()].filter((name) => name.includes("rate")),
    [],
  );
  assert.equal((await get("/exchange/status", limited, { "user-agent": "patient/1" })).status, 200);
});

test("the series of every listed event is listed, and events are filtered by ticker", async () => {
  const { events } = (await get("/events?limit=200")).json;
  const seriesTickers = new Set((await get("/series")).json.series.map(({ ticker }) => ticker));
  assert.ok(events.length > 2 && events.every(({ series_ticker }) => seriesTickers.has(series_ticker)));
  const tickers = events.slice(0, 2).map(({ event_ticker }) => event_ticker);
  const byTicker = (await get(`/events?tickers=${tickers.join(",")}`)).json.events;
  assert.deepEqual(
    byTicker.map(({ event_ticker }) => event_ticker),
    tickers,
  );
});

test("HEAD returns the headers of GET without a body, and a trailing slash is ignored", async () => {
  const base = served.urls.kalshi?.rest;
  const headResponse = await fetch(`${base}/exchange/status`, { method: "HEAD" });
  const getResponse = await fetch(`${base}/exchange/status`);
  assert.equal(headResponse.status, 200);
  assert.equal(headResponse.headers.get("content-length"), String((await getResponse.text()).length));
  assert.equal(await headResponse.text(), "");
  assert.deepEqual((await get("/series/")).json, (await get("/series")).json);
});
