import { clamp } from "../../../lib/numbers.ts";
import {
  type ConditionalProbability,
  conditionalProbability,
  jointProbability,
} from "../../../quant/joint-probability.ts";
import type { LogicalRelation } from "./logical.ts";

/** Dependence between the answers of two questions: logical if known, else the correlation of their price moves. */
export interface Dependence {
  readonly dependence: LogicalRelation | null;
  /** In [-1, 1]; used without a logical dependence. Null if unknown. */
  readonly correlation: number | null;
}

/**
 * Probabilities of a question if a hypothesis is true, and if it is false.
 *
 * What a logical dependence decides is exactly 0 or 1, also if p and q contradict the dependence. The rest keeps q ×
 * ifYes + (1 - q) × ifNo = p, as far as the result stays in [0, 1]: for all p and q that do not contradict the
 * dependence. A correlation gives the probability of both through a Gaussian copula.
 *
 * @param p  probability of the question, in [0, 1]
 * @param q  probability of the hypothesis, in [0, 1]
 * @returns  nulls if nothing is known about the dependence; null for a condition of probability 0 that logic does not
 *   decide
 * @example conditionOn({ dependence: "same", correlation: null }, 0.41, 0.25); // { ifYes: 1, ifNo: 0 }
 */
export function conditionOn({ dependence, correlation }: Dependence, p: number, q: number): ConditionalProbability {
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

/** Share of a condition in which the question is YES, moved into [0, 1]; null for a condition of probability 0. */
const shareOf = (part: number, condition: number): number | null =>
  condition === 0 ? null : clamp(part / condition, 0, 1);

/**
 * Correlation of the answers, as variables that are 1 for YES and 0 for NO: (P(both) - p q) / sqrt(p (1 - p) q (1 -
 * q)). It is 1 for the same question and -1 for the opposite one, also if p and q contradict this.
 *
 * @returns  in [-1, 1]; null if nothing is known about the dependence or one of the answers is certain
 */
export function answerCorrelation(known: Dependence, p: number, q: number): number | null {
  const joint = jointOf(known, p, q);
  const deviation = Math.sqrt(p * (1 - p) * q * (1 - q));
  if (joint === null || deviation === 0) return null;
  if (known.dependence === "same") return 1;
  if (known.dependence === "opposite") return -1;
  return clamp((joint - p * q) / deviation, -1, 1);
}

/** Probability that both questions are answered YES, as far as p and q allow it; null if nothing is known. */
function jointOf({ dependence, correlation }: Dependence, p: number, q: number): number | null {
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
