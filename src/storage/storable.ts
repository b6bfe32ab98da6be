import { toMicros } from "../domain/price.ts";

/** 9999-12-31T23:59:59Z: later dates are a venue's way of saying "never" and no calendar prints them. */
const TIME_MS_MAX = 253_402_300_799_000;
const MICROS_MAX = 1_000_000;

/** A time as the store can hold it, Unix milliseconds; null for anything that is not a date of this era. */
export function storableTime(timeMs: number | null): number | null {
  return timeMs !== null && timeMs >= 0 && timeMs <= TIME_MS_MAX ? Math.round(timeMs) : null;
}

/** A price in [0, 1] as integer micros; null for anything else. */
export function storablePrice(price: number | null): number | null {
  if (price === null) return null;
  const micros = toMicros(price);
  return micros >= 0 && micros <= MICROS_MAX ? micros : null;
}

/** A finite amount not below 0; null for anything else. */
export function storableAmount(amount: number | null): number | null {
  return amount !== null && Number.isFinite(amount) && amount >= 0 ? amount : null;
}

/** PostgreSQL's text holds no NUL, and one such character would fail a whole batch. */
export function isStorableId(id: string): boolean {
  return id !== "" && !id.includes("\0");
}

/** Text without NUL characters and broken surrogates. */
export function storableText(text: string): string {
  return text.replaceAll("\0", "").toWellFormed();
}
