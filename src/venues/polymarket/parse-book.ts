import { type BookLevel, isCrossed, normaliseBook, type OrderBook } from "../../domain/order-book.ts";
import { parseDecimal, parseTradablePrice } from "../../domain/price.ts";
import type { HistoryPoint } from "../../domain/trade.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { millisecondsOf, plausibleTime, priceOf } from "./parse-values.ts";
import type { PolymarketDriftDetectors } from "./wire.ts";
import { type Book, isHistoryRow, isLevel } from "./wire.ts";

/** Levels of one side in the venue's order; what nobody can trade at is counted and left out. */
export function parseLevels(rows: readonly unknown[] | null, drop: DropCounter): BookLevel[] {
  const levels: BookLevel[] = [];
  for (const row of rows ?? []) {
    const price = isLevel(row) ? parseTradablePrice(row.price) : null;
    const size = isLevel(row) ? parseDecimal(row.size) : null;
    if (price === null) drop(isLevel(row) ? "price_out_of_range" : "bad_row");
    else if (size === null || size < 0) drop("bad_row");
    else if (size > 0) levels.push({ price, size });
  }
  return levels;
}

/** The book of the YES token, best levels first although the venue sends them last. A crossed one is empty. */
export function parseBook(row: Book, receivedAt: number, drop: DropCounter): OrderBook {
  const { bids, asks } = normaliseBook(parseLevels(row.bids, drop), parseLevels(row.asks, drop));
  const isTorn = isCrossed(bids[0]?.price ?? null, asks[0]?.price ?? null);
  if (isTorn) drop("crossed_book");
  return {
    bids: isTorn ? [] : bids,
    asks: isTorn ? [] : asks,
    lastPrice: priceOf(row.last_trade_price, drop),
    eventAt: millisecondsOf(row.timestamp),
    receivedAt,
  };
}

/**
 * Price points to intervals that end at each point's time, given in seconds. The venue tells the shown price only: no
 * sides, no volume.
 */
export function parseHistory(
  rows: readonly unknown[],
  intervalMs: number,
  { drop, detectors }: { readonly drop: DropCounter; readonly detectors: PolymarketDriftDetectors },
): HistoryPoint[] {
  const points: HistoryPoint[] = [];
  for (const row of rows) {
    const point = detectors.history_point.check(row, isHistoryRow) ? row : null;
    const endAt = point === null ? null : plausibleTime(Math.round(point.t * 1000));
    const price = point === null ? null : parseTradablePrice(point.p);
    if (endAt === null) drop("bad_row");
    else if (price === null) drop("price_out_of_range");
    else points.push({ startAt: endAt - intervalMs, endAt, yesPrice: price, bid: null, ask: null, volumeUsd: null });
  }
  return points.sort((a, b) => a.endAt - b.endAt);
}
