import { describeEdge, describeFactors, describeSensitivity, summariseEstimate } from "./describe.ts";
import { type Estimate, type EstimateStep, estimate, type LogOddsChange } from "./estimate.ts";
import { type EventLogic, siblingGaps } from "./event-logic.ts";
import { executableEdges, type Recommendation, recommend } from "./executable-edge.ts";
import { peerGapOf } from "./factors/cross-venue.ts";
import { toProbability } from "./log-odds.ts";
import type { EngineCoefficients, MarketView, PriceGaps } from "./model.ts";
import { assessRisk, type RiskRating } from "./risk.ts";
import { describeScenarios, type Scenario } from "./scenarios.ts";
import { viewAt } from "./view.ts";

/** One factor of an analysis, as the API returns it. */
export type CausalFactor = Omit<EstimateStep, "name" | "change">;

/** Analysis of one market at one time. Plain data. */
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
  /** Bounds of the 80% prediction interval of the probability one day later. */
  readonly interval: { readonly low: number; readonly high: number };
  /** Changes that the factors add to the prior, in order; empty if no factor contributes. */
  readonly changes: readonly LogOddsChange[];
  /** Standard error of the sum of the changes, in log-odds. */
  readonly changeError: number;
  /** Differences between the market's price and other prices at the time of the analysis. */
  readonly gaps: PriceGaps;
  /** Standard error of the estimate, and root mean square of the price's move in a day, both in log-odds. */
  readonly standardError: number;
  readonly dailyMove: number;
  readonly summary: string;
  readonly keyFactors: readonly string[];
  readonly risks: readonly string[];
  /** At least one factor; the posterior of the last one is `probability`. */
  readonly factors: readonly CausalFactor[];
  /** The probabilities P(s) of the scenarios sum to 1, and the sum of P(s) * P(YES | s) is `probability`. */
  readonly scenarios: readonly Scenario[];
  readonly whatWouldChangeMind: readonly string[];
  readonly edgeAssessment: string;
  /** Estimated probability without the calibration factor, in [0.0001, 0.9999]. */
  readonly rawProbability: number;
  readonly calibrationApplied: boolean;
  /** True if the analysis includes research. */
  readonly isFull: boolean;
}

/**
 * Analyses a market: estimates its probability and describes the result in sentences.
 *
 * @returns  null if the market has no price
 */
export function analyse(marketView: MarketView, coefficients: EngineCoefficients): Analysis | null {
  const view = viewAt(marketView, marketView.asOf);
  const result = estimate(view, coefficients);
  if (result === null) return null;
  return describeAnalysis(view, result, {
    isFull: view.research !== null,
    gaps: { peers: peerGapOf(view, result.prior, coefficients), siblings: siblingGapOf(view) },
  });
}

export function describeAnalysis(
  view: MarketView,
  result: Estimate,
  { isFull, gaps }: Pick<Analysis, "isFull" | "gaps">,
): Analysis {
  const { probability, marketPrice, confidence, interval, steps, standardError } = result;
  const edges = executableEdges(view, probability);
  const risk = assessRisk(view, result);
  return {
    asOf: view.asOf,
    probability,
    marketPrice,
    edge: probability - marketPrice,
    recommendation: recommend(edges),
    confidence,
    riskRating: risk.rating,
    interval,
    changes: steps.map(({ direction, prior, posterior, weight, ...change }) => change),
    changeError: result.changeError,
    gaps,
    standardError,
    dailyMove: result.dailyMove,
    summary: summariseEstimate(result, edges, isFull),
    keyFactors: describeFactors(result),
    risks: [
      ...risk.sentences,
      ...(isFull ? [] : ["No research was done: news that the prices do not contain yet is not considered."]),
    ],
    factors: listFactors(result),
    scenarios: describeScenarios(view, result),
    whatWouldChangeMind: describeSensitivity(result),
    edgeAssessment: describeEdge(result, edges),
    rawProbability: withoutCalibration(result),
    calibrationApplied: steps.some(({ name }) => name === "calibration"),
    isFull,
  };
}

/** Difference from the price that is consistent with the event's other markets (`siblingGaps`), or 0. */
function siblingGapOf({ event, marketId }: MarketView): number {
  if (event === null) return 0;
  const { isExclusive, isExhaustive, ladder } = event;
  const legs =
    ladder === null ? event.legs : ladder.flatMap((id) => event.legs.find((leg) => leg.marketId === id) ?? []);
  const position = legs.findIndex((leg) => leg.marketId === marketId);
  if (position === -1 || (ladder === null && !isExclusive)) return 0;
  const logic: EventLogic = ladder === null ? { kind: "exclusive", isExhaustive } : { kind: "ladder" };
  return siblingGaps(logic, legs)[position] ?? 0;
}

/** The factors that contribute; without any, one factor that represents the price. */
function listFactors({ steps, prior, probability }: Estimate): CausalFactor[] {
  if (steps.length > 0) return steps.map(({ name, change, ...factor }) => factor);
  return [
    {
      claim: prior.claim,
      direction: probability >= 0.5 ? "supports_yes" : "supports_no",
      evidence: prior.evidence,
      prior: probability,
      posterior: probability,
      weight: 1,
      confidence: prior.confidence,
    },
  ];
}

function withoutCalibration({ probability, logOdds, steps }: Estimate): number {
  const step = steps.find(({ name }) => name === "calibration");
  return step === undefined ? probability : toProbability(logOdds - step.change);
}
