import { parseTradablePrice } from "../../domain/price.ts";
import type { Trade } from "../../domain/trade.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { parseMs, parseSize, parseTime } from "./parse-values.ts";
import type { TradeMessageWire, TradeWire } from "./wire.ts";

/**
 * Parses a trade from REST or from the stream. Returns null, and counts the reason, for invalid rows and for block
 * trades, which are negotiated outside the order book.
 */
export function parseTrade(row: TradeWire | TradeMessageWire, countDrop: DropCounter): Trade | null {
  if (row.is_block_trade === true) {
    countDrop("block_trade");
    return null;
  }
  const executedAt = "created_time" in row ? parseTime(row.created_time) : parseMs("ts_ms" in row ? row.ts_ms : null);
  const price = parseTradablePrice(row.yes_price_dollars);
  const size = parseSize(row.count_fp);
  if (executedAt === null || size === null) {
    countDrop("bad_trade");
    return null;
  }
  if (price === null) {
    countDrop("price_out_of_range");
    return null;
  }
  const side = row.taker_outcome_side ?? row.taker_side;
  const takerSide = side === "yes" || side === "no" ? side : null;
  return { tradeId: row.trade_id, executedAt, yesPrice: price, size, takerSide };
}
