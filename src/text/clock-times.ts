import type { TimeZone } from "../lib/dates/zoned-time.ts";

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

/** Names of zones. "EST" means the local time of New York all year: venues use it in summer too. */
const ZONE_WORD =
  "(ET|EST|EDT|Eastern(?: Standard| Daylight)?(?: Time)?|C[SD]?T|M[SD]?T|P[SD]?T|(?:Central|Mountain|Pacific)(?: Standard| Daylight)? Time|UTC|GMT|BST|CES?T|JST)\\b";

/** Returns the zone of an abbreviation or name such as "ET", in any case, or null if it is not known. */
export const timeZoneOf = (word: string): TimeZone | null => ZONES.find(([pattern]) => pattern.test(word))?.[1] ?? null;

/** Returns the default time zone of a text: New York if the text names its time anywhere, else UTC. */
export function defaultZoneOf(text: string): TimeZone {
  return /\b(?:E[SD]?T|Eastern (?:Standard |Daylight )?Time)\b/.test(text) ? "America/New_York" : "UTC";
}

export interface ClockTime {
  /** Minutes after midnight, local time, 0 to 1440. */
  readonly minutes: number;
  /** The stated zone; null if there is none. */
  readonly zone: TimeZone | null;
}

const CLOCK = `(?:(?<!\\d)(\\d{1,2})(?::([0-5]\\d))?(?::[0-5]\\d)? ?([ap])\\.?m\\b\\.?|(?<!\\d)([01]?\\d|2[0-4]):([0-5]\\d)(?::[0-5]\\d)?|\\b(noon)\\b)(?: ?\\(?${ZONE_WORD}\\)?)?`;
/**
 * An offset after "UTC": "+8", "+5:30", "-3", "-05:00". "12:00 UTC-12:15 UTC" and "8 UTC-9 PM" are ranges: a range ends
 * with a zone, with "am" or "pm", or with minutes that no offset has.
 */
const OFFSET =
  "(?:\\+\\d{1,2}(?::?[0-5]\\d)?|-(?:0?\\d(?::?[03]0)?|1[0-2]))(?!\\d|:| ?(?:[ap]\\.?m|[AP]\\.?M|e[sd]?t|E[SD]?T|utc|UTC|gmt|GMT)\\b)";
/** A zone that is not in `ZONES`: "IST", "London time", "UTC" followed by "+8". */
const OTHER_ZONE = ` ?\\(?(?:[A-Z]{2,4}T\\b|(?:[A-Z][a-z]+|local) time\\b|${OFFSET})\\)?`;
const CLOCK_AFTER = new RegExp(`^,? ?(?:at|@|by)? ?${CLOCK}`, "i");
const OTHER_ZONE_AFTER = new RegExp(`^${OTHER_ZONE}`);
const CLOCK_BEFORE = new RegExp(`${CLOCK}(${OTHER_ZONE})?,? ?(?:on|of)?,? $`, "i");
/** Maximum length of a time and its zone next to a date, in characters. */
const REACH = 48;

function parseClock(match: RegExpMatchArray): ClockTime | null {
  const [, hour12, minute12 = "0", half, hour24, minute24, noon, zone] = match;
  const zoneFound = zone === undefined ? null : timeZoneOf(zone);
  if (noon !== undefined) return { minutes: 12 * 60, zone: zoneFound };
  if (hour24 !== undefined) {
    const minutes = Number(hour24) * 60 + Number(minute24);
    return minutes > 24 * 60 ? null : { minutes, zone: zoneFound };
  }
  const hour = Number(hour12);
  if (hour < 1 || hour > 12) return null;
  return { minutes: ((hour % 12) + (half?.toLowerCase() === "p" ? 12 : 0)) * 60 + Number(minute12), zone: zoneFound };
}

/** Returns the time directly after `end` (", 11:59 PM ET"); null if there is none or its zone is unknown. */
export function findTimeAfter(text: string, end: number): ClockTime | null {
  const after = text.slice(end, end + REACH);
  const match = CLOCK_AFTER.exec(after);
  return match === null || OTHER_ZONE_AFTER.test(after.slice(match[0].length)) ? null : parseClock(match);
}

/**
 * Returns the time directly before `start` ("11:59 PM ET on ") and its position, or null. `time` is null if its zone is
 * not known.
 */
export function findTimeBefore(
  text: string,
  start: number,
): { readonly time: ClockTime | null; readonly start: number } | null {
  const from = Math.max(0, start - REACH);
  const match = CLOCK_BEFORE.exec(text.slice(from, start));
  const time = match === null ? null : parseClock(match);
  if (match === null || time === null) return null;
  const hasOtherZone = match[8] !== undefined;
  return { time: hasOtherZone ? null : time, start: from + match.index };
}

const OFFSET_AFTER = new RegExp(`^ ?${OFFSET}`, "i");
const CLOCK_ANYWHERE = new RegExp(`(?:\\bat )?(?<![\\w.])${CLOCK}(?!\\w)`, "gi");
/** The hour that starts a range, without "am" or "pm": "from 9 to 10 am", "May 5, 9-10 am". */
const RANGE_HOUR = /(?:^|[,(] ?|- |\b(?:from|between|at) |\d{4} )(\d{1,2})(?= ?(?:-|to|and|until) ?$)/i;
const RANGE_LINK = /^ ?(?:-|to|and|until) ?$/i;
const HALF_DAY_MINUTES = 12 * 60;

/** The position of a time in a text, as offsets of UTF-16 units. */
interface TextPlace {
  readonly start: number;
  readonly end: number;
}

export interface PlacedClockTime extends ClockTime, TextPlace {
  /** Whether the time before it starts a range that this time ends. */
  readonly isRangeEnd: boolean;
}

/** A time before ranges are read. */
interface ClockMention extends ClockTime, TextPlace {
  /** Whether the text says "am", "pm" or "noon". */
  readonly hasHalf: boolean;
  /** Whether the text states a zone that is not in `ZONES`. */
  readonly hasOtherZone: boolean;
}

function findClockMentions(text: string): readonly ClockMention[] {
  const mentions: ClockMention[] = [];
  for (const match of text.matchAll(CLOCK_ANYWHERE)) {
    const time = parseClock(match);
    if (time === null) continue;
    const { index: start } = match;
    const end = start + match[0].length;
    const hasHalf = match[3] !== undefined || match[6] !== undefined;
    const hour = hasHalf ? findRangeHour(text, mentions.at(-1)?.end ?? 0, start) : null;
    if (hour !== null) mentions.push(hour);
    // "UTC+8"
    const hasOtherZone = OFFSET_AFTER.test(text.slice(end, end + REACH));
    mentions.push({ minutes: time.minutes, zone: hasOtherZone ? null : time.zone, start, end, hasHalf, hasOtherZone });
  }
  return mentions;
}

/** Finds an hour such as "9" in "from 9 to 10 am" that ends before `end`, after `from`. */
function findRangeHour(text: string, from: number, end: number): ClockMention | null {
  const start = Math.max(from, end - REACH);
  const match = RANGE_HOUR.exec(text.slice(start, end));
  const hour = Number(match?.[1]);
  if (match === null || hour < 1 || hour > 12) return null;
  const hourEnd = start + match.index + match[0].length;
  return {
    minutes: hour * 60,
    zone: null,
    start: hourEnd - (match[1] ?? "").length,
    end: hourEnd,
    hasHalf: false,
    hasOtherZone: false,
  };
}

/**
 * Returns all times of day in text order. An unknown zone is null. The two ends of a range share what only one of them
 * states: "7:00-7:05 PM ET" starts at 7 PM in New York.
 */
export function findClockTimes(text: string): readonly PlacedClockTime[] {
  const mentions = findClockMentions(text);
  const isLinked = (first: ClockMention | undefined, last: ClockMention | undefined): boolean =>
    first !== undefined && last !== undefined && RANGE_LINK.test(text.slice(first.end, last.start));
  return mentions.map((mention, index) => {
    const { start, end, minutes, zone, hasHalf, hasOtherZone } = mention;
    const [before, after] = [mentions[index - 1], mentions[index + 1]];
    const isRangeEnd = isLinked(before, mention);
    const place = { start, end, isRangeEnd };
    if (isRangeEnd) return { ...place, minutes, zone: zone ?? (hasOtherZone ? null : (before?.zone ?? null)) };
    if (after === undefined || !isLinked(mention, after)) return { ...place, minutes, zone };
    const isHalfShared = after.hasHalf && !hasHalf;
    return {
      ...place,
      minutes: isHalfShared ? startOfRange(minutes, after.minutes) : minutes,
      zone: zone ?? after.zone,
    };
  });
}

/** Returns the start of a range as "am" or "pm", so that it is at most twelve hours before the end. */
function startOfRange(minutes: number, endMinutes: number): number {
  if (minutes > HALF_DAY_MINUTES) return minutes;
  const half = endMinutes >= HALF_DAY_MINUTES ? HALF_DAY_MINUTES : 0;
  const sameHalf = (minutes % HALF_DAY_MINUTES) + half;
  return sameHalf < endMinutes ? sameHalf : (sameHalf + HALF_DAY_MINUTES) % (2 * HALF_DAY_MINUTES);
}
