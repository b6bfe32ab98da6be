import type { MarketListing } from "../../domain/market.ts";
import type { HistoryPoint } from "../../domain/trade.ts";
import { MINUTE_MS } from "../../lib/durations.ts";
import type { HistoryRange } from "../../ports/venue.ts";
import { expectShape, type KalshiContext } from "./client.ts";
import { parseCandle } from "./parse-history.ts";
import { isCandle, isCandlesResponse } from "./wire.ts";

/** Candlestick periods that Kalshi offers. */
const PERIODS_MS = [1_440 * MINUTE_MS, 60 * MINUTE_MS, MINUTE_MS] as const;
const CANDLES_PER_REQUEST = 1_000;
const REQUESTS_MAX = 100;

/**
 * Returns candlesticks as price history, oldest first. Candlesticks of settled markets may be in the historical tier.
 */
export async function getHistory(
  context: KalshiContext,
  listing: Pick<MarketListing, "marketId" | "eventId" | "venueKeys" | "openAt">,
  range: HistoryRange,
  signal: AbortSignal,
): Promise<readonly HistoryPoint[]> {
  const { countDrop, driftDetectors } = context;
  // The longest period that does not exceed the interval, or the shortest period if all exceed it.
  const periodMs = PERIODS_MS.find((each) => each <= range.intervalMs) ?? MINUTE_MS;
  const points = new Map<number, HistoryPoint>();
  let start = Math.max(range.fromMs, listing.openAt === null ? 0 : listing.openAt - periodMs);
  for (let request = 0; request < REQUESTS_MAX && start < range.toMs; request++) {
    const end = Math.min(range.toMs, start + CANDLES_PER_REQUEST * periodMs);
    const query = {
      start_ts: Math.floor(start / 1_000),
      end_ts: Math.ceil(end / 1_000),
      period_interval: periodMs / MINUTE_MS,
    };
    const rows = await fetchCandles(context, listing, query, signal);
    for (const row of driftDetectors.candle.filter(rows, isCandle, () => countDrop("bad_candle"))) {
      const point = parseCandle(row, periodMs, countDrop);
      if (point.startAt >= range.fromMs && point.endAt <= range.toMs) points.set(point.startAt, point);
    }
    start = end;
  }
  if (start < range.toMs) countDrop("history_too_long");
  return [...points.values()].sort((a, b) => a.startAt - b.startAt);
}

async function fetchCandles(
  { client }: KalshiContext,
  listing: Pick<MarketListing, "marketId" | "eventId" | "venueKeys">,
  query: Readonly<Record<string, number>>,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const ticker = encodeURIComponent(listing.marketId);
  // The venue accepts any series in the path.
  const series = encodeURIComponent(listing.venueKeys.series ?? listing.eventId ?? listing.marketId);
  for (const tier of [`/series/${series}/markets`, "/historical/markets"]) {
    const path = `${tier}/${ticker}/candlesticks`;
    const { status, json } = await client.fetchJson(path, { query, signal, accept: [404] });
    if (status !== 404) return expectShape(json, isCandlesResponse, path).candlesticks;
  }
  return [];
}
