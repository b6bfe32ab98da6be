/** Decides from a comparison of fingerprints whether two markets or two events match. */
import { clamp, logit, sigmoid } from "../lib/numbers.ts";
import { withNothingDiffers } from "./common-features.ts";
import type { EventComparison } from "./event-features.ts";
import type { QuantityRelation } from "./facts/quantities.ts";
import type { ScopeComparison, ScopeDimension } from "./facts/scopes.ts";
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
export const MATCH_DECISION_MIN = { market: 0.85, event: 0.75 } as const;
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
const MATCHING_QUANTITIES: ReadonlySet<QuantityRelation> = new Set(["same", "none", "opposite", "missing"]);
/** Dimensions that are read from codes and numbers, so that other values are always another question. */
const CERTAIN_DIMENSIONS: readonly ScopeDimension[] = [
  "seat",
  "stage",
  "bet",
  "group",
  "part",
  "segment",
  "reading",
  "party",
  "time",
  "direction",
];

/** Dimensions of a game of which each has a closed vocabulary. A game without a value is about its winner. */
const GAME_DIMENSIONS: readonly ScopeDimension[] = ["bet", "segment", "part"];

const differingScopes = ({ relations }: ScopeComparison, areGames: boolean): ReadonlySet<ScopeDimension> =>
  new Set([
    ...CERTAIN_DIMENSIONS.filter((dimension) => relations.get(dimension) === "differs"),
    ...(areGames ? GAME_DIMENSIONS.filter((dimension) => (relations.get(dimension) ?? "same") !== "same") : []),
  ]);

/** Returns the vetoes of two markets. Despite `threshold`, `deadline` or `polarity`, they can be related. */
export function findMarketVetoes(comparison: MarketComparison): Veto[] {
  const vetoes: Veto[] = [...differingScopes(comparison.scopes, comparison.features.fixture_same > 0)];
  if (comparison.hasOtherGame) vetoes.push("fixture");
  if (comparison.hasOtherSubject) vetoes.push("outcome");
  if (comparison.hasOtherPlace) vetoes.push("place");
  if (comparison.periods.relation === "conflict") vetoes.push("deadline");
  if (!MATCHING_QUANTITIES.has(comparison.quantities)) vetoes.push("threshold");
  if (comparison.isPolarityFlipped && !comparison.isNegated) vetoes.push("polarity");
  return vetoes;
}

/** Decides the relation of two markets; null if they are not related. */
export function decideMarkets(comparison: MarketComparison, coefficients: MatchingCoefficients): MatchDecision {
  const { features, quantities, periods, isPolarityFlipped, areOppositeSides } = comparison;
  const vetoes = findMarketVetoes(comparison);
  const probability = sigmoid(logisticScore(coefficients.market, features));
  const decision = (relation: MatchRelation, of = probability): MatchDecision => ({
    relation,
    probability: of,
    vetoes,
  });
  const flips = [quantities === "opposite", isPolarityFlipped, areOppositeSides].filter((isFlipped) => isFlipped);
  if (vetoes.length === 0) return decision(flips.length % 2 === 1 ? "inverse" : "identical");
  const unrelated: MatchDecision = { relation: null, probability: VETOED_PROBABILITY, vetoes };
  if (vetoes.length > 1 || flips.length > 0) return unrelated;
  // The probability of a match if the deadlines and thresholds were equal.
  const related = sigmoid(logisticScore(coefficients.market, withNothingDiffers({ ...features, period_differs: 0 })));
  if (related < RELATED_PROBABILITY_MIN) return unrelated;
  const [veto] = vetoes;
  if (veto === "threshold" && quantities === "a_implies_b") return decision("subset", related);
  if (veto === "threshold" && quantities === "b_implies_a") return decision("superset", related);
  if (veto === "threshold" && quantities === "overlap") return decision("overlap", related);
  if (veto === "deadline" && periods.areOpenStarts && periods.daysApart !== null)
    return decision(periods.daysApart < 0 ? "subset" : "superset", related);
  return unrelated;
}

/** Whether two markets probably ask the same or the opposite question. */
export const isSameProposition = (decision: MatchDecision, grain: keyof typeof MATCH_DECISION_MIN): boolean =>
  isSameQuestion(decision) && decision.probability >= MATCH_DECISION_MIN[grain];

export function findEventVetoes({ features, periods, scopes, hasOtherGame, hasOtherPlace }: EventComparison): Veto[] {
  const vetoes: Veto[] = [...differingScopes(scopes, features.fixture_same > 0)];
  if (hasOtherGame) vetoes.push("fixture");
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
