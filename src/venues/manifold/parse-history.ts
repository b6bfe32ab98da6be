import { parseTradablePrice } from "../../domain/price.ts";
import type { HistoryPoint } from "../../domain/trade.ts";
import type { HistoryRange } from "../../ports/venue.ts";
import type { ManifoldContext } from "./client.ts";
import { parseTime } from "./parse-values.ts";
import { isBetPoint } from "./wire.ts";

/** The YES probability before and after a bet or a redemption. */
export interface PricePoint {
  readonly at: number;
  /** Null if unknown. */
  readonly before: number | null;
  readonly price: number;
}

/** Parses bets or bet points and sorts them oldest first. Invalid rows are counted. */
export function parsePricePoints(
  rows: readonly unknown[],
  answerId: string | null,
  { countDrop, driftDetectors }: Pick<ManifoldContext, "countDrop" | "driftDetectors">,
): PricePoint[] {
  const points: PricePoint[] = [];
  for (const row of driftDetectors.bet_point.filter(rows, isBetPoint, () => countDrop("bad_bet"))) {
    if (answerId !== null && row.answerId !== undefined && row.answerId !== null && row.answerId !== answerId) continue;
    const at = parseTime(row.createdTime);
    const price = parseTradablePrice(row.probAfter);
    if (at === null || price === null) countDrop("price_out_of_range");
    else points.push({ at, before: parseTradablePrice(row.probBefore), price });
  }
  return points.sort((a, b) => a.at - b.at);
}

/** Returns the points that change the price. The others are unfilled limit orders and conversions of shares. */
export function priceChanges(points: readonly PricePoint[]): PricePoint[] {
  return points.filter(({ before, price }) => before !== price);
}

/**
 * Returns the price at the end of each interval in the range. Intervals are aligned to multiples of `intervalMs`.
 * Intervals before the first point have the price before that point, if known. Returns at most the latest `pointsMax`
 * intervals.
 */
export function binPrices(points: readonly PricePoint[], range: HistoryRange, pointsMax: number): HistoryPoint[] {
  const { intervalMs } = range;
  const lastEnd = Math.floor(range.toMs / intervalMs) * intervalMs;
  const firstStart = Math.max(Math.ceil(range.fromMs / intervalMs) * intervalMs, lastEnd - pointsMax * intervalMs);
  const bins: HistoryPoint[] = [];
  let price = points[0]?.before ?? null;
  let next = 0;
  for (let startAt = firstStart; startAt + intervalMs <= lastEnd; startAt += intervalMs) {
    const endAt = startAt + intervalMs;
    for (let point = points[next]; point !== undefined && point.at < endAt; point = points[++next]) price = point.price;
    if (price !== null) bins.push({ startAt, endAt, yesPrice: price, bid: null, ask: null, volumeUsd: null });
  }
  return bins;
}
