import { DAY_MS, MINUTE_MS } from "../durations.ts";
import type { CivilDate } from "./civil-date.ts";

/** The supported IANA time zones. The list bounds the cache of formatters. */
const TIME_ZONES = [
  "UTC",
  "America/New_York",
  "America/Chicago",
  "America/Denver",
  "America/Los_Angeles",
  "Europe/London",
  "Europe/Berlin",
  "Asia/Tokyo",
] as const;
export type TimeZone = (typeof TIME_ZONES)[number];

const formats = new Map<TimeZone, Intl.DateTimeFormat>();

function formatOf(zone: TimeZone): Intl.DateTimeFormat {
  const cached = formats.get(zone);
  if (cached !== undefined) return cached;
  const number = "2-digit" as const;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: number,
    day: number,
    hour: number,
    minute: number,
    second: number,
  });
  formats.set(zone, format);
  return format;
}

/** Loads the time zone data, which takes up to 0.1 s. Otherwise the first conversion loads it. */
export function loadTimeZones(): void {
  for (const zone of TIME_ZONES) formatOf(zone).format(0);
}

/** Returns the milliseconds by which local time is ahead of UTC at an instant. */
function offsetAt(instant: number, zone: TimeZone): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(instant)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1_000) * 1_000;
}

/**
 * Converts local time to Unix milliseconds with the daylight saving rules of the platform's time zone data. For a local
 * time that occurs twice (autumn) it returns the first instant. A skipped local time (spring) is moved forward by the
 * gap.
 *
 * @param minutes  minutes after local midnight, 0 to 1440
 * @example zonedInstant(civilDate(2026, 7, 2), 8 * 60 + 30, "America/New_York"); // 2026-07-02T12:30:00Z
 */
export function zonedInstant(date: CivilDate, minutes: number, zone: TimeZone): number {
  const local = date * DAY_MS + minutes * MINUTE_MS;
  if (zone === "UTC") return local;
  const before = local - offsetAt(local - DAY_MS, zone);
  const after = local - offsetAt(local + DAY_MS, zone);
  if (before + offsetAt(before, zone) === local) return before;
  return after + offsetAt(after, zone) === local ? after : before;
}
