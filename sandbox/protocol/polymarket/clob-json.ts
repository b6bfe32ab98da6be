import { createHash } from "node:crypto";
import type { Level } from "../../world/types.ts";
import { polymarketConditionId, polymarketTokenIds, type TokenSide } from "./ids.ts";
import { formatDecimal, isNegRisk, type MarketState, ORDER_SIZE_MIN, toTokenBook } from "./market-state.ts";

/** Returns levels in wire format, best level last. */
function presentLevels(levels: readonly Level[]): { price: string; size: string }[] {
  return levels.map(({ price, size }) => ({ price: formatDecimal(price), size: formatDecimal(size) })).reverse();
}

/**
 * Presents the book of one token. The hash is the SHA-1 of the JSON with an empty hash, as in the venue's client
 * library, so the order of the fields matters.
 */
export function presentBook(state: MarketState, side: TokenSide) {
  const { market } = state;
  const book = toTokenBook(state.book, side);
  const summary = {
    market: polymarketConditionId(market),
    asset_id: polymarketTokenIds(market)[side],
    timestamp: String(Math.floor(state.book.changedAt)),
    hash: "",
    bids: presentLevels(book.bids),
    asks: presentLevels(book.asks),
    min_order_size: String(ORDER_SIZE_MIN),
    tick_size: formatDecimal(market.tick),
    neg_risk: isNegRisk(market.event),
    last_trade_price: book.lastPrice === null ? "" : formatDecimal(book.lastPrice),
  };
  return { ...summary, hash: createHash("sha1").update(JSON.stringify(summary)).digest("hex") };
}
