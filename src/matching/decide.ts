/** Decides from a comparison of fingerprints whether two markets or two events match. */
import { clamp, logit, sigmoid } from "../lib/numbers.ts";
import type { EventComparison } from "./event-features.ts";
import type { QuantityRelation } from "./facts/quantities.ts";
import type { ScopeDimension } from "./facts/scopes.ts";
import type { MarketComparison } from "./features.ts";
import { isSameQuestion, type MatchRelation } from "./model.ts";

/** Coefficients of a logistic model, by feature. */
export interface LogisticModel {
  readonly intercept: number;
  readonly weights: Readonly<Record<string, number>>;
}

/** The fitted coefficients (`coefficients.json`), written by `npm run fit:matching`. */
export interface MatchingCoefficients {
  readonly market: LogisticModel;
  readonly event: LogisticModel;
  /**
   * Calibration for pairs from a market board, which match less often than hand-picked pairs: log-odds = slope *
   * log-odds of the model + shift.
   */
  readonly board: { readonly slope: number; readonly shift: number };
}

/** Reason why two questions cannot be the same, whatever their similarity. */
export type Veto =
  | "outcome"
  | "fixture"
  | "deadline"
  | "threshold"
  | "place"
  | "polarity"
  | "station"
  | "overtime"
  | "placeholder"
  | ScopeDimension;

/** Probability of a match despite a veto, because a fact can be parsed wrongly. */
export const VETOED_PROBABILITY = 0.004;
/**
 * Minimum probability for two markets or events to count as a match. Precision matters more than recall: a wrong pair
 * looks like an arbitrage and loses money.
 */
export const MATCH_DECISION_MIN = 0.75;
/** Minimum probability for similar questions with different thresholds or deadlines to be reported as related. */
const RELATED_PROBABILITY_MIN = 0.7;

export interface MatchDecision {
  readonly relation: MatchRelation | null;
  /** Probability of the relation for hand-picked pairs, in [0, 1]. `VETOED_PROBABILITY` if the relation is null. */
  readonly probability: number;
  readonly vetoes: readonly Veto[];
}

/** Returns the log-odds of the model. A missing feature counts as 0. */
export function logisticScore(model: LogisticModel, features: Readonly<Record<string, number>>): number {
  const { weights } = model;
  let score = model.intercept;
  for (const name in weights) score += (weights[name] ?? 0) * (features[name] ?? 0);
  return score;
}

/** Threshold relations with which two markets can match. */
const MATCHING_QUANTITIES: ReadonlySet<QuantityRelation> = new Set(["same", "none", "opposite"]);

/** Returns the vetoes of two markets. Despite `threshold`, `deadline` or `polarity`, they can be related. */
export function findMarketVetoes(comparison: MarketComparison): Veto[] {
  const vetoes: Veto[] = [...comparison.vetoedScopes];
  if (comparison.hasOtherSubject) vetoes.push("outcome");
  if (comparison.hasOtherPlace) vetoes.push("place");
  if (comparison.periods.relation === "conflict") vetoes.push("deadline");
  if (!MATCHING_QUANTITIES.has(comparison.quantities)) vetoes.push("threshold");
  if (comparison.isPolarityFlipped) vetoes.push("polarity");
  return vetoes;
}

/** Decides the relation of two markets; null if they are not related. */
export function decideMarkets(comparison: MarketComparison, coefficients: MatchingCoefficients): MatchDecision {
  const { features, quantities, periods, isPolarityFlipped, isNegated } = comparison;
  const vetoes = findMarketVetoes(comparison);
  const probability = sigmoid(logisticScore(coefficients.market, features));
  const decision = (relation: MatchRelation | null): MatchDecision => ({ relation, probability, vetoes });
  const isOpposite = quantities === "opposite";
  if (vetoes.length === 0) return decision(isOpposite ? "inverse" : "identical");
  if (probability < RELATED_PROBABILITY_MIN || vetoes.length > 1)
    return { relation: null, probability: VETOED_PROBABILITY, vetoes };
  if (isPolarityFlipped && isNegated) return decision(isOpposite ? "identical" : "inverse");
  const [veto] = vetoes;
  if (veto === "threshold" && quantities === "a_implies_b") return decision("subset");
  if (veto === "threshold" && quantities === "b_implies_a") return decision("superset");
  if (veto === "threshold" && quantities === "overlap") return decision("overlap");
  if (veto === "deadline" && periods.areOpenStarts && periods.daysApart !== null)
    return decision(periods.daysApart < 0 ? "subset" : "superset");
  return { relation: null, probability: VETOED_PROBABILITY, vetoes };
}

/** Whether two markets probably ask the same or the opposite question. */
export const isSameProposition = (decision: MatchDecision): boolean =>
  isSameQuestion(decision) && decision.probability >= MATCH_DECISION_MIN;

export function findEventVetoes({ periods, vetoedScopes, hasOtherFixture, hasOtherPlace }: EventComparison): Veto[] {
  const vetoes: Veto[] = [...vetoedScopes];
  if (hasOtherFixture) vetoes.push("fixture");
  if (periods.relation === "conflict") vetoes.push("deadline");
  if (hasOtherPlace) vetoes.push("place");
  return vetoes;
}

/** Decides the relation of two events: identical, or null if there is a veto. */
export function decideEvents(comparison: EventComparison, coefficients: MatchingCoefficients): MatchDecision {
  const vetoes = findEventVetoes(comparison);
  if (vetoes.length > 0) return { relation: null, probability: VETOED_PROBABILITY, vetoes };
  return {
    relation: "identical",
    probability: sigmoid(logisticScore(coefficients.event, comparison.features)),
    vetoes,
  };
}

/** Converts a model probability to the probability for pairs from a market board. */
export function calibrateForBoard(probability: number, { board }: MatchingCoefficients): number {
  return sigmoid(board.slope * logit(clamp(probability, 1e-9, 1 - 1e-9)) + board.shift);
}
