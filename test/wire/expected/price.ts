/**
 * Prices of the test oracle. The rules come from the venues' documents; nothing is imported from `src`, so that an error
 * in the adapters is not repeated here.
 */
import { numberOf } from "../json.ts";

const MICROS = 1_000_000;
/** Largest spread at which the displayed price is the mid price. */
const MID_SPREAD_MICROS_MAX = 100_000;

const toMicros = (value: number) => Math.round(value * MICROS);

/** Returns a price inside (0, 1), rounded to 1e-6. 0, 1, empty and missing values mean "no price". */
export function tradablePrice(value: unknown): number | null {
  const number = numberOf(value);
  if (number === null) return null;
  const micros = toMicros(number);
  return micros > 0 && micros < MICROS ? micros / MICROS : null;
}

export function complementOf(price: number): number {
  return (MICROS - toMicros(price)) / MICROS;
}

export interface QuotePrices {
  readonly bid: number | null;
  readonly ask: number | null;
  readonly last?: number | null;
  readonly indicative?: number | null;
}

export function isCrossed({ bid, ask }: QuotePrices): boolean {
  return bid !== null && ask !== null && toMicros(bid) >= toMicros(ask);
}

export function isNarrow({ bid, ask }: QuotePrices): boolean {
  return (
    bid !== null &&
    ask !== null &&
    toMicros(bid) < toMicros(ask) &&
    toMicros(ask) - toMicros(bid) <= MID_SPREAD_MICROS_MAX
  );
}

/**
 * The displayed price: the mid of a two-sided book with a spread of at most 0.10, else the last trade, else the venue's
 * own probability (of a market maker), else null. The last trade is moved into the bid and ask that exist.
 */
export function displayedPrice(quote: QuotePrices): number | null {
  const { bid, ask, last = null, indicative = null } = quote;
  if (bid !== null && ask !== null && isNarrow(quote)) return (toMicros(bid) + toMicros(ask)) / 2 / MICROS;
  if (last === null) return indicative;
  return isCrossed(quote) ? last : Math.min(Math.max(last, bid ?? 0), ask ?? 1);
}
