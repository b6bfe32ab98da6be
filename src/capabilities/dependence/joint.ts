import { jointProbability } from "../../quant/joint-probability.ts";
import type { LogicalDependence } from "./logical.ts";

/** Dependence between the answers of two questions: logical if known, else the correlation of their price moves. */
export interface Dependence {
  readonly dependence: LogicalDependence | null;
  /** In [-1, 1]; used without a logical dependence. Null if unknown. */
  readonly correlation: number | null;
}

/**
 * Probability that both questions are answered YES. A logical dependence gives it directly; a correlation gives it through
 * a Gaussian copula.
 *
 * @param p  probability of the question, in [0, 1]
 * @param q  probability of the hypothesis, in [0, 1]
 * @returns  null if nothing is known about the dependence
 */
export function jointOf({ dependence, correlation }: Dependence, p: number, q: number): number | null {
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

/**
 * Correlation of the answers, as variables that are 1 for YES and 0 for NO: (P(both) - p q) / sqrt(p (1 - p) q (1 - q)).
 *
 * @returns  in [-1, 1]; null if nothing is known about the dependence or one of the answers is certain
 */
export function answerCorrelation(known: Dependence, p: number, q: number): number | null {
  const joint = jointOf(known, p, q);
  const deviation = Math.sqrt(p * (1 - p) * q * (1 - q));
  return joint === null || deviation === 0 ? null : Math.max(-1, Math.min(1, (joint - p * q) / deviation));
}
