import type { MarketListing } from "../../domain/market.ts";
import type { Trade } from "../../domain/trade.ts";
import { BET_ROWS_MAX, type ManifoldContext } from "./client.ts";
import { keyOf, queryOf } from "./ids.ts";
import { parseTrade } from "./parse-trades.ts";
import { isBet } from "./wire.ts";

const PAGES_MAX = 10;

/** Returns trades at or after `sinceMs`, newest first, at most `limit`. */
export async function listTrades(
  { client, countDrop, driftDetectors }: ManifoldContext,
  listing: MarketListing,
  sinceMs: number,
  limit: number,
  signal: AbortSignal,
): Promise<readonly Trade[]> {
  const key = keyOf(listing);
  const tradesById = new Map<string, Trade>();
  let beforeTime: number | undefined;
  for (let page = 0; page < PAGES_MAX && tradesById.size < limit; page++) {
    // `afterTime` and `beforeTime` are exclusive.
    const query = { ...queryOf(key), afterTime: sinceMs - 1, beforeTime, limit: BET_ROWS_MAX };
    const { rows } = await client.listBets(query, signal);
    let oldestAt: number | null = null;
    for (const row of rows) {
      if (!driftDetectors.bet.check(row, isBet) || row.contractId !== key.contractId) {
        countDrop("bad_bet");
        continue;
      }
      oldestAt = Math.min(oldestAt ?? row.createdTime, row.createdTime);
      if (key.answerId !== null && row.answerId !== key.answerId) continue;
      const trade = parseTrade(row, countDrop);
      if (trade !== null && trade.executedAt >= sinceMs) tradesById.set(trade.tradeId, trade);
    }
    if (rows.length < BET_ROWS_MAX || oldestAt === null) break;
    // The next page includes the oldest millisecond again, because it may contain more bets of that millisecond.
    if (beforeTime !== undefined && oldestAt + 1 >= beforeTime) {
      countDrop("page_loop");
      break;
    }
    beforeTime = oldestAt + 1;
  }
  return [...tradesById.values()].sort((a, b) => b.executedAt - a.executedAt).slice(0, limit);
}
