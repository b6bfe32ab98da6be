import { MINUTE_MS } from "../../../src/lib/durations.ts";
import type { ListedMarket } from "../../world/types.ts";
import { buildCandles, presentCandle, presentHistoricalCandle, presentLatestBefore } from "./candles.ts";
import { kalshiTicker } from "./ids.ts";
import { createBadRequestError, createNotFoundError, type Query } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

const CANDLE_MARKETS_MAX = 100;
const CANDLES_MAX = 10_000;
const PERIODS_MINUTES = [1, 60, 1_440];

/** Time range and period, in milliseconds. */
interface CandleRange {
  readonly from: number;
  readonly to: number;
  readonly intervalMs: number;
}

/** Reads the parameters shared by all candlestick routes and checks the total number of candles. */
function parseCandleRange(query: Query, now: number, marketCount = 1): CandleRange {
  const from = query.readRequiredInteger("start_ts") * 1_000;
  const requestedTo = query.readRequiredInteger("end_ts") * 1_000;
  const minutes = query.readRequiredInteger("period_interval");
  if (!PERIODS_MINUTES.includes(minutes))
    throw createBadRequestError("invalid parameters: period_interval must be 1, 60 or 1440");
  if (requestedTo < from) throw createBadRequestError("invalid parameters: end_ts must not be before start_ts");
  const to = Math.min(requestedTo, now);
  const intervalMs = minutes * MINUTE_MS;
  if (((to - from) / intervalMs) * marketCount > CANDLES_MAX) {
    throw createBadRequestError(`invalid parameters: more than ${CANDLES_MAX} candlesticks`);
  }
  return { from, to, intervalMs };
}

/** Installs the candlestick routes of one live market, of several live markets, and of one historical market. */
export function installCandles(get: Get, { context, catalogue }: RestOptions): void {
  const { world, now } = context;

  const presentLiveCandles = (market: ListedMarket, { from, to, intervalMs }: CandleRange, includeLatest: boolean) => {
    const latest = includeLatest ? presentLatestBefore(world, market, from, intervalMs) : null;
    const candles = buildCandles(world, market, from, to, intervalMs).map(presentCandle);
    return latest === null ? candles : [latest, ...candles];
  };

  get("/markets/candlesticks", ({ query }) => {
    const tickers = query.readList("market_tickers", CANDLE_MARKETS_MAX);
    if (tickers === null) throw createBadRequestError("invalid parameters: market_tickers is required");
    const range = parseCandleRange(query, now(), tickers.length);
    const includeLatest = query.readFlag("include_latest_before_start");
    const markets = catalogue.findMarkets(tickers).filter((market) => !catalogue.isHistorical(market));
    return {
      markets: markets.map((market) => ({
        market_ticker: kalshiTicker(market),
        candlesticks: presentLiveCandles(market, range, includeLatest),
      })),
    };
  });

  // The venue ignores the series in the path; clients also send the event's ticker.
  get("/series/:series/markets/:ticker/candlesticks", ({ query, path }) => {
    const market = catalogue.findMarket(path("ticker"));
    if (market === null || catalogue.isHistorical(market)) throw createNotFoundError();
    const range = parseCandleRange(query, now());
    return {
      ticker: kalshiTicker(market),
      candlesticks: presentLiveCandles(market, range, query.readFlag("include_latest_before_start")),
    };
  });

  get("/historical/markets/:ticker/candlesticks", ({ query, path }) => {
    const market = catalogue.findMarket(path("ticker"));
    if (market === null || !catalogue.isHistorical(market)) throw createNotFoundError();
    const { from, to, intervalMs } = parseCandleRange(query, now());
    return {
      ticker: kalshiTicker(market),
      candlesticks: buildCandles(world, market, from, to, intervalMs).map(presentHistoricalCandle),
    };
  });
}
