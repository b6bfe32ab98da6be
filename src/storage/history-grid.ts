import type { HistoryPoint } from "../domain/trade.ts";
import { DAY_MS, FIVE_MINUTES_MS, type HistoryPeriod, HOUR_MS } from "./model.ts";

export const PERIOD_MS: Readonly<Record<HistoryPeriod, number>> = {
  "48h": 48 * HOUR_MS,
  "7d": 7 * DAY_MS,
  "30d": 30 * DAY_MS,
};

/** Steps a reader can name. The last two serve 30 days in fewer than 30 points. */
const INTERVALS_MS: readonly number[] = [
  ...[1, 2, 3, 6].map((count) => count * FIVE_MINUTES_MS),
  ...[1, 2, 3, 4, 6, 8, 12, 24, 48, 72].map((count) => count * HOUR_MS),
];

/** Bins [fromMs + i * intervalMs, fromMs + (i + 1) * intervalMs) for i in [0, count). */
export interface Grid {
  readonly fromMs: number;
  readonly intervalMs: number;
  readonly count: number;
}

/**
 * The grid for a period that ends now: the smallest named interval that needs at most `maxPoints` bins, bins at whole
 * multiples of it since the epoch, the last one the bin that `now` lies in (or ends with).
 *
 * @throws RangeError when `maxPoints` is below 10, fewer than any named interval can serve
 */
export function historyGrid(period: HistoryPeriod, maxPoints: number, now: number): Grid {
  const periodMs = PERIOD_MS[period];
  const intervalMs = INTERVALS_MS.find((interval) => periodMs / interval <= maxPoints);
  if (intervalMs === undefined || maxPoints < 10) throw new RangeError(`maxPoints must be at least 10: ${maxPoints}`);
  const count = Math.floor(periodMs / intervalMs);
  return { fromMs: (Math.ceil(now / intervalMs) - count) * intervalMs, intervalMs, count };
}

const volumeOf = (samples: readonly HistoryPoint[]): number | null => {
  let sum = 0;
  for (const { volumeUsd } of samples) {
    if (volumeUsd === null) return null;
    sum += volumeUsd;
  }
  return samples.length === 0 ? null : sum;
};

/**
 * Samples of any length put on a grid, oldest bin first.
 *
 * A bin's price is that of the last sample that ended at or before the bin's end; bins before the first known price are
 * left out, bins without a sample carry the price forward. Bid and ask are those of the bin's own last sample, null
 * where it has none: a quote is not carried into a time nobody looked at. Volume is the sum of the samples inside the
 * bin, null when there is none, when one of them does not know it, or when one reaches over the bin's edge.
 *
 * @param samples        prices, in any order, also from before the grid
 * @param volumeSamples  where volume is taken from; intervals that do not overlap
 */
export function binHistory(
  grid: Grid,
  samples: readonly HistoryPoint[],
  volumeSamples: readonly HistoryPoint[] = samples,
): HistoryPoint[] {
  const byEnd = samples.filter((sample) => sample.yesPrice !== null).sort((a, b) => a.endAt - b.endAt);
  const inside = new Map<number, HistoryPoint[]>();
  const torn = new Set<number>();
  for (const sample of volumeSamples) {
    const first = Math.floor((sample.startAt - grid.fromMs) / grid.intervalMs);
    const last = Math.ceil((sample.endAt - grid.fromMs) / grid.intervalMs) - 1;
    if (last < 0 || first >= grid.count) continue;
    if (first === last) inside.set(first, [...(inside.get(first) ?? []), sample]);
    else for (let bin = Math.max(0, first); bin <= Math.min(last, grid.count - 1); bin++) torn.add(bin);
  }
  const points: HistoryPoint[] = [];
  let next = 0;
  let known: HistoryPoint | null = null;
  for (let bin = 0; bin < grid.count; bin++) {
    const startAt = grid.fromMs + bin * grid.intervalMs;
    const endAt = startAt + grid.intervalMs;
    for (let sample = byEnd[next]; sample !== undefined && sample.endAt <= endAt; sample = byEnd[++next])
      known = sample;
    if (known === null) continue;
    const isOwn = known.endAt > startAt;
    points.push({
      startAt,
      endAt,
      yesPrice: known.yesPrice,
      bid: isOwn ? known.bid : null,
      ask: isOwn ? known.ask : null,
      volumeUsd: torn.has(bin) ? null : volumeOf(inside.get(bin) ?? []),
    });
  }
  return points;
}
