/** Rounds to the six decimals of a token. */
export const roundTo6Decimals = (value: number): number => Math.round(value * 1e6) / 1e6;

/** Converts an amount of USD, contracts or tokens to an integer with six implied decimals. */
export const toRawUnits = (amount: number): string => String(Math.round(amount * 1e6));
