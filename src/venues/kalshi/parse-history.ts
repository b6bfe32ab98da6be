import { yesPrice } from "../../domain/market.ts";
import { isCrossed } from "../../domain/order-book.ts";
import type { HistoryPoint } from "../../domain/trade.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { parsePrice } from "../shared/parse-values.ts";
import { contractsToUsd } from "./parse-values.ts";
import type { CandleWire } from "./wire.ts";

/** Parses a candlestick of either tier. Its end is inclusive and a multiple of the period. */
export function parseCandle(row: CandleWire, intervalMs: number, countDrop: DropCounter): HistoryPoint {
  const bid = parsePrice(row.yes_bid?.close_dollars ?? row.yes_bid?.close, countDrop);
  const ask = parsePrice(row.yes_ask?.close_dollars ?? row.yes_ask?.close, countDrop);
  const close = parsePrice(row.price?.close_dollars ?? row.price?.close, countDrop);
  const previous = parsePrice(row.price?.previous_dollars ?? row.price?.previous, countDrop);
  const isBookCrossed = isCrossed(bid, ask);
  if (isBookCrossed) countDrop("crossed_book");
  const quote = isBookCrossed ? { bid: null, ask: null } : { bid, ask };
  const endAt = row.end_period_ts * 1_000;
  return {
    startAt: endAt - intervalMs,
    endAt,
    yesPrice: yesPrice({ ...quote, lastPrice: close ?? previous, indicativePrice: null }),
    ...quote,
    volumeUsd: contractsToUsd(row.volume_fp ?? row.volume),
  };
}
