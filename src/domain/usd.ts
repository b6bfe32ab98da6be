const CENTS_BELOW_USD = Number.MAX_SAFE_INTEGER / 100;

/**
 * Rounds USD to cents. Every amount is rounded once: where a venue's value is parsed, or where amounts are summed.
 * Binary fractions such as 1234.5600000001 therefore never reach the board, the store or a response.
 */
export function toCents(usd: number): number {
  // A larger amount has no cents in double precision, and 100 times the largest doubles is infinite. Adding 0 turns -0
  // into 0.
  return Math.abs(usd) < CENTS_BELOW_USD ? Math.round(usd * 100) / 100 + 0 : usd;
}

/** Returns the amount; null if it is unknown, negative or not finite. */
export const validUsd = (usd: number | null): number | null =>
  usd !== null && usd >= 0 && usd < Infinity ? usd : null;
