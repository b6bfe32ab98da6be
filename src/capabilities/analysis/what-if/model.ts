import type { BoardMarket } from "../../../board/index.ts";
import { LOGICAL_RELATIONS } from "../../markets/relations/index.ts";

/** A logical dependence; `correlation` if it is measured from price moves; `unknown` without enough data. */
export const DEPENDENCES = [...LOGICAL_RELATIONS, "correlation", "unknown"] as const;
export type Dependence = (typeof DEPENDENCES)[number];

/** Correlation of the log-odds moves of two markets. */
export interface MeasuredCorrelation {
  /** In [-1, 1]; null if both moved too rarely. */
  readonly correlation: number | null;
  readonly dataPoints: number;
}

/** A market and the probability that the answer starts from. */
export interface Side {
  readonly market: BoardMarket;
  /** In [0, 1]. */
  readonly probability: number;
  /** Whether the probability is our estimate or the market's price. */
  readonly source: "model" | "price";
}

export interface WhatIf {
  readonly question: Side;
  readonly hypothesis: Side;
  /** Word similarity of the text and the chosen market, in (0, 1]. */
  readonly similarity: { readonly question: number; readonly hypothesis: number };
  readonly dependence: Dependence;
  readonly correlation: number | null;
  readonly dataPoints: number | null;
  /** Probability of the question if the hypothesis is true, and if it is false; null if unknown. */
  readonly ifTrue: number | null;
  readonly ifFalse: number | null;
  /** Unix milliseconds. */
  readonly generatedAt: number;
}

/**
 * By how much the two probabilities contradict a logical dependence: 0 if they can both be right. The conditional
 * probabilities follow the dependence, so with a contradiction they do not average to the probability of the question.
 *
 * @param p  probability of the question, in [0, 1]
 * @param q  probability of the hypothesis, in [0, 1]
 * @returns  difference of probabilities, in [0, 1]
 */
export function contradictionOf(dependence: Dependence, p: number, q: number): number {
  switch (dependence) {
    case "same":
      return Math.abs(p - q);
    case "opposite":
      return Math.abs(p + q - 1);
    case "exclusive":
      return Math.max(0, p + q - 1);
    case "implies":
      return Math.max(0, q - p);
    case "implied":
      return Math.max(0, p - q);
    default:
      return 0;
  }
}
