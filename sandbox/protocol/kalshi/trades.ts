import { toIso } from "../../../src/lib/dates/iso-time.ts";
import type { ListedMarket, World, WorldTrade } from "../../world/types.ts";
import { kalshiTicker, kalshiTradeId } from "./ids.ts";
import { formatContracts, formatDollars } from "./market-json.ts";

/** Length of the first time window. Trades are read backwards in windows that double in length. */
const FIRST_WINDOW_MS = 10 * 60_000;

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
  const from = Math.max(range.from, market.openAt);
  let skip = position?.skip ?? 0;
  let to = position === null ? range.to : Math.min(range.to, position.at + 1);
  for (let windowMs = FIRST_WINDOW_MS; to > from && found.length < limit; windowMs *= 2) {
    const windowStart = Math.max(from, to - windowMs);
    const trades = [...world.trades(market, windowStart, to)].reverse().sort((a, b) => b.at - a.at);
    for (const trade of trades) {
      if (skip > 0 && trade.at === position?.at) skip -= 1;
      else if (found.length < limit) found.push(trade);
    }
    to = windowStart;
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
