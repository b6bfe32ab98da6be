import type { ListedMarket } from "../../world/types.ts";
import { candleJson, candlesOf, historicalCandleJson, latestBeforeJson } from "./candles.ts";
import { kalshiSeriesTicker, kalshiTicker } from "./ids.ts";
import { badRequest, notFound, type Query } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

const CANDLE_MARKETS_MAX = 100;
const CANDLES_MAX = 10_000;
const MINUTE_MS = 60_000;
const PERIODS_MINUTES = [1, 60, 1_440];

interface CandleQuery {
  readonly from: number;
  readonly to: number;
  readonly intervalMs: number;
}

/** The three parameters that every form of candlesticks takes. */
function readCandleQuery(query: Query, now: number): CandleQuery {
  const from = query.requiredInteger("start_ts") * 1_000;
  const to = query.requiredInteger("end_ts") * 1_000;
  const minutes = query.requiredInteger("period_interval");
  if (!PERIODS_MINUTES.includes(minutes)) throw badRequest("invalid parameters: period_interval must be 1, 60 or 1440");
  if (to < from) throw badRequest("invalid parameters: end_ts must not be before start_ts");
  return { from, to: Math.min(to, now), intervalMs: minutes * MINUTE_MS };
}

/** Refuses a range that would give more candles than the venue sends at once. */
function checkCandleCount({ from, to, intervalMs }: CandleQuery, markets: number, max = CANDLES_MAX): void {
  if (((to - from) / intervalMs) * markets > max) throw badRequest(`invalid parameters: more than ${max} candlesticks`);
}

/** Candlesticks in all forms: of one market, of many, of an event, and of the historical tier. */
export function installCandles(get: Get, { context, catalogue }: RestOptions): void {
  const { world, now } = context;

  get("/markets/candlesticks", ({ query }) => {
    const tickers = query.list("market_tickers", CANDLE_MARKETS_MAX);
    if (tickers === null) throw badRequest("invalid parameters: market_tickers is required");
    const range = readCandleQuery(query, now());
    checkCandleCount(range, tickers.length);
    const isLatestWanted = query.flag("include_latest_before_start");
    const markets = tickers
      .map((ticker) => catalogue.market(ticker))
      .filter((market) => market !== null)
      .filter((market) => !catalogue.isHistorical(market));
    return {
      markets: markets.map((market) => ({
        market_ticker: kalshiTicker(market),
        candlesticks: candlesticks(market, range, isLatestWanted),
      })),
    };
  });

  const candlesticks = (market: ListedMarket, { from, to, intervalMs }: CandleQuery, isLatestWanted: boolean) => {
    const latest = isLatestWanted ? latestBeforeJson(world, market, from, intervalMs) : null;
    const candles = candlesOf(world, market, from, to, intervalMs).map(candleJson);
    return latest === null ? candles : [latest, ...candles];
  };

  get("/series/:series/markets/:ticker/candlesticks", ({ query, path }) => {
    const market = catalogue.market(path("ticker"));
    if (market === null || catalogue.isHistorical(market)) throw notFound();
    if (kalshiSeriesTicker(market.event) !== path("series")) throw notFound();
    const range = readCandleQuery(query, now());
    checkCandleCount(range, 1);
    return {
      ticker: kalshiTicker(market),
      candlesticks: candlesticks(market, range, query.flag("include_latest_before_start")),
    };
  });

  get("/series/:series/events/:event/candlesticks", ({ query, path }) => {
    const event = catalogue.event(path("event"));
    if (event === null || kalshiSeriesTicker(event) !== path("series")) throw notFound();
    const range = readCandleQuery(query, now());
    const markets = event.markets.filter((market) => !catalogue.isHistorical(market));
    checkCandleCount(range, markets.length);
    return {
      market_tickers: markets.map(kalshiTicker),
      market_candlesticks: markets.map((market) =>
        candlesOf(world, market, range.from, range.to, range.intervalMs).map(candleJson),
      ),
      adjusted_end_ts: Math.floor(range.to / 1_000),
    };
  });

  // The venue computes forecasts for numeric events only, and here it computes none.
  get("/series/:series/events/:event/forecast_percentile_history", ({ path }) => {
    const event = catalogue.event(path("event"));
    if (event === null || kalshiSeriesTicker(event) !== path("series")) throw notFound();
    return { forecast_history: [] };
  });

  get("/historical/markets/:ticker/candlesticks", ({ query, path }) => {
    const market = catalogue.market(path("ticker"));
    if (market === null || !catalogue.isHistorical(market)) throw notFound();
    const range = readCandleQuery(query, now());
    checkCandleCount(range, 1);
    return {
      ticker: kalshiTicker(market),
      candlesticks: candlesOf(world, market, range.from, range.to, range.intervalMs).map(historicalCandleJson),
    };
  });
}
