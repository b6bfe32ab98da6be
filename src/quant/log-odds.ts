import { clamp, logit } from "../lib/numbers.ts";
import { assertProbability } from "./assert.ts";

/** Minimum distance of a price from 0 and 1: half a tick of one cent. */
const PROBABILITY_MIN = 0.005;

/**
 * Log-odds of a probability: L = ln(p / (1 - p)). Probabilities outside [0.005, 0.995] are moved to the nearer bound,
 * so that a step of one tick near 0 or 1 is a limited move of the log-odds.
 *
 * @param p  probability, in [0, 1]
 * @returns  log-odds, in [-5.293, 5.293]
 * @example priceLogOdds(0.75); // 1.0986 = ln 3
 */
export function priceLogOdds(p: number): number {
  assertProbability(p, "p");
  return logit(clamp(p, PROBABILITY_MIN, 1 - PROBABILITY_MIN));
}
