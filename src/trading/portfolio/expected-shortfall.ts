/** Share of the worst outcomes whose mean loss is the tail loss. */
const TAIL_SHARE = 0.05;
const STEPS = 60;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** Losses of a portfolio by outcome, and the outcomes sorted by loss, largest first. */
export interface LossDistribution {
  readonly losses: Float64Array;
  /** Probabilities of the outcomes; they sum to 1. */
  readonly weights: Float64Array;
  readonly order: Int32Array;
}

export function lossDistribution(losses: Float64Array, weights: Float64Array): LossDistribution {
  const order = Int32Array.from(losses.keys()).sort((a, b) => (losses[b] as number) - (losses[a] as number));
  return { losses, weights, order };
}

/**
 * Mean loss of the worst 5% of the outcomes (conditional value at risk). The outcome at the boundary counts partially.
 *
 * @returns  negative if even these outcomes are a profit
 * @see Rockafellar & Uryasev (2000), "Optimization of conditional value-at-risk"
 */
export function expectedShortfall({ losses, weights, order }: LossDistribution): number {
  let left = TAIL_SHARE;
  let sum = 0;
  for (const outcome of order) {
    const weight = Math.min(left, weights[outcome] as number);
    sum += weight * (losses[outcome] as number);
    left -= weight;
    if (left <= 0) break;
  }
  return sum / (TAIL_SHARE - left);
}

/** A contract that could be added to the portfolio. */
export interface HedgeOffer {
  /** By outcome: 1 if the contract pays, else 0. */
  readonly wins: Uint8Array;
  /** Price and fee per contract, in (0, 1). */
  readonly cost: number;
}

/**
 * Returns the stake in a contract that minimises the tail loss. The tail loss is convex in the stake, so a
 * golden-section search finds the minimum.
 *
 * @param stakeMax  in the unit of the losses, at least 0
 * @returns  the stake and its reduction of the tail loss; both are 0 if no stake lowers it
 */
export function bestHedge(
  distribution: LossDistribution,
  { wins, cost }: HedgeOffer,
  stakeMax: number,
): { readonly stake: number; readonly reduction: number } {
  const { order } = distribution;
  const paid = order.filter((outcome) => wins[outcome] === 1);
  const unpaid = order.filter((outcome) => wins[outcome] !== 1);
  const lossAt = (stake: number) => mergedExpectedShortfall(distribution, paid, unpaid, stake * (1 / cost - 1), stake);
  let [low, high] = [0, stakeMax];
  for (let step = 0; step < STEPS; step++) {
    const [left, right] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
    // If both values are equal, the smaller stake is kept.
    if (lossAt(left) <= lossAt(right)) high = right;
    else low = left;
  }
  const stake = (low + high) / 2;
  const reduction = lossAt(0) - lossAt(stake);
  return reduction > 0 ? { stake, reduction } : { stake: 0, reduction: 0 };
}

/** Returns the tail loss if each outcome of `paid` gains `gain` and each of `unpaid` loses `stake`, both by loss. */
function mergedExpectedShortfall(
  { losses, weights }: LossDistribution,
  paid: Int32Array,
  unpaid: Int32Array,
  gain: number,
  stake: number,
): number {
  let [left, sum, i, j] = [TAIL_SHARE, 0, 0, 0];
  while (left > 0 && (i < paid.length || j < unpaid.length)) {
    const lossPaid = i < paid.length ? (losses[paid[i] as number] as number) - gain : -Infinity;
    const lossUnpaid = j < unpaid.length ? (losses[unpaid[j] as number] as number) + stake : -Infinity;
    const isPaid = lossPaid > lossUnpaid;
    const outcome = (isPaid ? paid[i++] : unpaid[j++]) as number;
    const weight = Math.min(left, weights[outcome] as number);
    sum += weight * (isPaid ? lossPaid : lossUnpaid);
    left -= weight;
  }
  return sum / (TAIL_SHARE - left);
}
