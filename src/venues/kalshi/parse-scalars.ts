import { parseDecimal, parseTradablePrice } from "../../domain/price.ts";
import type { DropCounter } from "../../ports/venue.ts";

const TIME_MIN = Date.UTC(2015, 0);
const TIME_MAX = Date.UTC(2200, 0);

/** ISO 8601 as Unix milliseconds; null when missing, malformed or absurd (Go's zero time reads as the year 1). */
export function parseTime(value: string | null | undefined): number | null {
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return time >= TIME_MIN && time <= TIME_MAX ? time : null;
}

/** A price that can be traded at; null for "no quote", which Kalshi writes as 0 or 1. What lies outside is counted. */
export function parsePrice(value: string | number | null | undefined, drop: DropCounter): number | null {
  const price = parseTradablePrice(value);
  if (price === null && value !== null && value !== undefined) {
    const number = parseDecimal(value);
    if (number === null || number < 0 || number > 1) drop("price_out_of_range");
  }
  return price;
}

/** Contracts, above 0, or null. */
export function parseSize(value: string | number | null | undefined): number | null {
  const size = parseDecimal(value);
  return size !== null && size > 0 ? size : null;
}

/** Unix milliseconds as the stream sends them; null when missing or absurd. */
export function parseMs(value: number | null | undefined): number | null {
  return typeof value === "number" && value >= TIME_MIN && value <= TIME_MAX ? Math.round(value) : null;
}

/** More contracts than this are no count of anything, and their value in dollars might be no number. */
const CONTRACTS_MAX = 1e12;

/**
 * Contracts counted one side, times a price, as the venue has no dollar figure of them. Null without a price or a count
 * (an estimate of nothing is not 0), and for a count that is absurd.
 */
export function valueInUsd(contracts: string | number | null | undefined, price: number | null): number | null {
  const amount = parseDecimal(contracts);
  if (amount === null || amount < 0 || amount > CONTRACTS_MAX) return null;
  if (amount === 0) return 0;
  return price === null ? null : Math.round(amount * price * 100) / 100;
}
