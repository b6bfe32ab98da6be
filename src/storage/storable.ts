import { fromMicros, toMicros } from "../domain/price.ts";

/** 9999-12-31T23:59:59Z. Venues use later dates for "never", which ISO 8601 cannot represent with a four-digit year. */
const TIME_MS_MAX = 253_402_300_799_000;
const MICROS_MAX = 1_000_000;

/** Rounds a timestamp in Unix milliseconds. Returns null for values before 1970 or after 9999. */
export function toStorableTime(timeMs: number | null): number | null {
  return timeMs !== null && timeMs >= 0 && timeMs <= TIME_MS_MAX ? Math.round(timeMs) : null;
}

/** Converts a price in [0, 1] to integer micros. Returns null for any other value. */
export function toStorablePrice(price: number | null): number | null {
  if (price === null) return null;
  const micros = toMicros(price);
  return micros >= 0 && micros <= MICROS_MAX ? micros : null;
}

/** Converts integer micros to a price. */
export const toPrice = (micros: number | null): number | null => (micros === null ? null : fromMicros(micros));

/** Returns a finite, non-negative amount, or null for any other value. */
export function toStorableAmount(amount: number | null): number | null {
  return amount !== null && Number.isFinite(amount) && amount >= 0 ? amount : null;
}

/** Whether PostgreSQL can store the id. PostgreSQL text cannot contain NUL, and one such id would fail the batch. */
export const isStorableId = (id: string): boolean => id !== "" && !id.includes("\0");

/** Removes NUL characters and replaces unpaired surrogates. */
export const toStorableText = (text: string): string => text.replaceAll("\0", "").toWellFormed();
