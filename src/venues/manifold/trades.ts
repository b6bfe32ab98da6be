import type { MarketListing } from "../../domain/market.ts";
import type { Trade } from "../../domain/trade.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { BET_ROWS_MAX, type BetQuery, type ManifoldContext, type RowsResponse } from "./client.ts";
import { keyOf, queryOf } from "./ids.ts";
import { parseTrade } from "./parse-trades.ts";
import { type BetWire, isBet } from "./wire.ts";

const PAGES_MAX = 10;
/** Maximum number of pages of bets that are read after the stream was disconnected. */
const MISSED_PAGES_MAX = 5;

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
  // `afterTime` and `beforeTime` are exclusive.
  const fetchPage = (page: BetPage) => client.listBets({ ...queryOf(key), afterTime: sinceMs - 1, ...page }, signal);
  for await (const { rows } of pageBets(fetchPage, PAGES_MAX, countDrop)) {
    const isOfContract = (row: unknown): row is BetWire => isBet(row) && row.contractId === key.contractId;
    for (const row of driftDetectors.bet.filter(rows, isOfContract, () => countDrop("bad_bet"))) {
      if (key.answerId !== null && row.answerId !== key.answerId) continue;
      const trade = parseTrade(row, countDrop);
      if (trade !== null && trade.executedAt >= sinceMs) tradesById.set(trade.tradeId, trade);
    }
    if (tradesById.size >= limit) break;
  }
  return [...tradesById.values()].sort((a, b) => b.executedAt - a.executedAt).slice(0, limit);
}

/**
 * Returns the bets of all contracts after a time, newest first, including rows that record the price changes of other
 * answers. Rows with equal times may be repeated.
 */
export async function listMissedBets(
  { client, countDrop }: Pick<ManifoldContext, "client" | "countDrop">,
  afterTime: number,
  signal: AbortSignal,
): Promise<Pick<RowsResponse, "rows" | "receivedAt">> {
  const fetchPage = (page: BetPage) => client.listPriceChanges({ afterTime, ...page }, signal);
  const rows: unknown[] = [];
  let receivedAt = 0;
  for await (const page of pageBets(fetchPage, MISSED_PAGES_MAX, countDrop)) {
    rows.push(...page.rows);
    ({ receivedAt } = page);
  }
  return { rows, receivedAt };
}

type BetPage = Pick<BetQuery, "beforeTime" | "limit">;

/** Yields pages of bets, newest first, until a page is not full or the maximum number of pages is reached. */
async function* pageBets(
  fetchPage: (page: BetPage) => Promise<RowsResponse>,
  pagesMax: number,
  countDrop: DropCounter,
): AsyncGenerator<RowsResponse> {
  let beforeTime: number | undefined;
  for (let page = 0; page < pagesMax; page++) {
    const response = await fetchPage({ beforeTime, limit: BET_ROWS_MAX });
    yield response;
    const oldestAt = response.rows.reduce(
      (oldest: number, row) => (isBet(row) ? Math.min(oldest, row.createdTime) : oldest),
      Number.POSITIVE_INFINITY,
    );
    if (response.rows.length < BET_ROWS_MAX || oldestAt === Number.POSITIVE_INFINITY) return;
    // The next page includes the oldest millisecond again, because it may contain more bets of that millisecond.
    if (beforeTime !== undefined && oldestAt + 1 >= beforeTime) return countDrop("page_loop");
    beforeTime = oldestAt + 1;
  }
}
