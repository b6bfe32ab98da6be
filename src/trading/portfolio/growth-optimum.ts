const ITERATIONS_MAX = 200;
const TOLERANCE = 1e-9;

/** A bet, and the wealth without it. Each array has one number per outcome. */
export interface GrowthProblem {
  /** Wealth without the bet, above 0. */
  readonly wealth: Float64Array;
  /** Change of the wealth per unit of stake: above 0 if the bet wins, else below. */
  readonly gain: Float64Array;
  /** Probabilities of the outcomes, at least 0. */
  readonly weights: Float64Array;
}

/**
 * Stake f in [0, max] that maximises the expected logarithm of wealth Σ w ln(W + f g). The function is concave, so its
 * derivative Σ w g / (W + f g) has at most one root, found by Newton steps inside a bisection interval.
 *
 * @param max  at least 0; a stake that leaves no wealth in an outcome of positive weight is never optimal
 * @returns  the optimum within 1e-8
 * @throws RangeError when `max` is below 0 or NaN, a list differs in length, or a wealth is not above 0
 * @example // Even bet at 60%: the Kelly fraction 0.2
 * const gain = Float64Array.of(1, -1);
 * growthOptimum({ wealth: Float64Array.of(1, 1), gain, weights: Float64Array.of(0.6, 0.4) }, 1);
 */
export function growthOptimum(problem: GrowthProblem, max: number): number {
  const { wealth, gain, weights } = problem;
  if (!(max >= 0)) throw new RangeError(`max must be at least 0, not ${max}`);
  if (wealth.length !== gain.length || wealth.length !== weights.length)
    throw new RangeError("all lists must have the same length");
  if (wealth.some((value) => !(value > 0))) throw new RangeError("wealth must be above 0 in every outcome");
  if (max === 0 || slopeAt(problem, 0).slope <= 0) return 0;
  if (slopeAt(problem, max).slope >= 0) return max;
  let [low, high] = [0, max];
  let stake = max / 2;
  for (let iteration = 0; iteration < ITERATIONS_MAX && high - low > TOLERANCE; iteration++) {
    const { slope, curvature } = slopeAt(problem, stake);
    if (slope > 0) low = stake;
    else high = stake;
    const newton = stake - slope / curvature;
    if (Math.abs(newton - stake) < TOLERANCE / 10 && newton > low && newton < high) return newton;
    stake = newton > low && newton < high ? newton : (low + high) / 2;
  }
  return stake;
}

/** First and second derivative of the expected logarithm of wealth; -Infinity if an outcome leaves no wealth. */
function slopeAt({ wealth, gain, weights }: GrowthProblem, stake: number): { slope: number; curvature: number } {
  let slope = 0;
  let curvature = 0;
  for (let outcome = 0; outcome < wealth.length; outcome++) {
    const weight = weights[outcome] as number;
    if (weight === 0) continue;
    const after = (wealth[outcome] as number) + stake * (gain[outcome] as number);
    if (!(after > 0)) return { slope: -Infinity, curvature: -Infinity };
    const ratio = (gain[outcome] as number) / after;
    slope += weight * ratio;
    curvature -= weight * ratio * ratio;
  }
  return { slope, curvature };
}
