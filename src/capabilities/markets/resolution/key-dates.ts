import { type Calendar, listOccurrences, type Occurrence } from "../../../domain/calendars/calendar.ts";
import { validCloseTime, validExpectedTime } from "../../../domain/close-time.ts";
import type { MarketListing } from "../../../domain/market.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { KeyDate } from "./model.ts";
import type { PlacedDate, RulesReading } from "./read-rules.ts";
import { isMacroAsset, MACRO_CALENDARS } from "./schedules.ts";

const KEY_DATES_MAX = 12;
const PAST_DATES_MAX = 3;
/** Maximum number of occurrences of a recurring schedule, such as eight meetings a year. */
const OCCURRENCES_MAX = 8;
/** Horizon of listed calendar dates if the market has no resolution date. */
const HORIZON_MS = 400 * DAY_MS;
/** Horizon of macroeconomic releases for a market about an asset price. */
const MACRO_HORIZON_MS = 45 * DAY_MS;
/** An expected calendar date is left out if the rules have a date within this distance. */
const SAME_OCCURRENCE_MS = 12 * DAY_MS;

/**
 * Lists the key dates of a market: the venue's dates, dates in its title and rules, and dates of its recurring
 * schedule. For the price of a financial asset, also the next macroeconomic releases. At most 12 dates: future dates
 * first, nearest first, then at most three past dates, latest first. Dates at the same instant are merged.
 *
 * @param resolvesAt  when the market is expected to resolve, Unix milliseconds; null if unknown
 */
export function listKeyDates(
  listing: MarketListing,
  reading: RulesReading,
  options: { readonly now: number; readonly resolvesAt: number | null },
): readonly KeyDate[] {
  const { now, resolvesAt } = options;
  const isOpen = listing.status !== "finalized" && listing.status !== "determined";
  const textDates = describeTextDates(reading);
  const occurrences = isOpen ? describeSchedule(reading, { now, resolvesAt, textDates }) : [];
  // A day in the rules is left out if the schedule has a time on that day.
  const isTimed = ({ at, endAt }: KeyDate) =>
    occurrences.some((occurrence) => occurrence.at >= at && occurrence.at <= endAt);
  const dates = mergeSameInstants([
    ...occurrences,
    ...(isOpen && reading.schedule === null ? describeMacroReleases(listing, now, resolvesAt) : []),
    ...textDates.filter((date) => !isTimed(date)),
    ...describeVenueDates(listing, now),
  ]);
  const isFuture = ({ endAt }: KeyDate) => endAt >= now;
  const future = dates.filter(isFuture).sort((a, b) => a.at - b.at);
  const past = dates.filter((date) => !isFuture(date)).sort((a, b) => b.at - a.at);
  return [...future, ...past.slice(0, PAST_DATES_MAX)].slice(0, KEY_DATES_MAX);
}

/** Merges dates that begin at the same instant: "Date in the rules (trading closes)". The first label comes first. */
function mergeSameInstants(dates: readonly KeyDate[]): KeyDate[] {
  return [...Map.groupBy(dates, ({ at }) => at)].map(([at, same]) => {
    const [first = "", ...others] = new Set(same.map(({ label }) => label));
    // "FOMC" keeps its capitals.
    const remarks = others.map((label) => label.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()));
    return {
      at,
      endAt: Math.max(...same.map(({ endAt }) => endAt)),
      label: remarks.length === 0 ? first : `${first} (${remarks.join(", ")})`,
      impact: same.some(({ impact }) => impact === "high") ? "high" : "medium",
    };
  });
}

function describeVenueDates(listing: MarketListing, now: number): KeyDate[] {
  const [closeAt, expectedAt] = [validCloseTime(listing, now), validExpectedTime(listing, now)];
  const dates: KeyDate[] = [];
  const push = (at: number | null, label: string, impact: KeyDate["impact"]) => {
    if (at !== null) dates.push({ at, endAt: at, label, impact });
  };
  push(listing.resolvedAt, "Settled", "high");
  push(expectedAt, "Resolution expected by the venue", "high");
  if (closeAt !== expectedAt) push(closeAt, "Trading closes", "medium");
  return dates;
}

function describeTextDates({ dates, deadlineAt, mechanism }: RulesReading): KeyDate[] {
  const described: KeyDate[] = [];
  // The period of a statistic or a season: "CPI in November 2026".
  const isPeriodOfResult = mechanism === "scheduled_data_release" || mechanism === "event_outcome";
  for (const date of dates) {
    if (isPeriodOfResult && (date.relation === "within" || date.relation === "covered")) continue;
    const description = describeTextDate(date, deadlineAt);
    // The title repeats the date of the rules, often without time and zone.
    const isRepeated = date.place === "title" && described.some(({ at }) => Math.abs(at - date.at) <= 2 * DAY_MS);
    const isKnown = described.some(({ at }) => at === date.at);
    if (description === null || isRepeated || isKnown) continue;
    described.push({ at: date.at, endAt: date.endAt, ...description });
  }
  return described;
}

function describeTextDate(date: PlacedDate, deadlineAt: number | null): Pick<KeyDate, "label" | "impact"> | null {
  const { relation, place, at } = date;
  const source = place === "title" ? "title" : "rules";
  const impact = place === "condition" || place === "title" ? "high" : "medium";
  if (place === "fallback") return { label: "Fallback deadline in the rules", impact: "medium" };
  if (at === deadlineAt) return { label: `Deadline in the ${source}`, impact: "high" };
  if (relation === "scheduled") return { label: `Scheduled date in the ${source}`, impact: "high" };
  if (relation === "by" || relation === "before") return { label: `Deadline in the ${source}`, impact };
  if (relation === "within" || relation === "covered") return { label: `End of the period in the ${source}`, impact };
  if (relation === "start") return { label: `Start of the period in the ${source}`, impact: "medium" };
  return { label: `Date in the ${source}`, impact: relation === "on" ? impact : "medium" };
}

/** Labels a date as expected if its rule only approximates past dates. */
function describeOccurrence({ at, endAt, label, certainty }: Occurrence, impact: KeyDate["impact"]): KeyDate {
  return { at, endAt, label: certainty === "expected" ? `${label} (expected)` : label, impact };
}

function describeSchedule(
  { schedule }: RulesReading,
  options: { readonly now: number; readonly resolvesAt: number | null; readonly textDates: readonly KeyDate[] },
): KeyDate[] {
  if (schedule === null) return [];
  const { now, resolvesAt, textDates } = options;
  // A venue may give only the day, as midnight, although the release is later that day.
  const to = resolvesAt === null ? now + HORIZON_MS : resolvesAt + DAY_MS;
  const isStated = ({ at, certainty }: Occurrence) =>
    certainty === "expected" &&
    textDates.some((date) => date.impact === "high" && Math.abs(date.at - at) <= SAME_OCCURRENCE_MS);
  const occurrences = listOccurrences(schedule.calendar, { from: now, to, limit: OCCURRENCES_MAX });
  // Of a yearly event, only one occurrence decides the market: the last before the market resolves, or the next.
  const relevant =
    schedule.kind === "release" ? occurrences : resolvesAt === null ? occurrences.slice(0, 1) : occurrences.slice(-1);
  // Earlier releases move the price; the last release decides the market.
  const deciding = schedule.kind === "release" && resolvesAt === null ? null : relevant.at(-1);
  return relevant
    .filter((occurrence) => !isStated(occurrence))
    .map((occurrence) => describeOccurrence(occurrence, occurrence === deciding ? "high" : "medium"));
}

function describeMacroReleases(listing: MarketListing, now: number, resolvesAt: number | null): KeyDate[] {
  if (!isMacroAsset(listing.title)) return [];
  const to = Math.min(resolvesAt ?? Infinity, now + MACRO_HORIZON_MS);
  return MACRO_CALENDARS.flatMap((calendar: Calendar) =>
    listOccurrences(calendar, { from: now, to, limit: 1 }).map((occurrence) =>
      describeOccurrence(occurrence, "medium"),
    ),
  );
}
