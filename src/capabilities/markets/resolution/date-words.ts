import type { TimeZone } from "../../../lib/zoned-time.ts";

export const MONTH =
  "(Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\\.?";

const MONTH_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** Returns 1 to 12 for an English name or abbreviation of a month. */
export function monthNumber(name: string): number {
  return MONTH_NAMES.indexOf(name.slice(0, 3).toLowerCase()) + 1;
}

const ZONES: readonly (readonly [RegExp, TimeZone])[] = [
  [/^(?:ET|EST|EDT|Eastern)/i, "America/New_York"],
  [/^(?:CT|CST|CDT|Central )/i, "America/Chicago"],
  [/^(?:MT|MST|MDT|Mountain )/i, "America/Denver"],
  [/^(?:PT|PST|PDT|Pacific )/i, "America/Los_Angeles"],
  [/^(?:UTC|GMT|Z)/i, "UTC"],
  [/^BST/i, "Europe/London"],
  [/^CES?T/i, "Europe/Berlin"],
  [/^JST/i, "Asia/Tokyo"],
];

/** Time zones as texts name them. "EST" means the local time of New York all year: venues use it in summer too. */
const ZONE_WORD =
  "(ET|EST|EDT|Eastern(?: Standard| Daylight)?(?: Time)?|C[SD]?T|M[SD]?T|P[SD]?T|(?:Central|Mountain|Pacific)(?: Standard| Daylight)? Time|UTC|GMT|BST|CES?T|JST)\\b";

export function zoneOf(word: string): TimeZone | null {
  return ZONES.find(([pattern]) => pattern.test(word))?.[1] ?? null;
}

/** Returns the zone for times without one: New York if the text names its time anywhere, else UTC. */
export function defaultZoneOf(text: string): TimeZone {
  return /\b(?:E[SD]?T|Eastern (?:Standard |Daylight )?Time)\b/.test(text) ? "America/New_York" : "UTC";
}

/** A time of day in a text, in minutes after midnight, with its zone if the text states it beside. */
export interface ClockTime {
  readonly minutes: number;
  readonly zone: TimeZone | null;
}

const CLOCK = `(?:(?<!\\d)(\\d{1,2})(?::([0-5]\\d))?(?::[0-5]\\d)? ?([ap])\\.?m\\b\\.?|(?<!\\d)([01]?\\d|2[0-4]):([0-5]\\d)(?::[0-5]\\d)?|\\b(noon)\\b)(?: ?\\(?${ZONE_WORD}\\)?)?`;
/** A zone after a time whose offset is not known: "IST", "London time", "UTC" followed by "+8". */
const OTHER_ZONE = " ?\\(?(?:[A-Z]{2,4}T\\b|(?:[A-Z][a-z]+|local) time\\b|[+-]\\d{1,2}(?::\\d{2})?)\\)?";
const CLOCK_AFTER = new RegExp(`^,? ?(?:at|@|by)? ?${CLOCK}`, "i");
const OTHER_ZONE_AFTER = new RegExp(`^${OTHER_ZONE}`);
const CLOCK_BEFORE = new RegExp(`${CLOCK}(${OTHER_ZONE})?,? ?(?:on|of)?,? $`, "i");
/** Characters that a time and its zone can take up before or after a date. */
const REACH = 48;

function readClock(match: RegExpExecArray): ClockTime | null {
  const [, hour12, minute12 = "0", half, hour24, minute24, noon, zone] = match;
  const zoneFound = zone === undefined ? null : zoneOf(zone);
  if (noon !== undefined) return { minutes: 12 * 60, zone: zoneFound };
  if (hour24 !== undefined) {
    const minutes = Number(hour24) * 60 + Number(minute24);
    return minutes > 24 * 60 ? null : { minutes, zone: zoneFound };
  }
  const hour = Number(hour12);
  if (hour < 1 || hour > 12) return null;
  return { minutes: ((hour % 12) + (half?.toLowerCase() === "p" ? 12 : 0)) * 60 + Number(minute12), zone: zoneFound };
}

/** Reads a time that directly follows `end`, such as ", 11:59 PM ET". A time in a zone that is not known is null. */
export function clockAfter(text: string, end: number): ClockTime | null {
  const after = text.slice(end, end + REACH);
  const match = CLOCK_AFTER.exec(after);
  return match === null || OTHER_ZONE_AFTER.test(after.slice(match[0].length)) ? null : readClock(match);
}

/**
 * Reads a time that directly precedes `start`, such as "11:59 PM ET on ", and where it starts. The time is null if its zone is
 * not known.
 */
export function clockBefore(
  text: string,
  start: number,
): { readonly time: ClockTime | null; readonly start: number } | null {
  const from = Math.max(0, start - REACH);
  const match = CLOCK_BEFORE.exec(text.slice(from, start));
  const time = match === null ? null : readClock(match);
  if (match === null || time === null) return null;
  const hasOtherZone = match[8] !== undefined;
  return { time: hasOtherZone ? null : time, start: from + match.index };
}
