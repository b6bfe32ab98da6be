import { yesPrice } from "../../domain/market.ts";
import { isCrossed } from "../../domain/order-book.ts";
import { parseTradablePrice } from "../../domain/price.ts";
import type { HistoryPoint, Trade } from "../../domain/trade.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { parseMs, parsePrice, parseSize, parseTime, valueInUsd } from "./parse-scalars.ts";
import type { CandleWire, TradeMessageWire, TradeWire } from "./wire.ts";

/** A trade of REST or of the stream; null (counted) when it cannot be used. Block trades say nothing of the book. */
export function parseTrade(row: TradeWire | TradeMessageWire, drop: DropCounter): Trade | null {
  if (row.is_block_trade === true) {
    drop("block_trade");
    return null;
  }
  const executedAt = "created_time" in row ? parseTime(row.created_time) : parseMs("ts_ms" in row ? row.ts_ms : null);
  const price = parseTradablePrice(row.yes_price_dollars);
  const size = parseSize(row.count_fp);
  if (executedAt === null || size === null) {
    drop("bad_trade");
    return null;
  }
  if (price === null) {
    drop("price_out_of_range");
    return null;
  }
  const side = row.taker_outcome_side ?? row.taker_side;
  const takerSide = side === "yes" || side === "no" ? side : null;
  return { tradeId: row.trade_id, executedAt, yesPrice: price, size, takerSide };
}

/** A candle of either tier. Its end is inclusive and a multiple of the period. */
export function parseCandle(row: CandleWire, intervalMs: number, drop: DropCounter): HistoryPoint {
  const bid = parsePrice(row.yes_bid?.close_dollars ?? row.yes_bid?.close, drop);
  const ask = parsePrice(row.yes_ask?.close_dollars ?? row.yes_ask?.close, drop);
  const close = parsePrice(row.price?.close_dollars ?? row.price?.close, drop);
  const previous = parsePrice(row.price?.previous_dollars ?? row.price?.previous, drop);
  const mean = parsePrice(row.price?.mean_dollars ?? row.price?.mean, drop) ?? close;
  const isTorn = isCrossed(bid, ask);
  if (isTorn) drop("crossed_book");
  const quote = { bid: isTorn ? null : bid, ask: isTorn ? null : ask };
  const endAt = row.end_period_ts * 1_000;
  return {
    startAt: endAt - intervalMs,
    endAt,
    yesPrice: yesPrice({ ...quote, lastPrice: close ?? previous, indicativePrice: null }),
    ...quote,
    volumeUsd: valueInUsd(row.volume_fp ?? row.volume, mean),
  };
}
