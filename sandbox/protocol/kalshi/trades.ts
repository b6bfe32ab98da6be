import { toIso } from "../../../src/lib/dates/iso-time.ts";
import type { ListedMarket, World, WorldTrade } from "../../world/types.ts";
import { kalshiTicker, kalshiTradeId } from "./ids.ts";
import { formatContracts, formatDollars, toOppositePrice } from "./market-json.ts";

/** Length of the first time window. Trades are read backwards in windows that double in length. */
const FIRST_WINDOW_MS = 10 * 60_000;

export interface MarketTrade {
  readonly market: ListedMarket;
  readonly trade: WorldTrade;
}

/** Position of the last trade of a page. */
export interface TradePosition {
  /** Time of the last trade on the page, Unix milliseconds. */
  readonly at: number;
  /** Number of trades with that time which were already returned. */
  readonly skip: number;
}

/**
 * Returns at most `limit` trades with from <= at < to, newest first, starting after `position` if given. Trades with
 * equal times are in a fixed order, so pages neither overlap nor leave gaps.
 */
export function findNewestTrades(
  world: World,
  markets: readonly ListedMarket[],
  range: { readonly from: number; readonly to: number },
  limit: number,
  position: TradePosition | null,
): MarketTrade[] {
  const found: MarketTrade[] = [];
  const firstOpenAt = markets.reduce((first, market) => Math.min(first, market.openAt), Number.POSITIVE_INFINITY);
  const from = Math.max(range.from, firstOpenAt);
  let skip = position?.skip ?? 0;
  let to = position === null ? range.to : Math.min(range.to, position.at + 1);
  for (let windowMs = FIRST_WINDOW_MS; to > from && found.length < limit; windowMs *= 2) {
    const windowStart = Math.max(from, to - windowMs);
    const trades = markets
      .flatMap((market) => world.trades(market, windowStart, to).map((trade) => ({ market, trade })))
      .reverse()
      .sort((a, b) => b.trade.at - a.trade.at);
    for (const entry of trades) {
      if (skip > 0 && entry.trade.at === position?.at) skip -= 1;
      else if (found.length < limit) found.push(entry);
    }
    to = windowStart;
  }
  return found;
}

/** REST representation of a trade. */
export function presentTrade({ market, trade }: MarketTrade): Record<string, unknown> {
  const { yesPrice, takerSide } = trade;
  return {
    trade_id: kalshiTradeId(trade),
    ticker: kalshiTicker(market),
    count_fp: formatContracts(trade.size),
    yes_price_dollars: formatDollars(yesPrice),
    no_price_dollars: formatDollars(toOppositePrice(yesPrice)),
    taker_side: takerSide,
    taker_outcome_side: takerSide,
    taker_book_side: takerSide === "yes" ? "bid" : "ask",
    created_time: toIso(trade.at),
    is_block_trade: false,
  };
}
