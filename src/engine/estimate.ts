import { dailyMove } from "./daily-move.ts";
import { FACTORS } from "./factors/index.ts";
import { toLogOdds, toProbability } from "./log-odds.ts";
import {
  type EngineCoefficients,
  FACTOR_NAMES,
  type Factor,
  type FactorName,
  type MarketView,
  type Prior,
} from "./model.ts";
import { currentPrice, readPrior } from "./reference-price.ts";
import { viewAt } from "./view.ts";

/** One factor's part of an estimate. */
export interface FactorStep {
  readonly name: FactorName;
  readonly claim: string;
  readonly evidence: readonly string[];
  readonly direction: "supports_yes" | "supports_no";
  /** Log likelihood ratio before its weight, in [-3, 3]. */
  readonly lambda: number;
  /** Fitted weight times confidence. */
  readonly coefficient: number;
  readonly confidence: number;
  /** Probability before and after the factor. */
  readonly prior: number;
  readonly posterior: number;
  /** Share of the absolute changes of the log-odds; all shares sum to 1. */
  readonly weight: number;
}

/** An estimate of the probability of YES, and all that it is made of. */
export interface Estimate {
  /** In [0.0001, 0.9999]. */
  readonly probability: number;
  readonly logOdds: number;
  /** Standard error of the log-odds. */
  readonly standardError: number;
  /** Root mean square of the daily move of the price, in log-odds (`dailyMove`). */
  readonly dailyMove: number;
  /** Displayed price of the market, in [0, 1]. */
  readonly marketPrice: number;
  readonly prior: Prior;
  /** Factors that contribute, in the order in which they are added; empty if none does. */
  readonly steps: readonly FactorStep[];
  /** Bounds of the 80% interval of the estimate in a day, which is how long an analysis is fresh. */
  readonly interval: { readonly low: number; readonly high: number };
  /** 1 minus the width of the interval, reduced for a wide, one-sided or old book; in [0, 1]. */
  readonly confidence: number;
}

const LAMBDA_MAX = 3;
/** Limits a log likelihood ratio to [-3, 3]: it changes the odds by a factor of at most 20. */
export const limitLambda = (lambda: number): number => Math.max(-LAMBDA_MAX, Math.min(LAMBDA_MAX, lambda));

/** 90% quantile of the standard normal distribution: an 80% interval lies between -z and z. */
const Z_80 = 1.2815515655446004;

/**
 * Estimates the probability of YES: L = L_prior + sum of w_k lambda_k, p = 1 / (1 + exp(-L)), where w_k is the fitted
 * weight of a factor times its confidence.
 *
 * Var(L) = s_prior^2 + x' V x + sum of w_k^2 s_k^2, with x_k = confidence_k lambda_k, V the covariance of the fitted weights
 * and s_k the standard error of lambda_k (delta method).
 *
 * The interval is L -+ 1.28 sqrt(Var(L) + d^2), with d the move of the price in a day (`dailyMove`).
 *
 * @returns  null if the market has no price
 */
export function estimate(
  marketView: MarketView,
  coefficients: EngineCoefficients,
  factors: readonly Factor[] = FACTORS,
): Estimate | null {
  const view = viewAt(marketView, marketView.asOf);
  const marketPrice = currentPrice(view);
  if (marketPrice === null) return null;
  const prior = readPrior(view, marketPrice, coefficients);
  const parts = factors.flatMap((factor) => {
    const reading = factor.read(view, prior, coefficients);
    if (reading === null) return [];
    const lambda = limitLambda(reading.lambda);
    const coefficient = coefficients.weights[factor.name] * reading.confidence;
    return [{ ...reading, name: factor.name, lambda, coefficient, change: coefficient * lambda }];
  });
  const contributing = parts.filter(({ change }) => change !== 0);
  const total = contributing.reduce((sum, { change }) => sum + Math.abs(change), 0);
  let logOdds = prior.logOdds;
  let before = prior.probability;
  const steps = contributing.map(({ name, claim, evidence, lambda, coefficient, confidence, change }): FactorStep => {
    logOdds += change;
    const step = { prior: before, posterior: toProbability(logOdds) };
    before = step.posterior;
    const direction = change > 0 ? "supports_yes" : "supports_no";
    return {
      name,
      claim,
      evidence,
      direction,
      lambda,
      coefficient,
      confidence,
      ...step,
      weight: Math.abs(change) / total,
    };
  });
  const exposures = new Map(contributing.map(({ name, confidence, lambda }) => [name, confidence * lambda]));
  const variance =
    prior.standardError ** 2 +
    fitVariance(exposures, coefficients.covariance) +
    contributing.reduce((sum, { coefficient, standardError }) => sum + (coefficient * standardError) ** 2, 0);
  const standardError = Math.sqrt(variance);
  const move = dailyMove(view);
  const reach = Z_80 * Math.hypot(standardError, move);
  const interval = { low: toProbability(logOdds - reach), high: toProbability(logOdds + reach) };
  return {
    probability: before,
    logOdds: toLogOdds(before),
    standardError,
    dailyMove: move,
    marketPrice,
    prior,
    steps,
    interval,
    confidence: Math.max(0, 1 - (interval.high - interval.low)) * prior.confidence,
  };
}

/** x' V x: the variance of the log-odds that comes from the uncertainty of the fitted weights. */
function fitVariance(exposures: ReadonlyMap<FactorName, number>, covariance: EngineCoefficients["covariance"]): number {
  let variance = 0;
  for (const a of FACTOR_NAMES)
    for (const b of FACTOR_NAMES)
      variance += (exposures.get(a) ?? 0) * (covariance[a]?.[b] ?? 0) * (exposures.get(b) ?? 0);
  return Math.max(0, variance);
}
