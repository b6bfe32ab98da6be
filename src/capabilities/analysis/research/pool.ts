import { clamp, sigmoid, sumOf } from "../../../lib/numbers.ts";

/**
 * Pools independent trials in log-odds.
 *
 * Trial t starts from its blind log-odds b_t and adds the effect e_tk of each source k:
 *
 *     L_t = b_t + Σ_k clamp(e_tk, -c_k, c_k)        L = L_0 + α (trimmed mean of L_t - L_0)
 *
 * The bound c_k of a source depends only on the other sources: c_k = B (1 + G s_k), where s_k is the number of other
 * sources whose mean effect has the same direction, each counted in proportion up to an effect of B. A trimmed mean
 * changes by at most the largest change of its arguments, so one source, whatever it contains, changes L by at most α
 * c_k: by at most α B if no other source agrees with it. A source that agrees with others also raises their bounds, by
 * B G each.
 *
 * α < 1 shrinks the pool towards the prior L_0: trials of one model share its errors (Satopää et al. 2014; Baron et al.
 * 2014 would extremise forecasters who have different information). α, B and G are chosen, not fitted yet.
 */
export const POOL_COEFFICIENTS = {
  /** α, in (0, 1]. */
  shrinkage: 0.9,
  /** L_0, in log-odds. */
  priorLogOdds: 0,
  /** B, in log-odds. */
  loneSourceEffect: 0.08,
  /** G, at least 0. */
  corroboration: 0.15,
  /** Number of trials that the trimmed mean omits at each end. */
  trimmed: 1,
  /** Standard error of the log-odds without any disagreement. */
  standardErrorMin: 0.3,
};
export type PoolCoefficients = Readonly<typeof POOL_COEFFICIENTS>;

/** If one source changes the unbounded probability by more than this, the outcome reports the source. */
export const INFLUENCE_MAX = 0.15;
const PROBABILITY_MIN = 0.01;

export interface TrialEffects {
  /** Log-odds before any document. */
  readonly blind: number;
  /** Effect of each source on the log-odds; null if the trial did not read it. */
  readonly effects: readonly (number | null)[];
}

export interface PooledEstimate {
  /** In [0.01, 0.99]. */
  readonly probability: number;
  /** Standard error of the log-odds. */
  readonly standardError: number;
  /** Each trial's probability. */
  readonly trials: readonly number[];
  /** Mean bounded effect of each source on the log-odds, after shrinkage. */
  readonly sourceEffects: readonly number[];
  /** The source whose removal changes the unbounded estimate most; null without sources. */
  readonly mostInfluential: {
    readonly source: number;
    /** Absolute change of the probability if effects are not bounded. */
    readonly unboundedMove: number;
    /** Absolute change of the published probability. */
    readonly move: number;
  } | null;
}

const mean = (values: readonly number[]): number => (values.length === 0 ? 0 : sumOf(values) / values.length);
const limit = (effect: number, bound: number): number => clamp(effect, -bound, bound);
const toBoundedProbability = (logOdds: number): number => clamp(sigmoid(logOdds), PROBABILITY_MIN, 1 - PROBABILITY_MIN);

/**
 * Mean without the `trimmed` lowest and highest values. With few values it omits fewer, so that at least one remains.
 *
 * @throws RangeError without values
 * @example trimmedMean([0, 1, 2, 3, 100], 1); // 2
 */
export function trimmedMean(values: readonly number[], trimmed: number): number {
  if (values.length === 0) throw new RangeError("a mean requires at least one value");
  const count = Math.min(trimmed, Math.floor((values.length - 1) / 2));
  return mean([...values].sort((a, b) => a - b).slice(count, values.length - count));
}

/** Mean effect of each source over the trials that read it; 0 if none did. */
function meanEffects(trials: readonly TrialEffects[]): number[] {
  const sourceCount = Math.max(0, ...trials.map(({ effects }) => effects.length));
  return Array.from({ length: sourceCount }, (_, source) =>
    mean(trials.flatMap(({ effects }) => effects[source] ?? [])),
  );
}

/** Bound c_k of each source. */
export function effectBounds(effects: readonly number[], coefficients: PoolCoefficients): number[] {
  const { loneSourceEffect, corroboration } = coefficients;
  return effects.map((effect, source) => {
    let support = 0;
    for (const [other, otherEffect] of effects.entries())
      if (other !== source && effect * otherEffect > 0)
        support += Math.min(1, Math.abs(otherEffect) / loneSourceEffect);
    return loneSourceEffect * (1 + corroboration * support);
  });
}

/** Log-odds of each trial. A source that a trial did not read has its mean effect in the other trials. */
function trialLogOdds(
  trials: readonly TrialEffects[],
  bounds: readonly number[],
  means: readonly number[],
  without: number | null,
): number[] {
  return trials.map(({ blind, effects }) =>
    means.reduce(
      (sum, meanEffect, source) =>
        source === without ? sum : sum + limit(effects[source] ?? meanEffect, bounds[source] ?? 0),
      blind,
    ),
  );
}

/**
 * Pools trials as described above. The standard error is the standard deviation of the trials, which is not divided by
 * their number because they share a model, together with a minimum and half of the effect that the bounds removed.
 *
 * @throws RangeError without trials
 */
export function poolTrials(trials: readonly TrialEffects[], coefficients = POOL_COEFFICIENTS): PooledEstimate {
  const { shrinkage, priorLogOdds, trimmed } = coefficients;
  const effects = meanEffects(trials);
  const unbounded = effects.map(() => Number.POSITIVE_INFINITY);
  const combine = (bounds: readonly number[], without: number | null): number =>
    priorLogOdds + shrinkage * (trimmedMean(trialLogOdds(trials, bounds, effects, without), trimmed) - priorLogOdds);
  /** The bounds if this source is removed and therefore supports no other source. */
  const boundsWithout = (source: number): number[] =>
    effectBounds(
      effects.map((effect, other) => (other === source ? 0 : effect)),
      coefficients,
    );
  const bounds = effectBounds(effects, coefficients);
  const logOdds = combine(bounds, null);
  const probability = toBoundedProbability(logOdds);
  const rawProbability = toBoundedProbability(combine(unbounded, null));
  let mostInfluential: PooledEstimate["mostInfluential"] = null;
  for (const source of effects.keys()) {
    const unboundedMove = Math.abs(rawProbability - toBoundedProbability(combine(unbounded, source)));
    const move = Math.abs(probability - toBoundedProbability(combine(boundsWithout(source), source)));
    if (mostInfluential === null || unboundedMove > mostInfluential.unboundedMove)
      mostInfluential = { source, unboundedMove, move };
  }
  const logOddsOfTrials = trialLogOdds(trials, bounds, effects, null);
  const center = mean(logOddsOfTrials);
  const variance = mean(logOddsOfTrials.map((value) => (value - center) ** 2));
  const removed = (combine(unbounded, null) - logOdds) / 2;
  return {
    probability,
    standardError: Math.hypot(coefficients.standardErrorMin, shrinkage * Math.sqrt(variance), removed),
    trials: logOddsOfTrials.map(toBoundedProbability),
    sourceEffects: effects.map((effect, source) => shrinkage * limit(effect, bounds[source] ?? 0)),
    mostInfluential,
  };
}
