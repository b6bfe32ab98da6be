import { fromMicros, toMicros } from "../domain/price.ts";

/** Called with the reason for each row that could not be stored or read back. */
export type StoreDrop = (reason: string) => void;

/** 9999-12-31T23:59:59Z. Venues use later dates to mean "never", and ISO 8601 has no four-digit year for them. */
const TIME_MS_MAX = 253_402_300_799_000;
const MICROS_MAX = 1_000_000;

/** A timestamp the database can store, in Unix milliseconds; null for values before 1970 or after 9999. */
export function storableTime(timeMs: number | null): number | null {
  return timeMs !== null && timeMs >= 0 && timeMs <= TIME_MS_MAX ? Math.round(timeMs) : null;
}

/** A price in [0, 1] as integer micros; null for any other value. */
export function storablePrice(price: number | null): number | null {
  if (price === null) return null;
  const micros = toMicros(price);
  return micros >= 0 && micros <= MICROS_MAX ? micros : null;
}

/** The price of a stored value in micros. */
export function toPrice(micros: number | null): number | null {
  return micros === null ? null : fromMicros(micros);
}

/** A finite, non-negative amount; null for any other value. */
export function storableAmount(amount: number | null): number | null {
  return amount !== null && Number.isFinite(amount) && amount >= 0 ? amount : null;
}

/** PostgreSQL text cannot contain NUL, and one such id would fail the whole batch. */
export function isStorableId(id: string): boolean {
  return id !== "" && !id.includes("\0");
}

/** Removes NUL characters and replaces unpaired surrogates. */
export function storableText(text: string): string {
  return text.replaceAll("\0", "").toWellFormed();
}
