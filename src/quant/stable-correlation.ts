import { clamp } from "../lib/numbers.ts";
import { type PairCorrelation, pairCorrelations } from "./correlation.ts";
import type { LogOddsMoves } from "./price-grid.ts";

/** Default horizons, in steps of an hourly grid. */
export const HOURLY_HORIZONS: readonly number[] = [1, 4, 8, 24];

/** A longer horizon is used if its estimate differs by more than this number of standard errors. */
const ERRORS_MIN = 2.5;
/**
 * Minimum number of independent moves at a horizon. 2.5 standard errors are then at most 0.83 in Fisher's z, so a
 * random difference does not give a coefficient of 0.7.
 */
const INDEPENDENT_MOVES_MIN = 12;
/** Autocorrelation at lag 1 of half-overlapping moves of a random walk. */
const OVERLAP_CORRELATION = 0.5;
/** Coefficients are limited to this, because Fisher's transform is infinite at 1. */
const CORRELATION_MAX = 1 - 1e-12;

export interface StableCorrelation extends PairCorrelation {
  /** Length of the compared moves, in steps. */
  readonly horizon: number;
  /** Number of independent moves that would give the same standard error; null without a coefficient. */
  readonly effectivePoints: number | null;
}

/**
 * Correlations of all pairs of series at the shortest horizon at which the estimate is stable. Stale quotes and bid-ask
 * bounce hide the correlation of short moves: one question on two venues can have a correlation of 0.05 over an hour
 * and 0.98 over a day.
 *
 * The moves over h steps overlap by half. Their standard error follows Bartlett (1946), with the autocorrelations at
 * lag 1, which are at least the autocorrelations of random walks: var(z) = 1 / (m - 3), m = n / (1 + 2 ρx(1) ρy(1)),
 * for Fisher's z = atanh(r). A horizon is skipped if the estimate of a longer horizon differs by more than 2.5 standard
 * errors of the difference. The variance of the difference is the variance at the longer horizon minus the variance at
 * the shorter horizon, because the shorter horizon is efficient if it is unbiased (Hausman 1978).
 *
 * A pair has a coefficient if and only if `pairCorrelations` returns a coefficient for the pair.
 *
 * @param series  moves on one common grid
 * @param horizons  in steps, increasing from 1
 * @returns  pairs in the order (0,1), (0,2), …, (1,2), …
 * @throws RangeError when the series differ in length or the horizons are not as described
 * @see Epps (1979), "Comovements in stock prices in the very short run"; Newey & West (1987) on overlapping moves
 */
export function stableCorrelations(
  series: readonly LogOddsMoves[],
  horizons: readonly number[] = HOURLY_HORIZONS,
): StableCorrelation[] {
  if (horizons[0] !== 1 || horizons.some((horizon, index) => !(horizon > (horizons[index - 1] ?? 0))))
    throw new RangeError(`horizons must increase from 1, not ${horizons.join(", ")}`);
  const levels = horizons.map((horizon) => {
    const moves = series.map((each) => overlappingMoves(each, horizon));
    return { horizon, pairs: pairCorrelations(moves, horizon === 1 ? undefined : 1), lags: moves.map(lagCorrelation) };
  });
  const [first] = levels;
  return (first?.pairs ?? []).map(({ a, b, correlation, dataPoints }, index): StableCorrelation => {
    if (correlation === null) return { a, b, correlation, dataPoints, horizon: 1, effectivePoints: null };
    const estimates: Estimate[] = [];
    for (const { horizon, pairs, lags } of levels) {
      const pair = pairs[index];
      if (pair === undefined || pair.correlation === null) continue;
      const overlap = horizon === 1 ? 0 : OVERLAP_CORRELATION ** 2;
      const effectivePoints = pair.dataPoints / (1 + 2 * Math.max(overlap, (lags[a] ?? 0) * (lags[b] ?? 0)));
      if (horizon === 1 || effectivePoints >= INDEPENDENT_MOVES_MIN)
        estimates.push({ horizon, correlation: pair.correlation, effectivePoints });
    }
    const stable = estimates.find((estimate, level) => isStable(estimate, estimates, level + 1)) ?? {
      horizon: 1,
      correlation,
      effectivePoints: dataPoints,
    };
    const { horizon, effectivePoints } = stable;
    return { a, b, correlation: stable.correlation, dataPoints, horizon, effectivePoints };
  });
}

function isStable(estimate: Estimate, estimates: readonly Estimate[], from: number): boolean {
  for (let level = from; level < estimates.length; level++) {
    const longer = estimates[level];
    if (longer !== undefined && !isClose(estimate, longer)) return false;
  }
  return true;
}

interface Estimate {
  readonly horizon: number;
  readonly correlation: number;
  readonly effectivePoints: number;
}

function isClose(short: Estimate, long: Estimate): boolean {
  const variance = varianceOf(long) - varianceOf(short);
  // Without a variance the difference cannot be tested, so the shorter horizon is kept.
  if (!(variance > 0)) return true;
  return Math.abs(fisher(long.correlation) - fisher(short.correlation)) <= ERRORS_MIN * Math.sqrt(variance);
}

const varianceOf = ({ effectivePoints }: Estimate): number => 1 / Math.max(1, effectivePoints - 3);
const fisher = (correlation: number): number => Math.atanh(clamp(correlation, -CORRELATION_MAX, CORRELATION_MAX));

/** Moves over `horizon` steps that start every half horizon. A move is known if all its steps are. */
function overlappingMoves(moves: LogOddsMoves, horizon: number): LogOddsMoves {
  if (horizon === 1) return moves;
  const { values, first } = moves;
  const stride = Math.max(1, Math.floor(horizon / 2));
  const count = Math.max(0, Math.floor((values.length - horizon) / stride) + 1);
  const firstLong = Math.min(count, Math.ceil(first / stride));
  const long = new Float64Array(count);
  for (let index = firstLong; index < count; index++) {
    let sum = 0;
    for (let step = index * stride; step < index * stride + horizon; step++) sum += values[step] as number;
    long[index] = sum;
  }
  return { values: long, first: firstLong };
}

/** Correlation of successive known moves; 0 if they do not vary. */
function lagCorrelation({ values, first }: LogOddsMoves): number {
  const known = values.subarray(first);
  const mean = known.reduce((sum, value) => sum + value, 0) / Math.max(1, known.length);
  let squares = 0;
  let products = 0;
  for (const [index, value] of known.entries()) {
    squares += (value - mean) ** 2;
    if (index > 0) products += (value - mean) * ((known[index - 1] as number) - mean);
  }
  return squares > 0 ? products / squares : 0;
}
