import { clamp, logit, sigmoid } from "../lib/numbers.ts";

/** Minimum distance of an estimated probability from 0 and 1. */
export const PROBABILITY_MIN = 1e-4;

/**
 * Log-odds of a probability: L = ln(p / (1 - p)), of p bounded to [0.0001, 0.9999].
 *
 * @param probability  in [0, 1]
 * @returns  in [-9.21, 9.21]
 * @example toLogOdds(0.75); // 1.0986 = ln 3
 */
export function toLogOdds(probability: number): number {
  return logit(clamp(probability, PROBABILITY_MIN, 1 - PROBABILITY_MIN));
}

/**
 * Probability of log-odds: p = 1 / (1 + exp(-L)), bounded to [0.0001, 0.9999].
 *
 * @example toProbability(0); // 0.5
 */
export function toProbability(logOdds: number): number {
  return clamp(sigmoid(logOdds), PROBABILITY_MIN, 1 - PROBABILITY_MIN);
}
