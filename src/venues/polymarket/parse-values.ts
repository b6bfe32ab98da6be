import { parseDecimal } from "../../domain/price.ts";
import { toCents } from "../../domain/usd.ts";
import { parseShallowJson } from "../../lib/json/json-depth.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { parsePrice } from "../shared/parse-values.ts";

/** Returns the trimmed text, or null if it is absent, null or empty. */
export function parseText(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const text = value.trim();
  return text === "" ? null : text;
}

/** Returns an array or parses the JSON text of an array; returns null for other values. */
export function parseList(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value;
  if (typeof value !== "string") return null;
  try {
    const parsed = parseShallowJson(value);
    return Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

const TIME_MS_MIN = Date.UTC(2010, 0, 1);
const TIME_MS_MAX = Date.UTC(2200, 0, 1);

/** Returns the time in Unix milliseconds, or null if it is before 2010 or after 2200. */
export function toPlausibleTime(at: number): number | null {
  return Number.isFinite(at) && at >= TIME_MS_MIN && at <= TIME_MS_MAX ? at : null;
}

/** Parses `2026-11-20T15:00:00Z` or `2026-11-20 15:00:00+00` to Unix milliseconds. */
export function parseTime(value: unknown): number | null {
  const text = parseText(value);
  if (text === null) return null;
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return toPlausibleTime(Date.parse(text));
  const iso = text.replace(" ", "T").replace(/([+-]\d{2})$/, "$1:00");
  const hasZone = /(Z|[+-]\d{2}:?\d{2})$/i.test(iso);
  return toPlausibleTime(Date.parse(hasZone ? iso : `${iso}Z`));
}

/** Parses a timestamp of the stream or a book: Unix milliseconds in a string. */
export function parseMs(value: unknown): number | null {
  const parsed = parseDecimal(value);
  return parsed === null ? null : toPlausibleTime(parsed);
}

/** Returns the first valid USD amount (at least 0) in cents, or null. */
export function parseAmount(...values: readonly unknown[]): number | null {
  for (const value of values) {
    const parsed = parseDecimal(value);
    if (parsed !== null && parsed >= 0) return toCents(parsed);
  }
  return null;
}

/** Returns a price in (0, 1), or null. Without a price, the venue sends 0, 1, "" or null, or omits the field. */
export function parseQuotedPrice(value: unknown, countDrop: DropCounter): number | null {
  return value === "" ? null : parsePrice(value, countDrop);
}
