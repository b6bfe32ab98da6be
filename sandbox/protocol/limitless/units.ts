/** Rounds to the six decimals of a token. */
export function round6(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** USD, contract and token amounts are sent as integers with six implied decimals. */
export function rawUnits(amount: number): string {
  return String(Math.round(amount * 1e6));
}
