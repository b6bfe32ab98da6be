import type { BoardMarket } from "../../board/index.ts";
import type { HistoryReading } from "../../storage/index.ts";
import { isoTime } from "./present.ts";

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
