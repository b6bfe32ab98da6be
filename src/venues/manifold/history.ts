import type { MarketListing } from "../../domain/market.ts";
import type { HistoryPoint } from "../../domain/trade.ts";
import type { ManifoldContext } from "./client.ts";
import { keyOf, queryOf } from "./ids.ts";
import { binPrices, type HistoryRange, parsePricePoints } from "./parse-history.ts";

const BET_POINTS_MAX = 50_000;
const HISTORY_POINTS_MAX = 10_000;

/**
 * Returns YES prices per interval, oldest first. If the range contains no bet, uses the price after the last bet before
 * it.
 */
export async function fetchHistory(
  context: ManifoldContext,
  listing: MarketListing,
  range: HistoryRange,
  signal: AbortSignal,
): Promise<readonly HistoryPoint[]> {
  const { client } = context;
  const { fromMs, toMs } = range;
  const key = keyOf(listing);
  const { rows } = await client.listBetPoints(
    { ...queryOf(key), afterTime: fromMs - 1, beforeTime: toMs, limit: BET_POINTS_MAX },
    signal,
  );
  let points = parsePricePoints(rows, key.answerId, context);
  if (points.length === 0) {
    const precedingBets = await client.listBets({ ...queryOf(key), beforeTime: fromMs, limit: 1 }, signal);
    points = parsePricePoints(precedingBets.rows, key.answerId, context);
  }
  return binPrices(points, range, HISTORY_POINTS_MAX);
}
