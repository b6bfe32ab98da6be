import type { ListedMarket, WorldTrade } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { readTradeWindows } from "../trade-windows.ts";
import { limitlessTokens, transactionHashOf } from "./ids.ts";
import { roundTo6Decimals, toRawUnits } from "./units.ts";

/** Reads the trades of a market page by page, newest first, and caches their total count. */
export function createTradeReader({ world }: ExchangeContext) {
  /** Number of trades before `until`, by market index. */
  const counts = new Map<number, { until: number; count: number }>();
  return {
    /** Returns the number of trades up to and including `now`. */
    count(market: ListedMarket, now: number): number {
      const cached = counts.get(market.index) ?? { until: market.openAt, count: 0 };
      if (now >= cached.until) {
        cached.count += world.trades(market, cached.until, now + 1).length;
        cached.until = now + 1;
        counts.set(market.index, cached);
      }
      return cached.count;
    },
    /** Returns at most `limit` trades up to `now`, newest first, without the newest `offset` trades. */
    readPage(market: ListedMarket, now: number, offset: number, limit: number): WorldTrade[] {
      const trades: WorldTrade[] = [];
      for (const window of readTradeWindows(world, market, { from: market.openAt, to: now + 1 })) {
        trades.push(...window.toReversed());
        if (trades.length >= offset + limit) break;
      }
      return trades.slice(offset, offset + limit);
    },
  };
}

/**
 * Returns the token, direction and price of a trade from the taker's side. Half of the trades are reported as trades of
 * the NO token, with 1 - price and the opposite direction.
 */
function viewFromTaker(trade: WorldTrade, txHash: string): { isNo: boolean; isBuy: boolean; price: number } {
  const isNo = Number.parseInt(txHash.slice(-1), 16) % 2 === 1;
  return {
    isNo,
    isBuy: (trade.takerSide === "no") === isNo,
    price: isNo ? roundTo6Decimals(1 - trade.yesPrice) : trade.yesPrice,
  };
}

/** Presents a row of `/events`: sizes are integers with six implied decimals, side is 0 = BUY or 1 = SELL. */
export function presentTrade(market: ListedMarket, trade: WorldTrade): Record<string, unknown> {
  const txHash = transactionHashOf(trade.id);
  const { isNo, isBuy, price } = viewFromTaker(trade, txHash);
  const tokens = limitlessTokens(market);
  return {
    createdAt: new Date(trade.at).toISOString(),
    price,
    side: isBuy ? 0 : 1,
    matchedSize: toRawUnits(trade.size),
    tokenId: isNo ? tokens.no : tokens.yes,
    txHash,
    profile: { account: transactionHashOf(`account:${trade.taker}`).slice(0, 42) },
  };
}

/** Presents a row of `/get-feed-events`: amounts are decimal strings. */
export function presentFeedEvent(trade: WorldTrade): Record<string, unknown> {
  const txHash = transactionHashOf(trade.id);
  const { isNo, isBuy, price } = viewFromTaker(trade, txHash);
  return {
    id: Number.parseInt(txHash.slice(2, 12), 16),
    eventType: "NEW_TRADE",
    createdAt: new Date(trade.at).toISOString(),
    data: {
      txHash,
      outcome: isNo ? "NO" : "YES",
      strategy: isBuy ? "Buy" : "Sell",
      contracts: (Number(toRawUnits(trade.size)) / 1e6).toFixed(6),
      tradeAmountUSD: (Number(toRawUnits(trade.size * price)) / 1e6).toFixed(6),
    },
  };
}
