import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";

/** Lengths of candle intervals, in milliseconds. */
export const CANDLE_INTERVALS_MS = { "1m": 60_000, "5m": 300_000, "1h": HOUR_MS, "1d": DAY_MS } as const;
export type CandleInterval = keyof typeof CANDLE_INTERVALS_MS;

const TIME_PATTERN = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?(Z|[+ -]\d{2}:?\d{2})?$/i;

/**
 * Parses an ISO 8601 date or time; UTC without an offset. A space before an offset is read as +, because an unencoded +
 * in a query string means a space.
 *
 * @returns Unix milliseconds; null if the text is malformed
 * @example parseTime("2026-11-20T01:00:00+01:00"); // 1795132800000
 */
export function parseTime(text: string): number | null {
  const match = TIME_PATTERN.exec(text);
  if (match === null) return null;
  const [, date, time = "00:00", seconds = "00", fraction = "0", offset = "Z"] = match;
  const normalisedOffset = offset.toUpperCase() === "Z" ? "Z" : `${offset[0] === "-" ? "-" : "+"}${offset.slice(1)}`;
  const withColon = normalisedOffset.replace(/^([+-]\d{2}):?(\d{2})$/, "$1:$2");
  const parsed = Date.parse(`${date}T${time}:${seconds}.${fraction.slice(0, 3).padEnd(3, "0")}${withColon}`);
  // Date.parse reads February 30 as March 2.
  const isDate = new Date(`${date}T00:00Z`).toJSON()?.startsWith(date ?? "");
  return isDate === true && !Number.isNaN(parsed) ? parsed : null;
}
