import { toIso } from "../../../src/lib/dates/iso-time.ts";
import type { ListedMarket, World, WorldTrade } from "../../world/types.ts";
import { readTradeWindows } from "../trade-windows.ts";
import { kalshiTicker, kalshiTradeId } from "./ids.ts";
import { formatContracts, formatDollars } from "./market-json.ts";

/** Position of the last trade of a page. */
interface TradePosition {
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
  market: ListedMarket,
  range: { readonly from: number; readonly to: number },
  limit: number,
  position: TradePosition | null,
): WorldTrade[] {
  const found: WorldTrade[] = [];
  let skip = position?.skip ?? 0;
  const to = position === null ? range.to : Math.min(range.to, position.at + 1);
  for (const trades of readTradeWindows(world, market, { from: range.from, to })) {
    for (const trade of trades.toReversed().sort((a, b) => b.at - a.at)) {
      if (skip > 0 && trade.at === position?.at) skip -= 1;
      else if (found.length < limit) found.push(trade);
    }
    if (found.length >= limit) break;
  }
  return found;
}

/** REST representation of a trade. */
export function presentTrade(market: ListedMarket, trade: WorldTrade): Record<string, unknown> {
  return {
    trade_id: kalshiTradeId(trade),
    ticker: kalshiTicker(market),
    count_fp: formatContracts(trade.size),
    yes_price_dollars: formatDollars(trade.yesPrice),
    taker_outcome_side: trade.takerSide,
    created_time: toIso(trade.at),
    is_block_trade: false,
  };
}
