import type { MarketListing } from "../../domain/market.ts";
import type { HistoryPoint } from "../../domain/trade.ts";
import type { HistoryRange } from "../../ports/venue.ts";
import type { ManifoldContext } from "./client.ts";
import { keyOf, queryOf } from "./ids.ts";
import { binPrices, parsePricePoints, priceChanges } from "./parse-history.ts";

const BET_POINTS_MAX = 50_000;
/** Number of rows requested to find the last price change before a range. Most rows change the price. */
const PRECEDING_ROWS_MAX = 100;
const HISTORY_POINTS_MAX = 10_000;

/**
 * Returns YES prices per interval, oldest first. If the price does not change in the range, uses the price after the
 * last change before it.
 */
export async function getHistory(
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
  let points = priceChanges(parsePricePoints(rows, key.answerId, context));
  if (points.length === 0) {
    const query = { ...queryOf(key), beforeTime: fromMs, limit: PRECEDING_ROWS_MAX };
    const preceding = await client.listPriceChanges(query, signal);
    const precedingPoints = parsePricePoints(preceding.rows, key.answerId, context);
    points = priceChanges(precedingPoints);
    if (points.length === 0) points = precedingPoints;
  }
  return binPrices(points, range, HISTORY_POINTS_MAX);
}
