import { validCloseTime } from "../../../domain/close-time.ts";
import type { MarketListing } from "../../../domain/market.ts";
import type { TimeZone } from "../../../lib/dates/zoned-time.ts";
import { defaultZoneOf } from "../../../text/clock-times.ts";
import {
  type DateRelation,
  findTextDates,
  instantsOf,
  type TextSpan,
  type YearReference,
} from "../../../text/text-dates.ts";
import { findCondition, isFallbackClause, type Polarity, polarityOf } from "./condition.ts";
import type { ResolutionMechanism, RulesDate } from "./model.ts";
import { splitSentences, summariseRules, toPlainText } from "./plain-text.ts";
import { findRelativeDeadline, hasRelativeDeadline } from "./relative-dates.ts";
import { findSchedule, type RecurringSchedule } from "./schedules.ts";

/** Where a date is. condition: in the sentence about when the market resolves YES or NO. */
export type DatePlace = "condition" | "fallback" | "rules" | "title";

export interface PlacedDate extends RulesDate {
  readonly place: DatePlace;
}

/** Facts from the title and the rules of a market, independent of the current time. */
export interface RulesReading {
  readonly summary: string | null;
  readonly schedule: RecurringSchedule | null;
  readonly mechanism: ResolutionMechanism;
  readonly polarity: Polarity;
  /** The date by which the event must happen, Unix milliseconds; null if there is none. */
  readonly deadlineAt: number | null;
  readonly dates: readonly PlacedDate[];
}

/** Matches titles about the result of one match, race, vote or award. */
const OUTCOME_TITLES: readonly RegExp[] = [
  // Winners of matches and competitions.
  /\bvs\b|\bversus\b|\bwin(?:s|ner|ners)?\b|\bMVP\b|\bchampions?\b|\badvance\b|\bbeats?\b|\bdefeats?\b|\bplayoffs?\b|\bqualif(?:y|ies|ied)\b/i,
  // Final tables.
  /\b(?:first|second|third|last|\d{1,2}(?:st|nd|rd|th)) place\b|\bfinish(?:es)?\b|\b(?:best|worst) record\b|\bplace (?:1st|2nd|3rd|first|second|third)\b|\blead the (?:league|NBA|NFL|NHL|MLB)\b/i,
  // Votes, awards and other occasions.
  /\bnominee\b|\bnomination\b|\bmost seats\b|\bnext (?:president|prime minister|pope|mayor|governor|chancellor)\b|\bEurovision\b|\bof the Year\b|\bmargin of victory\b|\bpopular vote\b|\bre-?elected\b|\battends?\b.{0,60}\b(?:final|game|match|summit|ceremony|inauguration|debate|conference)\b/i,
  // Players' and teams' scores.
  /\bgoal-?scorer\b|\bto score\b|\d\+ (?:points|rebounds|assists|strikeouts|hits|total bases|home runs|goals|yards|touchdowns)\b|\bO\/U\b/i,
];
const isOutcomeTitle = (text: string) => OUTCOME_TITLES.some((pattern) => pattern.test(text));
/** "If A wins the election, will …" */
const PREMISE = /^If [^,\n]{1,100}, /i;
const OUTCOME_RULES =
  /\b(?:originally|initially) scheduled\b|\b(?:game|match|fight|bout|race|election|primary|ceremony|final|tournament)\b[^.]{0,120}\b(?:scheduled|will (?:be held|take place))\b|\bwinner of the\b/i;
const TOUCH =
  /\bat any (?:point|time)\b|\bon any (?:single )?day\b|\bany\b.{0,80}\bcandle\b|\b(?:hits?|reach(?:es)?|touch(?:es)?|dips? (?:to|below)|all[- ]time high)\b/i;
/** Matches statistics over a period, which are known only at its end. */
const STATISTIC =
  /\b(?:average|mean|total|temperature|rainfall|snowfall|extent|how many|number of|most[- ]streamed|most popular|top|hottest|coldest|highest[- ]grossing|opening weekend|rate|approval|performance|best[- ]performing|revenue|deliveries|sales|inflation|CPI|GDP|unemployment|close[sd]?|closing)\b/i;
/** Matches a deadline such as "by the listed date", but not an observation "on the date specified in the title". */
const LISTED_DATE =
  /(?<!\bon (?:the )?)(?:\b(?:listed|specified|stated|resolution|expiration|end) date\b|\bdate (?:listed|specified) in the title\b|\bthis market closes\b)/i;

/** Relations with which a month or year is not a date of the market. */
const UNDATED: ReadonlySet<DateRelation> = new Set(["none", "start"]);
const isDeadline = ({ relation }: RulesDate) => relation === "by" || relation === "before";
const isPeriod = ({ relation }: RulesDate) => relation === "within" || relation === "covered";
const isObservation = ({ relation }: RulesDate) => relation === "on" || relation === "scheduled";

/**
 * Finds the dates of a text, except months and years that are not dates of the market ("after 2026", "before the
 * December 2026 meeting", "all data for June").
 */
function findRulesDates(
  text: string,
  sentences: readonly TextSpan[],
  context: { readonly zone: TimeZone; readonly reference: YearReference },
): RulesDate[] {
  return findTextDates(text, sentences, context.reference)
    .filter(
      ({ unit, isName, isScheduled, relation, isYearInferred }) =>
        unit === "day" ||
        !(isName || isScheduled || UNDATED.has(relation) || (relation === "covered" && isYearInferred)),
    )
    .map((date) => {
      const { start, end, isScheduled, relation } = date;
      return { start, end, relation: isScheduled ? "scheduled" : relation, ...instantsOf(date, context.zone) };
    });
}

/**
 * Reads the title and the rules of a market. The texts are untrusted: their length is bounded, and they are only
 * searched for known wordings. A fact that is not clearly stated is null or `unknown`.
 *
 * @param eventTitle  title of the market's event; null if it has none
 * @param now  Unix milliseconds; used only for dates without a year if the time of listing is unknown
 */
export function readRules(listing: MarketListing, eventTitle: string | null, now: number): RulesReading {
  const title = toPlainText(listing.title).replaceAll("\n", " ");
  const titles = eventTitle === null ? title : `${title}\n${toPlainText(eventTitle)}`;
  const rules = toPlainText(listing.rules ?? "");
  const sentences = splitSentences(rules);
  const condition = findCondition(rules, sentences);
  const placeOf = ({ start }: RulesDate): DatePlace => {
    if (condition !== null && start >= condition.start && start < condition.end) return "condition";
    const sentence = sentences.find((span) => start >= span.start && start < span.end);
    return sentence !== undefined && isFallbackClause(rules.slice(sentence.start, sentence.end)) ? "fallback" : "rules";
  };
  const context = { zone: defaultZoneOf(`${title}\n${rules}`), reference: { listedAt: listing.openAt ?? now } };
  const rulesDates = findRulesDates(rules, sentences, context).map((date) => ({ ...date, place: placeOf(date) }));
  const relative = listing.openAt === null ? null : findRelativeDeadline(title, listing.openAt);
  const titleDates = [
    ...findRulesDates(title, [{ start: 0, end: title.length }], context),
    ...(relative === null ? [] : [relative]),
  ].map((date) => ({ ...date, place: "title" as const }));
  // Rules of named outcomes have no sentence about YES.
  const decisivePlace: DatePlace = condition === null ? "rules" : "condition";
  // A date before trading began is background: "In 2010 the party won two thirds of the seats".
  const isBackground = ({ endAt }: RulesDate) => listing.openAt !== null && endAt < listing.openAt;
  const decisive = [...rulesDates.filter(({ place }) => place === decisivePlace), ...titleDates].filter(
    (date) => !isBackground(date),
  );
  const deadline = decisive.find(isDeadline) ?? null;
  const period = decisive.find(isPeriod) ?? null;
  const observation = decisive.find(isObservation) ?? null;
  const clauseEnd = deadline?.place === "condition" ? deadline.end : (condition?.end ?? 0);
  const polarity = polarityOf(title, condition, clauseEnd);
  const schedule = findSchedule(titles, rules);
  // "Will a woman win a race before 2050?" is not about one race.
  const isOutcome =
    !titleDates.some(isDeadline) &&
    schedule?.kind !== "bound" &&
    (schedule?.kind === "event" ||
      isOutcomeTitle(titles.replace(PREMISE, "")) ||
      (deadline === null && (OUTCOME_RULES.test(rules) || isOutcomeTitle(condition?.text ?? ""))));
  const words = `${titles}\n${condition?.text ?? ""}`;
  const reading = { summary: summariseRules(rules), schedule, polarity, dates: [...rulesDates, ...titleDates] };

  if (schedule?.kind === "release") return { ...reading, mechanism: "scheduled_data_release", deadlineAt: null };
  if (isOutcome) return { ...reading, mechanism: "event_outcome", deadlineAt: null };
  if (deadline !== null) return { ...reading, mechanism: "continuous_monitoring", deadlineAt: deadline.at };
  const isMonitored = period?.relation === "within" && !STATISTIC.test(words);
  if (period !== null && (TOUCH.test(words) || isMonitored))
    return { ...reading, mechanism: "continuous_monitoring", deadlineAt: period.at };
  if (LISTED_DATE.test(condition?.text ?? "") && listing.closeAt !== null)
    return { ...reading, mechanism: "continuous_monitoring", deadlineAt: validCloseTime(listing, now) };
  // "Will X still hold the office on December 31?" resolves NO when X leaves the office at any earlier time.
  if (observation !== null)
    return { ...reading, mechanism: "date_based", deadlineAt: polarity === "persists" ? observation.at : null };
  if (period !== null) return { ...reading, mechanism: "date_based", deadlineAt: null };
  if (schedule?.kind === "bound") return { ...reading, mechanism: "continuous_monitoring", deadlineAt: null };
  if (TOUCH.test(words) || hasRelativeDeadline(title))
    return { ...reading, mechanism: "continuous_monitoring", deadlineAt: null };
  return { ...reading, mechanism: STATISTIC.test(title) ? "date_based" : "unknown", deadlineAt: null };
}
