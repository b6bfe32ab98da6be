import type { BoardMarket } from "../../../board/index.ts";
import { LOGICAL_RELATIONS } from "../../markets/relations/index.ts";

/** How two markets depend on each other: by logic, by a measured `correlation` of price changes, or `unknown`. */
export const DEPENDENCES = [...LOGICAL_RELATIONS, "correlation", "unknown"] as const;
export type Dependence = (typeof DEPENDENCES)[number];

export interface MarketProbability {
  readonly market: BoardMarket;
  /** In [0, 1]. */
  readonly probability: number;
  /** Whether the probability is our estimate or the market's price. */
  readonly source: "model" | "price";
}

/**
 * Size of the contradiction between two probabilities and a logical dependence; 0 if they are consistent. If they are
 * not, the weighted mean of the conditional probabilities differs from the probability of the question.
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
