/** Price as a number of cents of a contract that pays $1: 0.415 is `41.5¢`. */
export function formatPrice(price: number | null): string {
  return price === null ? "none" : `${trim((100 * price).toFixed(1))}¢`;
}

/** Price of an order, with all its decimals: 0.4237 is `42.37¢`. Prices have at most six decimals. */
export function formatOrderPrice(price: number | null): string {
  return price === null ? "none" : `${trim((100 * price).toFixed(4))}¢`;
}

/** Probability or share as a percentage, without the percent sign: 0.4153 is `41.5`. */
export function formatPercent(share: number): string {
  return trim((100 * share).toFixed(1));
}

/** Difference of probabilities in percentage points, with a sign: -0.042 is `-4.2`. */
export function formatPoints(difference: number): string {
  const text = trim((100 * difference).toFixed(1));
  return difference > 0 && text !== "0" ? `+${text}` : text;
}

/** A number with at most two decimals. */
export function formatNumber(value: number): string {
  return trim(value.toFixed(2));
}

const trim = (text: string): string => (text.includes(".") ? text.replace(/\.?0+$/, "") : text).replace(/^-0$/, "0");
