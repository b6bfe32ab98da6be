import type { HistoryPoint } from "../domain/trade.ts";
import { toCents } from "../domain/usd.ts";
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import type { HistoryRange } from "../ports/venue.ts";
import { type Candle, FIVE_MINUTES_MS, type HistoryPeriod } from "./model.ts";

export const PERIOD_MS: Readonly<Record<HistoryPeriod, number>> = {
  "48h": 48 * HOUR_MS,
  "7d": 7 * DAY_MS,
  "30d": 30 * DAY_MS,
};

/** Interval lengths in ascending order. The last two are needed for 30 days in fewer than 30 points. */
const INTERVALS_MS: readonly number[] = [
  ...[1, 2, 3, 6].map((count) => count * FIVE_MINUTES_MS),
  ...[1, 2, 3, 4, 6, 8, 12, 24, 48, 72].map((count) => count * HOUR_MS),
];

/** `count` adjacent bins of `intervalMs` milliseconds; the first starts at `fromMs`, Unix milliseconds. */
export interface HistoryGrid {
  readonly fromMs: number;
  readonly intervalMs: number;
  readonly count: number;
}

/**
 * Returns the grid for a period that ends now, with the smallest interval that needs at most `maxPoints` bins. Bins
 * start at multiples of the interval since the epoch, and the last bin contains `now` or ends at `now`.
 *
 * @throws RangeError if `maxPoints` is below 10
 */
export function createHistoryGrid(period: HistoryPeriod, maxPoints: number, now: number): HistoryGrid {
  const periodMs = PERIOD_MS[period];
  const intervalMs = INTERVALS_MS.find((interval) => periodMs / interval <= maxPoints);
  if (intervalMs === undefined || maxPoints < 10) throw new RangeError(`maxPoints must be at least 10: ${maxPoints}`);
  const count = Math.floor(periodMs / intervalMs);
  return { fromMs: (Math.ceil(now / intervalMs) - count) * intervalMs, intervalMs, count };
}

export function createRangeGrid({ fromMs, toMs, intervalMs }: HistoryRange): HistoryGrid {
  return { fromMs, intervalMs, count: Math.max(0, Math.ceil((toMs - fromMs) / intervalMs)) };
}

/** Prices of an interval. If only the closing price is known, the other prices are absent or null. */
export interface PriceSample extends HistoryPoint {
  readonly open?: number | null;
  readonly high?: number | null;
  readonly low?: number | null;
}

const sumVolumes = (samples: readonly HistoryPoint[]): number | null => {
  let sum = 0;
  for (const { volumeUsd } of samples) {
    if (volumeUsd === null) return null;
    sum += volumeUsd;
  }
  return samples.length === 0 ? null : toCents(sum);
};

/**
 * Resamples points of any length to a grid, oldest bin first.
 *
 * - Price: price of the last sample that ended at or before the end of the bin. Bins without a sample therefore repeat
 *   the previous price. Bins before the first known price are omitted.
 * - Open: first price observed in the bin, or the previous close if there is none. High and low: extremes of open,
 *   close and the prices observed in the bin. A sample that starts before the bin contributes only its last price,
 *   because its other prices may be older than the bin.
 * - Bid and ask: values of the last sample that ended inside the bin, or null if there is none.
 * - Volume: sum over the samples inside the bin; null if there is no sample, if a sample's volume is unknown, or if a
 *   sample crosses a boundary of the bin.
 *
 * @param samples        prices in any order; may start before the grid
 * @param volumeSamples  samples used for the volume; must not overlap
 */
export function binHistory(
  grid: HistoryGrid,
  samples: readonly PriceSample[],
  volumeSamples: readonly HistoryPoint[] = samples,
): Candle[] {
  const samplesByEnd = samples.filter(isPriced).sort((a, b) => a.endAt - b.endAt);
  const samplesByBin = new Map<number, HistoryPoint[]>();
  const partlyCoveredBins = new Set<number>();
  for (const sample of volumeSamples) {
    const firstBin = Math.floor((sample.startAt - grid.fromMs) / grid.intervalMs);
    const lastBin = Math.ceil((sample.endAt - grid.fromMs) / grid.intervalMs) - 1;
    if (lastBin < 0 || firstBin >= grid.count) continue;
    if (firstBin === lastBin) samplesByBin.set(firstBin, [...(samplesByBin.get(firstBin) ?? []), sample]);
    else
      for (let bin = Math.max(0, firstBin); bin <= Math.min(lastBin, grid.count - 1); bin++) partlyCoveredBins.add(bin);
  }
  const points: Candle[] = [];
  let nextIndex = 0;
  let latestSample: PricedSample | null = null;
  for (let bin = 0; bin < grid.count; bin++) {
    const startAt = grid.fromMs + bin * grid.intervalMs;
    const endAt = startAt + grid.intervalMs;
    const firstIndex = nextIndex;
    for (
      let sample = samplesByEnd[nextIndex];
      sample !== undefined && sample.endAt <= endAt;
      sample = samplesByEnd[++nextIndex]
    )
      latestSample = sample;
    if (latestSample === null) continue;
    const endsInBin = latestSample.endAt > startAt;
    const observed = samplesByEnd.slice(firstIndex, nextIndex).filter((sample) => sample.endAt > startAt);
    points.push({
      startAt,
      endAt,
      yesPrice: latestSample.yesPrice,
      ...openHighLow(observed, startAt, latestSample.yesPrice),
      bid: endsInBin ? latestSample.bid : null,
      ask: endsInBin ? latestSample.ask : null,
      volumeUsd: partlyCoveredBins.has(bin) ? null : sumVolumes(samplesByBin.get(bin) ?? []),
    });
  }
  return points;
}

type PricedSample = PriceSample & { readonly yesPrice: number };

const isPriced = (sample: PriceSample): sample is PricedSample => sample.yesPrice !== null;

/** @param observed  the samples that end in the bin, oldest first; without any, the close is the previous close */
function openHighLow(
  observed: readonly PricedSample[],
  binStartAt: number,
  close: number,
): Pick<Candle, "open" | "high" | "low"> {
  let open: number | null = null;
  let high = close;
  let low = close;
  for (const sample of observed) {
    const isInside = sample.startAt >= binStartAt;
    const price = (value: number | null | undefined) => (isInside ? (value ?? sample.yesPrice) : sample.yesPrice);
    open ??= price(sample.open);
    high = Math.max(high, price(sample.high));
    low = Math.min(low, price(sample.low));
  }
  open ??= close;
  return { open, high: Math.max(high, open), low: Math.min(low, open) };
}
