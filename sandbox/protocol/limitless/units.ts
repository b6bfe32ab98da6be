/** Rounds to the six decimals of a token. */
export function roundTo6Decimals(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** Converts an amount of USD, contracts or tokens to an integer with six implied decimals. */
export function toRawUnits(amount: number): string {
  return String(Math.round(amount * 1e6));
}
