import type { BoardMarket } from "../../../board/index.ts";
import { LOGICAL_RELATIONS } from "../../markets/relations/index.ts";

/** A logical dependence; `correlation` if it is measured from price moves; `unknown` without enough data. */
export const DEPENDENCES = [...LOGICAL_RELATIONS, "correlation", "unknown"] as const;
export type Dependence = (typeof DEPENDENCES)[number];

/** A market and the probability that the answer starts from. */
export interface MarketProbability {
  readonly market: BoardMarket;
  /** In [0, 1]. */
  readonly probability: number;
  /** Whether the probability is our estimate or the market's price. */
  readonly source: "model" | "price";
}

/**
 * How far the two probabilities contradict a logical dependence: 0 if both can be right. The conditional
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
