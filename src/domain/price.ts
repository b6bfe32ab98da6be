/**
 * Prices are probabilities in [0, 1] on a grid of 1e-6, the finest grid of any venue. Arithmetic uses integer micros,
 * so that 1 - 0.55 is 0.45 and not 0.44999999999999996.
 */
const MICROS_PER_UNIT = 1_000_000;

/** The two contracts of a market. */
export type Side = "yes" | "no";

/** Converts a price in [0, 1] to integer micros in [0, 1_000_000]. */
export function toMicros(price: number): number {
  return Math.round(price * MICROS_PER_UNIT);
}

/** Converts integer micros to the double nearest to the decimal price. */
export function fromMicros(micros: number): number {
  return micros / MICROS_PER_UNIT;
}

/** Returns the price of the other side of a binary contract: 1 - price, on the micro grid. */
export function complement(price: number): number {
  return fromMicros(MICROS_PER_UNIT - toMicros(price));
}

/** Returns the mean of bid and ask on the micro grid. Half a micro rounds up. */
export function midPrice(bid: number, ask: number): number {
  return fromMicros(Math.round((toMicros(bid) + toMicros(ask)) / 2));
}

/** Returns ask minus bid on the micro grid, so that equal spreads are equal; null without both. */
export function spreadOf(bid: number | null, ask: number | null): number | null {
  return bid === null || ask === null ? null : fromMicros(toMicros(ask) - toMicros(bid));
}

const DECIMAL_PATTERN = /^[+-]?(\d+\.?\d*|\.\d+)$/;

/**
 * Parses a venue's decimal string or JSON number. Returns null if it is missing, empty or not finite. Strings with
 * exponents, spaces or other characters are invalid, because no venue sends them.
 */
export function parseDecimal(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "string" || !DECIMAL_PATTERN.test(value)) return null;
  const parsed = Number(value);
  return Number.isFinite(parsed) ? parsed : null;
}

/**
 * Parses a venue's price to a number in (0, 1) on the micro grid. Returns null if it is missing, malformed or outside
 * this range. Venues send 0 or 1 for an absent quote.
 */
export function parseTradablePrice(value: unknown): number | null {
  const parsed = parseDecimal(value);
  if (parsed === null) return null;
  const micros = toMicros(parsed);
  return micros > 0 && micros < MICROS_PER_UNIT ? fromMicros(micros) : null;
}
