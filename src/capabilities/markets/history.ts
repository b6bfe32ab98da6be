import type { HistoryPeriod, MarketHistory } from "../history/index.ts";
import type { BoardMarket } from "./model.ts";
import { isoTime } from "./present.ts";

/** A market's past over a period, and when it was read (Unix milliseconds). */
export interface HistoryReading extends MarketHistory {
  readonly period: HistoryPeriod;
  readonly generatedAt: number;
}

/** Where past prices come from: the store, and the venue for what the store does not have yet. */
export interface PastPrices {
  /** @throws VenueError when nothing is stored and the venue gives no answer; AppError `store_unavailable` */
  read(market: BoardMarket, period: HistoryPeriod, maxPoints: number): Promise<HistoryReading>;
}

export function presentHistory(market: BoardMarket, reading: HistoryReading) {
  return {
    platform: market.listing.venue,
    market_id: market.listing.marketId,
    period: reading.period,
    interval_seconds: reading.intervalSeconds,
    points: reading.points.flatMap((point) =>
      point.yesPrice === null
        ? []
        : [
            {
              timestamp: isoTime(point.startAt),
              yes_price: point.yesPrice,
              bid: point.bid,
              ask: point.ask,
              volume: point.volumeUsd,
            },
          ],
    ),
    generated_at: isoTime(reading.generatedAt),
  };
}
