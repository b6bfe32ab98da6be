import { clamp } from "../../../lib/numbers.ts";
import {
  type ConditionalProbability,
  conditionalProbability,
  jointProbability,
} from "../../../quant/joint-probability.ts";
import type { LogicalRelation } from "./logical.ts";

/**
 * Dependence between the outcomes of two questions: the logical relation if known, else the correlation of their
 * price moves.
 */
export interface OutcomeDependence {
  readonly dependence: LogicalRelation | null;
  /** In [-1, 1]; used only without a logical relation. Null if unknown. */
  readonly correlation: number | null;
}

/**
 * Returns the probability of a question given that a hypothesis is true, and given that it is false.
 *
 * A probability that follows from a logical relation is exactly 0 or 1, even if p and q contradict the relation.
 * Otherwise, q × ifYes + (1 - q) × ifNo = p, limited to [0, 1] if p and q contradict the relation. For a correlation, a
 * Gaussian copula gives the joint probability.
 *
 * @param p  probability of the question, in [0, 1]
 * @param q  probability of the hypothesis, in [0, 1]
 * @returns  both null if the dependence is unknown; null for a condition of probability 0, unless the logical relation
 *   decides it
 * @example conditionalProbabilities({ dependence: "same", correlation: null }, 0.41, 0.25); // { ifYes: 1, ifNo: 0 }
 */
export function conditionalProbabilities(
  { dependence, correlation }: OutcomeDependence,
  p: number,
  q: number,
): ConditionalProbability {
  switch (dependence) {
    case "same":
      return { ifYes: 1, ifNo: 0 };
    case "opposite":
      return { ifYes: 0, ifNo: 1 };
    case "exclusive":
      return { ifYes: 0, ifNo: shareOf(p, 1 - q) };
    case "implies":
      return { ifYes: 1, ifNo: shareOf(p - q, 1 - q) };
    case "implied":
      return { ifYes: shareOf(p, q), ifNo: 0 };
    case null:
      if (correlation === null) return { ifYes: null, ifNo: null };
      return conditionalProbability(p, q, jointProbability(p, q, correlation));
  }
}

/** Conditional probability part / condition, limited to [0, 1]; null for a condition of probability 0. */
const shareOf = (part: number, condition: number): number | null =>
  condition === 0 ? null : clamp(part / condition, 0, 1);

/**
 * Returns the correlation of the outcomes (1 for YES, 0 for NO): (P(both) - p q) / sqrt(p (1 - p) q (1 - q)). The
 * correlation is 1 for the same question and -1 for the opposite question, even if p and q contradict this.
 *
 * @returns  in [-1, 1]; null if the dependence is unknown or an outcome is certain
 */
export function outcomeCorrelation(known: OutcomeDependence, p: number, q: number): number | null {
  const joint = jointOf(known, p, q);
  const deviation = Math.sqrt(p * (1 - p) * q * (1 - q));
  if (joint === null || deviation === 0) return null;
  if (known.dependence === "same") return 1;
  if (known.dependence === "opposite") return -1;
  return clamp((joint - p * q) / deviation, -1, 1);
}

/**
 * Returns the probability that both questions resolve YES, limited to the range that p and q allow; null if the
 * dependence is unknown.
 */
function jointOf({ dependence, correlation }: OutcomeDependence, p: number, q: number): number | null {
  switch (dependence) {
    case "same":
    case "implies":
    case "implied":
      return Math.min(p, q);
    case "opposite":
    case "exclusive":
      return Math.max(0, p + q - 1);
    case null:
      return correlation === null ? null : jointProbability(p, q, correlation);
  }
}
