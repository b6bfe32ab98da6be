import type { ListedMarket, World, WorldTrade } from "../../world/types.ts";
import { kalshiTicker, uuidOf } from "./ids.ts";
import { count, dollars, iso, opposite } from "./market-json.ts";

/** The tape is read backwards in windows that double, from this one on. */
const WINDOW_MS_FIRST = 10 * 60_000;

export interface TapeEntry {
  readonly market: ListedMarket;
  readonly trade: WorldTrade;
}

/** Where a page of the tape ended: its last instant and how many trades of that instant were already told. */
export interface TapePosition {
  readonly at: number;
  readonly told: number;
}

/**
 * Trades of the markets with from <= at < to, newest first, at most `limit`, after `position` when given.
 * Trades of one instant keep the order of their markets and, inside one, the reverse of their making.
 */
export function tapeOf(
  world: World,
  markets: readonly ListedMarket[],
  range: { readonly from: number; readonly to: number },
  limit: number,
  position: TapePosition | null,
): TapeEntry[] {
  const found: TapeEntry[] = [];
  const openAt = markets.reduce((first, market) => Math.min(first, market.openAt), Number.POSITIVE_INFINITY);
  const from = Math.max(range.from, openAt);
  let skip = position?.told ?? 0;
  let to = position === null ? range.to : Math.min(range.to, position.at + 1);
  for (let windowMs = WINDOW_MS_FIRST; to > from && found.length < limit; windowMs *= 2) {
    const begin = Math.max(from, to - windowMs);
    const entries = markets
      .flatMap((market) => world.trades(market, begin, to).map((trade) => ({ market, trade })))
      .reverse()
      .sort((a, b) => b.trade.at - a.trade.at);
    for (const entry of entries) {
      if (skip > 0 && entry.trade.at === position?.at) skip -= 1;
      else if (found.length < limit) found.push(entry);
    }
    to = begin;
  }
  return found;
}

/** A trade as REST tells it. */
export function tradeJson({ market, trade }: TapeEntry): Record<string, unknown> {
  const { yesPrice, takerSide } = trade;
  return {
    trade_id: trade.recordedId ?? uuidOf(trade.id),
    ticker: kalshiTicker(market),
    count_fp: count(trade.size),
    yes_price_dollars: dollars(yesPrice),
    no_price_dollars: dollars(opposite(yesPrice)),
    taker_side: takerSide,
    taker_outcome_side: takerSide,
    taker_book_side: takerSide === "yes" ? "bid" : "ask",
    created_time: iso(trade.at),
    is_block_trade: false,
  };
}
