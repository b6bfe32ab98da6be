import { clamp, sumOf } from "../lib/numbers.ts";
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
import { computePrior, currentPrice } from "./reference-price.ts";
import { viewAt } from "./view.ts";

/** Source of a change: a factor, or the logic of the event (`reestimate`). */
export type ChangeName = FactorName | "event_logic";

/** A change of the log-odds and the reason for it. It can be added to any prior. */
export interface LogOddsChange {
  readonly name: ChangeName;
  readonly claim: string;
  readonly evidence: readonly string[];
  /** In [0, 1]. */
  readonly confidence: number;
  /** Added to the log-odds of YES. */
  readonly change: number;
}

export interface EstimateStep extends LogOddsChange {
  readonly direction: "supports_yes" | "supports_no";
  /** Probability before and after the change. */
  readonly prior: number;
  readonly posterior: number;
  /** Share of the absolute changes of the log-odds; all shares sum to 1. */
  readonly weight: number;
}

/** An estimate of the probability of YES, and its parts. */
export interface Estimate {
  /** In [0.0001, 0.9999]. */
  readonly probability: number;
  readonly logOdds: number;
  /** Standard error of the log-odds. */
  readonly standardError: number;
  /** The part of `standardError` that comes from the changes and not from the prior. */
  readonly changeError: number;
  /** Root mean square of the daily move of the price, in log-odds (`dailyMove`). */
  readonly dailyMove: number;
  /** Displayed price of the market, in [0, 1]. */
  readonly marketPrice: number;
  readonly prior: Prior;
  /** Changes other than 0, in the order in which they are added. */
  readonly steps: readonly EstimateStep[];
  /** Bounds of the 80% prediction interval of the probability one day later. An analysis is fresh for a day. */
  readonly interval: { readonly low: number; readonly high: number };
  /** 1 minus the width of the interval, reduced for a wide, one-sided or old order book; in [0, 1]. */
  readonly confidence: number;
}

const LAMBDA_MAX = 3;
/** Limits a log likelihood ratio to [-3, 3], which changes the odds by a factor of at most 20. */
export const clampLambda = (lambda: number): number => clamp(lambda, -LAMBDA_MAX, LAMBDA_MAX);

/** 90% quantile of the standard normal distribution: an 80% interval lies between -z and z. */
const Z_80 = 1.2815515655446004;

/**
 * Estimates the probability of YES: L = L_prior + sum of w_k lambda_k, p = 1 / (1 + exp(-L)), where w_k is the fitted
 * weight of a factor times its confidence.
 *
 * Var(L) = s_prior^2 + x' V x + sum of w_k^2 s_k^2, with x_k = confidence_k lambda_k, V the covariance of the fitted
 * weights and s_k the standard error of lambda_k (delta method).
 *
 * The interval is L -+ 1.28 sqrt(Var(L) + d^2), where d is the daily move of the price (`dailyMove`).
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
  const prior = computePrior(view, marketPrice, coefficients);
  const parts = factors.flatMap((factor) => {
    const reading = factor.evaluate(view, prior, coefficients);
    if (reading === null) return [];
    const { claim, evidence, confidence, standardError } = reading;
    const { name } = factor;
    const lambda = clampLambda(reading.lambda);
    const coefficient = coefficients.weights[name] * confidence;
    const change = coefficient * lambda;
    if (change === 0) return [];
    const error = coefficient * standardError;
    return [{ name, exposure: confidence * lambda, error, change: { name, claim, evidence, confidence, change } }];
  });
  const exposures = new Map(parts.map(({ name, exposure }) => [name, exposure]));
  const variance = fitVariance(exposures, coefficients.covariance) + sumOf(parts.map(({ error }) => error ** 2));
  const changes = parts.map(({ change }) => change);
  return estimateFromChanges(prior, marketPrice, changes, {
    changeError: Math.sqrt(variance),
    dailyMove: dailyMove(view),
  });
}

export function estimateFromChanges(
  prior: Prior,
  marketPrice: number,
  changes: readonly LogOddsChange[],
  errors: Pick<Estimate, "changeError" | "dailyMove">,
): Estimate {
  const contributing = changes.filter(({ change }) => change !== 0);
  const total = sumOf(contributing.map(({ change }) => Math.abs(change)));
  let logOdds = prior.logOdds;
  let before = prior.probability;
  const steps = contributing.map((each): EstimateStep => {
    logOdds += each.change;
    const posterior = toProbability(logOdds);
    const step: EstimateStep = {
      ...each,
      direction: each.change > 0 ? "supports_yes" : "supports_no",
      prior: before,
      posterior,
      weight: Math.abs(each.change) / total,
    };
    before = posterior;
    return step;
  });
  const { standardError, interval } = estimateUncertainty(logOdds, prior, errors);
  return {
    probability: before,
    logOdds: toLogOdds(before),
    standardError,
    ...errors,
    marketPrice,
    prior,
    steps,
    interval,
    confidence: confidenceOf(interval, prior),
  };
}

/** Standard error and 80% prediction interval of an estimate. */
export function estimateUncertainty(
  logOdds: number,
  prior: Pick<Prior, "standardError">,
  { changeError, dailyMove: move }: Pick<Estimate, "changeError" | "dailyMove">,
): Pick<Estimate, "standardError" | "interval"> {
  const standardError = Math.hypot(prior.standardError, changeError);
  const reach = Z_80 * Math.hypot(standardError, move);
  return { standardError, interval: { low: toProbability(logOdds - reach), high: toProbability(logOdds + reach) } };
}

/** 1 minus the width of the interval, times the confidence of the price; in [0, 1]. */
export const confidenceOf = ({ low, high }: Estimate["interval"], prior: Pick<Prior, "confidence">): number =>
  Math.max(0, 1 - (high - low)) * prior.confidence;

/** x' V x: the variance of the log-odds that comes from the uncertainty of the fitted weights. */
function fitVariance(exposures: ReadonlyMap<FactorName, number>, covariance: EngineCoefficients["covariance"]): number {
  let variance = 0;
  for (const a of FACTOR_NAMES)
    for (const b of FACTOR_NAMES)
      variance += (exposures.get(a) ?? 0) * (covariance[a]?.[b] ?? 0) * (exposures.get(b) ?? 0);
  return Math.max(0, variance);
}
