import type { HistoryPoint } from "../domain/trade.ts";
import { DAY_MS, FIVE_MINUTES_MS, type HistoryPeriod, HOUR_MS } from "./model.ts";

export const PERIOD_MS: Readonly<Record<HistoryPeriod, number>> = {
  "48h": 48 * HOUR_MS,
  "7d": 7 * DAY_MS,
  "30d": 30 * DAY_MS,
};

/** Interval lengths in ascending order. The last two are for 30 days in fewer than 30 points. */
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
 * The grid for a period that ends now. It uses the smallest interval that needs at most `maxPoints` bins. Bins start at
 * whole multiples of the interval since the epoch, and the last bin contains `now` or ends at it.
 *
 * @throws RangeError if `maxPoints` is below 10
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
 * Resamples points of any length to a grid, oldest bin first.
 *
 * - Price: that of the last sample that ended at or before the end of the bin. Bins without a sample repeat the previous
 *   price. Bins before the first known price are omitted.
 * - Bid and ask: those of the last sample that ended inside the bin, else null. Quotes are not carried forward.
 * - Volume: the sum over the samples inside the bin; null if there are none, if one has an unknown volume, or if a sample
 *   crosses a boundary of the bin.
 *
 * @param samples        prices in any order; may start before the grid
 * @param volumeSamples  samples used for the volume; must not overlap
 */
export function binHistory(
  grid: Grid,
  samples: readonly HistoryPoint[],
  volumeSamples: readonly HistoryPoint[] = samples,
): HistoryPoint[] {
  const byEnd = samples.filter((sample) => sample.yesPrice !== null).sort((a, b) => a.endAt - b.endAt);
  const inside = new Map<number, HistoryPoint[]>();
  const partlyCovered = new Set<number>();
  for (const sample of volumeSamples) {
    const first = Math.floor((sample.startAt - grid.fromMs) / grid.intervalMs);
    const last = Math.ceil((sample.endAt - grid.fromMs) / grid.intervalMs) - 1;
    if (last < 0 || first >= grid.count) continue;
    if (first === last) inside.set(first, [...(inside.get(first) ?? []), sample]);
    else for (let bin = Math.max(0, first); bin <= Math.min(last, grid.count - 1); bin++) partlyCovered.add(bin);
  }
  const points: HistoryPoint[] = [];
  let next = 0;
  let latest: HistoryPoint | null = null;
  for (let bin = 0; bin < grid.count; bin++) {
    const startAt = grid.fromMs + bin * grid.intervalMs;
    const endAt = startAt + grid.intervalMs;
    for (let sample = byEnd[next]; sample !== undefined && sample.endAt <= endAt; sample = byEnd[++next])
      latest = sample;
    if (latest === null) continue;
    const endsInBin = latest.endAt > startAt;
    points.push({
      startAt,
      endAt,
      yesPrice: latest.yesPrice,
      bid: endsInBin ? latest.bid : null,
      ask: endsInBin ? latest.ask : null,
      volumeUsd: partlyCovered.has(bin) ? null : volumeOf(inside.get(bin) ?? []),
    });
  }
  return points;
}
