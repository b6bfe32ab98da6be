import { type Estimate, estimate } from "./estimate.ts";
import type { EngineCoefficients, MarketView } from "./model.ts";

export type Recommendation = "BUY_YES" | "BUY_NO" | "NO_TRADE";
export type RiskRating = "low" | "medium" | "high";

/** One factor of the causal decomposition. */
export interface CausalFactor {
  readonly claim: string;
  readonly direction: "supports_yes" | "supports_no";
  readonly evidence: readonly string[];
  /** Probability before and after the factor, in [0, 1]. The posterior is the prior of the next factor. */
  readonly prior: number;
  readonly posterior: number;
  /** Share of the absolute changes of the log-odds; the weights of all factors sum to 1. */
  readonly weight: number;
  /** In [0, 1]. */
  readonly confidence: number;
}

/** A way in which the question can develop. The scenarios exclude each other and cover everything. */
export interface Scenario {
  readonly name: string;
  /** Probability of the scenario; all sum to 1. */
  readonly probability: number;
  /** Probability of YES in the scenario. */
  readonly conditionalProbability: number;
  readonly description: string;
  /** What would show that this scenario is happening. */
  readonly trigger: string;
}

/** The engine's result for one market at one time. Plain data. */
export interface Analysis {
  /** Unix milliseconds. */
  readonly asOf: number;
  /** In [0.0001, 0.9999]. */
  readonly probability: number;
  /** In [0, 1]. */
  readonly marketPrice: number;
  /** `probability` minus `marketPrice`. */
  readonly edge: number;
  readonly recommendation: Recommendation;
  /** In [0, 1]. */
  readonly confidence: number;
  readonly riskRating: RiskRating;
  /** Bounds of the 80% interval. */
  readonly interval: { readonly low: number; readonly high: number };
  readonly summary: string;
  readonly keyFactors: readonly string[];
  readonly risks: readonly string[];
  /** At least one; the last posterior is `probability`. */
  readonly factors: readonly CausalFactor[];
  /** Their probabilities sum to 1, and the sum of P(s) * P(YES | s) is `probability`. */
  readonly scenarios: readonly Scenario[];
  readonly whatWouldChangeMind: readonly string[];
  readonly edgeAssessment: string;
  /** Probability without the calibration factor. */
  readonly rawProbability: number;
  readonly calibrationApplied: boolean;
  /** True if research contributed. */
  readonly isFull: boolean;
}

/**
 * Analyses a market: estimates its probability and describes the result in sentences.
 *
 * @returns  null if the market has no price
 */
export function analyse(view: MarketView, coefficients: EngineCoefficients): Analysis | null {
  const result = estimate(view, coefficients);
  return result === null ? null : describe(view, result);
}

function describe(view: MarketView, { probability, marketPrice, prior, steps, ...rest }: Estimate): Analysis {
  const edge = probability - marketPrice;
  return {
    asOf: view.asOf,
    probability,
    marketPrice,
    edge,
    recommendation: "NO_TRADE",
    confidence: rest.confidence,
    riskRating: "medium",
    interval: rest.interval,
    summary: prior.claim,
    keyFactors: steps.map(({ claim }) => claim),
    risks: [],
    factors: steps,
    scenarios: [],
    whatWouldChangeMind: [],
    edgeAssessment: "",
    rawProbability: prior.probability,
    calibrationApplied: steps.some(({ name }) => name === "calibration"),
    isFull: view.research !== null,
  };
}
