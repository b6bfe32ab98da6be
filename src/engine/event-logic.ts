import { sumOf } from "../lib/numbers.ts";
import { bisectDecreasing, isotonicRegression, removeOverround } from "../quant/coherence.ts";
import { PROBABILITY_MIN, toLogOdds } from "./log-odds.ts";
import type { LegView } from "./model.ts";
import { UNKNOWN_SPREAD } from "./reference-price.ts";

/** Minimum spread in the weight of a ladder price. */
const SPREAD_MIN = 0.005;
/** Minimum standard error in the weight of an estimate, in log-odds. */
const ERROR_MIN = 1e-3;
/** Weight of a one-sided quote, which only bounds the price. */
const BOUND_WEIGHT = 1e-9;

/**
 * Logical relation of an event's markets. ladder: YES of a market implies YES of the previous one. exclusive: at most
 * one market resolves YES, and exactly one if the set is exhaustive.
 */
export type EventLogic = { readonly kind: "ladder" } | { readonly kind: "exclusive"; readonly isExhaustive: boolean };

export type LegPrice = Pick<LegView, "yesPrice" | "spread">;

/** Estimate of one market before it is made consistent with the estimates of the event's other markets. */
export interface LegEstimate {
  readonly logOdds: number;
  /** Standard error of the log-odds. */
  readonly standardError: number;
  /** True if the market's quote is only a bound (`isBound`). */
  readonly isBound: boolean;
}

/**
 * For each price, its difference from the nearest consistent price, in log-odds: consistent minus actual. All 0 if the
 * prices are consistent.
 *
 * @param legs  for a ladder, from the widest market to the narrowest
 */
export function siblingGaps(logic: EventLogic, legs: readonly LegPrice[]): number[] {
  const coherent = coherentPrices(logic, legs);
  return legs.map(({ yesPrice }, index) => toLogOdds(coherent[index] ?? yesPrice) - toLogOdds(yesPrice));
}

/** Spread of a market of the event, at least 0.005; 0.1 if unknown. */
export const legSpread = ({ spread }: Pick<LegPrice, "spread">): number =>
  Math.max(spread ?? UNKNOWN_SPREAD, SPREAD_MIN);

/**
 * The nearest consistent prices. ladder: isotonic regression, weighted by 1 / spread^2. exclusive: the power method
 * (`removeOverround`), if the sum is above 1 or the set is exhaustive.
 */
export function coherentPrices(logic: EventLogic, legs: readonly LegPrice[]): readonly number[] {
  const prices = legs.map(({ yesPrice }) => yesPrice);
  if (legs.length < 2) return prices;
  if (logic.kind === "ladder")
    return isotonicRegression(
      prices,
      legs.map((leg) => 1 / legSpread(leg) ** 2),
    );
  return sumOf(prices) <= 1 && !logic.isExhaustive ? prices : removeOverround(prices, 1);
}

/**
 * Returns the nearest consistent estimates.
 *
 * ladder: isotonic regression of the log-odds, weighted by 1 / standard error^2. If a quote is only a bound
 * (`isBound`), its estimate is adjusted to the other estimates, which stay unchanged.
 *
 * exclusive: the power method, p_i = max(0.0001, q_i^k), with k such that the sum is 1, if the sum is above 1 or the
 * set is exhaustive. If the sum is above 1, the estimates of bounds are lowered first.
 *
 * @param estimates  for a ladder, from the widest market to the narrowest; for an exhaustive set, all markets
 * @returns  log-odds in the order of the estimates
 * @see Barlow et al. (1972), "Statistical Inference under Order Restrictions"
 */
export function coherentLogOdds(logic: EventLogic, estimates: readonly LegEstimate[]): number[] {
  const logOdds = estimates.map((estimate) => estimate.logOdds);
  if (estimates.length < 2) return logOdds;
  if (logic.kind === "ladder")
    return isotonicRegression(
      logOdds,
      estimates.map(({ standardError, isBound }) =>
        isBound ? BOUND_WEIGHT : 1 / Math.max(standardError, ERROR_MIN) ** 2,
      ),
    );
  return agreeingExclusive(estimates, logic.isExhaustive);
}

function agreeingExclusive(estimates: readonly LegEstimate[], isExhaustive: boolean): number[] {
  const legs = estimates.map(({ logOdds, isBound }) => ({ log: -Math.log1p(Math.exp(-logOdds)), isBound }));
  const sumAt = (exponent: number, boundExponent: number) =>
    legs.reduce((total, { log, isBound }) => {
      const power = Math.exp((isBound ? boundExponent : exponent) * log);
      return total + Math.max(PROBABILITY_MIN, power);
    }, 0);
  const isOver = sumAt(1, 1) > 1;
  if (!isOver && !isExhaustive) return estimates.map(({ logOdds }) => logOdds);
  const lowersBounds = isOver && legs.some(({ isBound }) => isBound);
  const boundExponent = lowersBounds ? bisectDecreasing((x) => sumAt(1, x), 1).high : null;
  const isSolved = boundExponent !== null && sumAt(1, boundExponent) <= 1;
  const exponent = isSolved ? 1 : bisectDecreasing((x) => sumAt(x, boundExponent ?? x), 1).high;
  return legs.map(({ log, isBound }) => toLogOdds(Math.exp((isBound ? (boundExponent ?? exponent) : exponent) * log)));
}
