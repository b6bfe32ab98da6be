import type { MarketListing } from "../../domain/market.ts";
import type { HistoryPoint } from "../../domain/trade.ts";
import { MINUTE_MS } from "../../lib/durations.ts";
import { expectShape, type KalshiClient, type KalshiPorts } from "./client.ts";
import { parseCandle } from "./parse-history.ts";
import { isCandle, isCandles } from "./wire.ts";

/** Candlestick periods that Kalshi offers. */
const PERIODS_MS = [1_440 * MINUTE_MS, 60 * MINUTE_MS, MINUTE_MS] as const;
const CANDLES_PER_REQUEST = 1_000;
const REQUESTS_MAX = 100;

export interface HistoryRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly intervalMs: number;
}

/** Returns the longest period that does not exceed the interval, or the shortest period if all exceed it. */
function choosePeriodMs(intervalMs: number): number {
  return PERIODS_MS.find((periodMs) => periodMs <= intervalMs) ?? MINUTE_MS;
}

/**
 * Returns candlesticks as price history, oldest first. Candlesticks of settled markets may be in the historical tier.
 */
export async function getHistory(
  client: KalshiClient,
  { countDrop, driftDetectors }: Pick<KalshiPorts, "countDrop" | "driftDetectors">,
  listing: Pick<MarketListing, "marketId" | "eventId" | "venueKeys" | "openAt">,
  range: HistoryRange,
  signal: AbortSignal,
): Promise<readonly HistoryPoint[]> {
  const periodMs = choosePeriodMs(range.intervalMs);
  const points = new Map<number, HistoryPoint>();
  let start = Math.max(range.fromMs, listing.openAt === null ? 0 : listing.openAt - periodMs);
  for (let request = 0; request < REQUESTS_MAX && start < range.toMs; request++) {
    const end = Math.min(range.toMs, start + CANDLES_PER_REQUEST * periodMs);
    const query = {
      start_ts: Math.floor(start / 1_000),
      end_ts: Math.ceil(end / 1_000),
      period_interval: periodMs / MINUTE_MS,
    };
    for (const row of await fetchCandles(client, listing, query, signal)) {
      if (!driftDetectors.candle.check(row, isCandle)) {
        countDrop("bad_candle");
        continue;
      }
      const point = parseCandle(row, periodMs, countDrop);
      if (point.startAt >= range.fromMs && point.endAt <= range.toMs) points.set(point.startAt, point);
    }
    start = end;
  }
  if (start < range.toMs) countDrop("history_too_long");
  return [...points.values()].sort((a, b) => a.startAt - b.startAt);
}

async function fetchCandles(
  client: KalshiClient,
  listing: Pick<MarketListing, "marketId" | "eventId" | "venueKeys">,
  query: Readonly<Record<string, number>>,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const ticker = encodeURIComponent(listing.marketId);
  // The venue accepts any series in the path.
  const series = encodeURIComponent(listing.venueKeys.series ?? listing.eventId ?? listing.marketId);
  for (const tier of [`/series/${series}/markets`, "/historical/markets"]) {
    const path = `${tier}/${ticker}/candlesticks`;
    const response = await client.get(path, query, signal, [404]);
    if (response.status !== 404) return expectShape(response.json, isCandles, path).candlesticks;
  }
  return [];
}
