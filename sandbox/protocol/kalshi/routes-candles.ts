import { MINUTE_MS } from "../../../src/lib/durations.ts";
import { buildCandles, type Candle, presentCandle, presentHistoricalCandle } from "./candles.ts";
import { kalshiTicker } from "./ids.ts";
import { createBadRequestError, createNotFoundError, type Query } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

const CANDLES_MAX = 10_000;
const PERIODS_MINUTES = [1, 60, 1_440];

/** Returns the time range and the period of a request, in milliseconds. */
function parseCandleRange(query: Query, now: number) {
  const from = query.readRequiredInteger("start_ts") * 1_000;
  const requestedTo = query.readRequiredInteger("end_ts") * 1_000;
  const minutes = query.readRequiredInteger("period_interval");
  if (!PERIODS_MINUTES.includes(minutes))
    throw createBadRequestError("invalid parameters: period_interval must be 1, 60 or 1440");
  if (requestedTo < from) throw createBadRequestError("invalid parameters: end_ts must not be before start_ts");
  const to = Math.min(requestedTo, now);
  const intervalMs = minutes * MINUTE_MS;
  if ((to - from) / intervalMs > CANDLES_MAX) {
    throw createBadRequestError(`invalid parameters: more than ${CANDLES_MAX} candlesticks`);
  }
  return { from, to, intervalMs };
}

/** Installs the candlestick routes of one live market and of one historical market. */
export function installCandles(get: Get, { context, catalogue }: RestOptions): void {
  const { world, now } = context;
  const install = (path: string, isHistorical: boolean, present: (candle: Candle) => object) =>
    get(path, (request) => {
      const market = catalogue.findMarket(request.path("ticker"));
      if (market === null || catalogue.isHistorical(market) !== isHistorical) throw createNotFoundError();
      const { from, to, intervalMs } = parseCandleRange(request.query, now());
      const candlesticks = buildCandles(world, market, from, to, intervalMs).map(present);
      return { ticker: kalshiTicker(market), candlesticks };
    });
  // The venue ignores the series in the path; clients also send the event's ticker.
  install("/series/:series/markets/:ticker/candlesticks", false, presentCandle);
  install("/historical/markets/:ticker/candlesticks", true, presentHistoricalCandle);
}
