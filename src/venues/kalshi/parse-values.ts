import { parseDecimal } from "../../domain/price.ts";
import { toCents } from "../../domain/usd.ts";

const TIME_MIN = Date.UTC(2015, 0);
const TIME_MAX = Date.UTC(2200, 0);

/**
 * Parses ISO 8601 to Unix milliseconds. Returns null if the time is missing, malformed or implausible, for example Go's
 * zero time in the year 1.
 */
export function parseTime(value: string | null | undefined): number | null {
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return time >= TIME_MIN && time <= TIME_MAX ? time : null;
}

/** Returns a number of contracts above 0, or null. */
export function parseSize(value: string | number | null | undefined): number | null {
  const size = parseDecimal(value);
  return size !== null && size > 0 ? size : null;
}

/** Returns a stream timestamp in Unix milliseconds, or null if it is missing or implausible. */
export function parseMs(value: number | null | undefined): number | null {
  return typeof value === "number" && value >= TIME_MIN && value <= TIME_MAX ? Math.round(value) : null;
}

const CONTRACTS_MAX = 1e12;
/** Kalshi's own dollar amounts are half the number of contracts, at any price (docs/decisions/0003). */
const USD_PER_CONTRACT = 0.5;

/** Converts contracts to USD by Kalshi's definition. Returns null if the count is missing or invalid. */
export function contractsToUsd(contracts: string | number | null | undefined): number | null {
  const count = parseDecimal(contracts);
  if (count === null || count < 0 || count > CONTRACTS_MAX) return null;
  return toCents(count * USD_PER_CONTRACT);
}
