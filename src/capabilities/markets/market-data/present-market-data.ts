import type { BoardMarket } from "../../../board/index.ts";
import type { BookLevel, OrderBook } from "../../../domain/order-book.ts";
import { complement } from "../../../domain/price.ts";
import type { Trade } from "../../../domain/trade.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import type { ListingDetails } from "../../../ports/venue.ts";
import type { PriceHistory } from "../../../storage/index.ts";

export interface BookReading {
  readonly bookType: ListingDetails["bookType"];
  /** Null if the market has no book. */
  readonly book: OrderBook | null;
  /** Whether the venue did not answer, so that this is the last known book. */
  readonly isStale: boolean;
  /** Time of the read, Unix milliseconds. */
  readonly readAt: number;
}

/** Creates the OrderBook object of the API with at most `depth` levels per side. */
export function presentOrderBook({ listing, quote }: BoardMarket, reading: BookReading, depth: number) {
  const { book } = reading;
  return {
    platform: listing.venue,
    market_id: listing.marketId,
    book_type: reading.bookType,
    bids: mergeLevels(book?.bids ?? []).slice(0, depth),
    asks: mergeLevels(book?.asks ?? []).slice(0, depth),
    last_price: quote.lastPrice ?? book?.lastPrice ?? null,
    updated_at: toIso(book?.receivedAt ?? reading.readAt),
    stale: reading.isStale,
  };
}

/** Merges adjacent levels of equal price, which some venues send. */
function mergeLevels(levels: readonly BookLevel[]): BookLevel[] {
  const merged: { price: number; size: number }[] = [];
  for (const { price, size } of levels) {
    const last = merged.at(-1);
    if (last?.price === price) last.size += size;
    else merged.push({ price, size });
  }
  return merged;
}

/** Creates the Trade object of the API. The value is the amount that the taker paid (decision 0003). */
export function presentTrade({ tradeId, executedAt, takerSide, yesPrice, size }: Trade) {
  const sidePrice = takerSide === "no" ? complement(yesPrice) : yesPrice;
  return {
    trade_id: tradeId,
    executed_at: toIso(executedAt),
    side: takerSide,
    yes_price: yesPrice,
    size,
    size_usd: takerSide === null ? null : Math.round(sidePrice * size * 1e6) / 1e6,
  };
}

export function presentHistory(market: BoardMarket, reading: PriceHistory) {
  return {
    platform: market.listing.venue,
    market_id: market.listing.marketId,
    ...(reading.period === null ? null : { period: reading.period }),
    interval_seconds: reading.intervalSeconds,
    points: reading.points.map(({ startAt, yesPrice, bid, ask, volumeUsd, open, high, low }) => ({
      timestamp: toIso(startAt),
      yes_price: yesPrice,
      bid,
      ask,
      volume: volumeUsd,
      open,
      high,
      low,
      close: yesPrice,
    })),
    generated_at: toIso(reading.generatedAt),
  };
}
