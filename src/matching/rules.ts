/** Facts of resolution rules that distinguish two markets with the same title. */
import type { TimeZone } from "../lib/dates/zoned-time.ts";
import { DAY_MS } from "../lib/durations.ts";
import { timeZoneOf } from "../text/clock-times.ts";
import { findTextDates, instantsOf } from "../text/text-dates.ts";
import type { Veto } from "./decide.ts";

/** Maximum length of rules that is read, in characters. */
export const RULES_LENGTH_MAX = 8_000;
/** Maximum number of stations, of sources and of deadlines that are kept per text. */
const VALUES_MAX = 16;
/** Maximum difference of two equal deadlines, in days: venues state deadlines in different time zones. */
const DEADLINE_TOLERANCE_DAYS = 1;
/** Maximum difference of two equal deadlines with a time of day, in minutes: "11:59 PM" and midnight are equal. */
const INSTANT_TOLERANCE_MINUTES = 60;

export type OvertimeRule = "regulation_only" | "included";
/** Event that settles the market: the occurrence itself, or its announcement. */
export type TriggerRule = "occurrence" | "announcement";
/** Payout of a tie or a cancelled contest: half to each side, the stake back, or nothing for YES. */
export type SettlementRule = "split" | "refund" | "no";

export interface RulesFacts {
  /** Unfilled parts of a template, as written. */
  readonly placeholders: readonly string[];
  /** Parts that the venue intentionally left open ("TBD"). */
  readonly openParts: readonly string[];
  /** ICAO codes of weather stations, sorted. */
  readonly stations: readonly string[];
  /** Names of weather stations as written, in lower case ("deer valley airport"). */
  readonly stationNames: readonly string[];
  /** Domain names of cited sources, sorted. */
  readonly sources: readonly string[];
  /** Last day of each deadline, as days since 1970-01-01 in UTC, ascending. */
  readonly deadlines: readonly number[];
  /** Deadlines with a time of day and a zone, as minutes since 1970-01-01 UTC, in ascending order. */
  readonly instants: readonly number[];
  readonly trigger: TriggerRule | null;
  readonly overtime: OvertimeRule | null;
  readonly tie: SettlementRule | null;
  readonly cancellation: SettlementRule | null;
}

export interface RulesComparison {
  /** Contradictions that exclude a match. */
  readonly vetoes: readonly Veto[];
  /** Other differences, as sentences. */
  readonly notes: readonly string[];
}

const PLACEHOLDER_PATTERN =
  /\{\{[^{}\n]{0,60}\}\}|\$\{[^{}\n]{0,60}\}|\[(?:insert|enter|specify)\b[^\]\n]{0,60}\](?!\()|<(?:insert|date|time|name|team|player|candidate|city|country|state|value|threshold|strike|number|source)(?:[ _-][a-z]{1,20})?>|(?<=[a-z0-9] \$?)_{3,}(?![_\p{L}\p{N}])/giu;
const OPEN_PART_PATTERN = /\b(?:tbd|tba|to be (?:determined|announced|confirmed))\b/gi;

/** Names of weather stations that rules mention instead of a code. */
const STATION_NAMES: Readonly<Record<string, string>> = {
  "central park": "KNYC",
  laguardia: "KLGA",
  "la guardia": "KLGA",
  "john f kennedy": "KJFK",
  "jfk airport": "KJFK",
  newark: "KEWR",
  midway: "KMDW",
  "o'hare": "KORD",
  "miami international": "KMIA",
  "los angeles international": "KLAX",
  "los angeles airport": "KLAX",
  "downtown los angeles": "KCQT",
  bergstrom: "KAUS",
  "camp mabry": "KATT",
  "denver international": "KDEN",
  "philadelphia international": "KPHL",
  "houston hobby": "KHOU",
  "hobby airport": "KHOU",
  "george bush": "KIAH",
  "bush intercontinental": "KIAH",
  "dallas/fort worth": "KDFW",
  "dallas fort worth": "KDFW",
  "love field": "KDAL",
  "reagan national": "KDCA",
  dulles: "KIAD",
  "san francisco international": "KSFO",
  "oakland international": "KOAK",
  "logan international": "KBOS",
  hartsfield: "KATL",
  "seattle-tacoma": "KSEA",
  "boeing field": "KBFI",
  heathrow: "EGLL",
  "london city airport": "EGLC",
  "charles de gaulle": "LFPG",
  "le bourget": "LFPB",
  incheon: "RKSI",
  gimpo: "RKSS",
  haneda: "RJTT",
  narita: "RJAA",
};
const STATION_NAME_PATTERN = new RegExp(`\\b(?:${Object.keys(STATION_NAMES).join("|")})\\b`, "g");
/** Four-letter codes of stations in the United States, and the report codes of the National Weather Service. */
const STATION_CODE_PATTERN = /\b(?:K([A-Z]{3})|CLI([A-Z]{3}))\b/g;
const KNOWN_CODE_PATTERN = new RegExp(`\\b(?:${[...new Set(Object.values(STATION_NAMES))].join("|")})\\b`, "g");
/** Station names and codes are read only in rules about the weather: "Newark" is also a city. */
const WEATHER_PATTERN =
  /\b(?:temperature|weather|rain|rainfall|precipitation|snow|snowfall|wind speed|degrees|daily (?:high|low))\b|°/i;

/** "recorded at Sky Harbor Airport", "the Sky Harbor Airport station", "Sky Harbor Airport records". */
const PROPER_NAME = "(?:\\p{Lu}[\\p{L}'.-]+|(?:de|du|la|of|le)(?= \\p{Lu}))";
const MEASURED_AT_PATTERN = new RegExp(
  [
    `\\b(?:recorded|measured|observed|reported|temperature|rain|rainfall|precipitation|snow|snowfall) (?:at|by) (?:the )?(?:${PROPER_NAME} ){0,4}\\p{Lu}[\\p{L}'.-]+`,
    `\\bthe (?:${PROPER_NAME} ){1,5}(?:weather )?station\\b`,
    `(?<=\\b(?:if|that|when) )(?:${PROPER_NAME} ){1,5}(?:records|measures|reports|observes)\\b`,
  ].join("|"),
  "gu",
);
/** Returns the name in lower case without words such as "Airport"; empty if there are no other words. */
const stationName = (match: string): string =>
  match
    // The next sentence also starts with a capital letter. "St. Louis" is one name.
    .replace(/(?<=\p{L}{3})\.(?: .*)?$/u, "")
    .replace(/^(?:\w+ (?:at|by) )?(?:the )?/, "")
    .toLowerCase()
    .replace(/\b(?:international|airport|weather|station|observatory|records|measures|reports|observes)\b/g, "")
    .replace(/\s+/g, " ")
    .trim();

const SOURCE_PATTERN =
  /\b(?:[a-z0-9-]{1,63}\.){1,4}(?:com|org|net|gov|int|edu|io|eu|uk|de|fr|jp|kr|ca|au|info|tv|gg)\b(?!@)/gi;

const SENTENCE_END_PATTERN = /(?<=[.!?;])\s+(?=[A-Z"“(])|\n+/;
/** Only dates with a year are deadlines. */
const YEAR_PATTERN = /20\d\d|\/\d\d/;
/** Matches sentences about a postponed or cancelled event, whose dates are not deadlines. */
const FALLBACK_PATTERN =
  /\b(?:postpone[ds]?|cancell?ed|cancels|rescheduled|delayed|void|50-50|50\/50|refund(?:ed)?|remain open|made available)\b/;

const NOT_BY_ANNOUNCEMENT_PATTERN =
  /\bannouncements?\b[^.]{0,60}\b(?:not|insufficient|alone)\b|\bnot\b[^.]{0,40}\bannouncements?\b|\bmust (?:actually |officially )?(?:occur|happen|take place|take effect|be (?:completed|released|launched|enacted|signed))\b/;
const BY_ANNOUNCEMENT_PATTERN =
  /\bannouncements?\b[^.]{0,60}\b(?:suffices?|sufficient|counts?|qualif(?:y|ies))\b|\b(?:based on|upon|when|if|once)\b[^.]{0,60}\b(?:announces?|announced|announcement)\b/;

const EXTRA_TIME = "(?:overtime|extra time|extra innings|penalty shoot-?outs?|shoot-?outs?)";
const REGULATION_PATTERN = new RegExp(
  `\\b(?:regulation(?: time| play)? only|only[^.]{0,30}\\b(?:regulation|90 minutes)|(?:end|after|within|during) (?:of )?(?:the )?(?:regulation|90 minutes)|(?:excluding|excludes|not includ(?:e|ing)|without) ${EXTRA_TIME}|${EXTRA_TIME}[^.]{0,50}\\b(?:not (?:be )?(?:count|consider|includ)|excluded|disregarded))`,
);
const OVERTIME_PATTERN = new RegExp(
  `(?<!not )\\b(?:(?:including|includes|included) (?:any )?${EXTRA_TIME}|${EXTRA_TIME}[^.]{0,40}\\b(?<!not )(?:(?:is|are|will be) (?:included|counted)|counts?\\b(?! as)))`,
);
const TIE_PATTERN = /\b(?:tie|ties|tied|draw|dead heat)\b/;
const CANCELLATION_PATTERN = /\b(?:cancell?ed|abandoned|not (?:be )?(?:played|completed)|never (?:played|completed))\b/;
const SETTLEMENTS: readonly (readonly [rule: SettlementRule, pattern: RegExp])[] = [
  ["split", /50-50|50\/50|\b0\.50?\b|\$0\.50|\bsplit\b|\bequally\b/],
  ["refund", /\b(?:refund(?:ed)?|voided|void)\b/],
  ["no", /\bresolves? (?:to )?["“']?no\b/],
];

/** Extracts the facts of resolution rules. Text beyond `RULES_LENGTH_MAX` characters is not read. */
export function parseRules(rules: string): RulesFacts {
  const text = rules.slice(0, RULES_LENGTH_MAX).normalize("NFKC").slice(0, RULES_LENGTH_MAX).replace(/[‘’]/g, "'");
  const lower = text.replace(/[^\S\n]+/g, " ").toLowerCase();
  const sentences = text.split(SENTENCE_END_PATTERN).map((sentence) => sentence.replace(/\s+/g, " ").toLowerCase());
  return {
    placeholders: valuesOf(text.matchAll(PLACEHOLDER_PATTERN)),
    openParts: valuesOf(lower.matchAll(OPEN_PART_PATTERN)),
    stations: findStations(text, lower),
    stationNames: WEATHER_PATTERN.test(text) ? valuesOf(text.matchAll(MEASURED_AT_PATTERN), stationName) : [],
    sources: valuesOf(lower.matchAll(SOURCE_PATTERN), (source) => source.replace(/^www\./, "")),
    ...findDeadlines(sentences),
    trigger: findTrigger(lower),
    overtime: findOvertime(lower),
    tie: findSettlement(sentences, TIE_PATTERN),
    cancellation: findSettlement(sentences, CANCELLATION_PATTERN),
  };
}

/** Compares the rules of two markets. Unknown rules (null) contradict nothing. */
export function compareRules(a: RulesFacts | null, b: RulesFacts | null): RulesComparison {
  const vetoes: Veto[] = [];
  const notes: string[] = [];
  for (const facts of [a, b]) {
    if (facts === null) continue;
    if (facts.placeholders.length > 0) {
      if (!vetoes.includes("placeholder")) vetoes.push("placeholder");
      notes.push(`The rules of one market contain an unfilled placeholder: ${facts.placeholders.join(", ")}.`);
    }
    if (facts.openParts.length > 0) notes.push("The rules of one market leave a part to be determined.");
  }
  if (a === null || b === null) return { vetoes, notes };
  const [stationsA, stationsB] = findOtherStations(a, b);
  if (stationsA.length > 0) {
    vetoes.push("station");
    notes.push(`The rules name different weather stations: ${stationsA.join(", ")} and ${stationsB.join(", ")}.`);
  }
  if (a.overtime !== null && b.overtime !== null && a.overtime !== b.overtime) {
    vetoes.push("overtime");
    notes.push("The rules of one market count overtime, those of the other do not.");
  }
  compareDeadlines(a, b, vetoes, notes);
  if (areDisjoint(a.sources, b.sources))
    notes.push(`The rules cite different sources: ${a.sources.join(", ")} and ${b.sources.join(", ")}.`);
  if (a.trigger !== null && b.trigger !== null && a.trigger !== b.trigger)
    notes.push("One market settles on an announcement, the other on the event itself.");
  for (const [name, ruleA, ruleB] of [
    ["a tie", a.tie, b.tie],
    ["a cancelled contest", a.cancellation, b.cancellation],
  ] as const)
    if (ruleA !== null && ruleB !== null && ruleA !== ruleB) notes.push(`The markets settle ${name} differently.`);
  return { vetoes, notes };
}

/** Returns the stations of both rules if they differ, else empty lists. Codes are not compared with names. */
function findOtherStations(a: RulesFacts, b: RulesFacts): readonly [readonly string[], readonly string[]] {
  if (areDisjoint(a.stations, b.stations)) return [a.stations, b.stations];
  // "Downtown San Francisco" is not the airport "San Francisco".
  const isSame = (name: string, other: string) =>
    (name.includes(other) || other.includes(name)) && name.includes("downtown") === other.includes("downtown");
  const sharesCode = a.stations.some((code) => b.stations.includes(code));
  const areNamesOther =
    a.stationNames.length > 0 &&
    b.stationNames.length > 0 &&
    !a.stationNames.some((name) => b.stationNames.some((other) => isSame(name, other)));
  return areNamesOther && !sharesCode ? [a.stationNames, b.stationNames] : [[], []];
}

function compareDeadlines(a: RulesFacts, b: RulesFacts, vetoes: Veto[], notes: string[]): void {
  const [instantA] = a.instants;
  const [instantB] = b.instants;
  if (a.instants.length === 1 && b.instants.length === 1 && instantA !== undefined && instantB !== undefined) {
    if (Math.abs(instantA - instantB) <= INSTANT_TOLERANCE_MINUTES) return;
    vetoes.push("deadline");
    notes.push(`The rules name different deadlines: ${isoMinute(instantA)} and ${isoMinute(instantB)}.`);
    return;
  }
  if (a.deadlines.length === 0 || b.deadlines.length === 0) return;
  const isClose = a.deadlines.some((day) =>
    b.deadlines.some((other) => Math.abs(day - other) <= DEADLINE_TOLERANCE_DAYS),
  );
  if (isClose) return;
  if (a.deadlines.length === 1 && b.deadlines.length === 1) vetoes.push("deadline");
  const [left, right] = [a, b].map(({ deadlines }) => deadlines.map(isoDay).join(", "));
  notes.push(`The rules name different deadlines: ${left} and ${right}.`);
}

const isoMinute = (minutes: number): string => `${new Date(minutes * 60_000).toISOString().slice(0, 16)}Z`;
const isoDay = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** Whether both lists have values, but no value in common. */
const areDisjoint = (a: readonly string[], b: readonly string[]): boolean =>
  a.length > 0 && b.length > 0 && !a.some((value) => b.includes(value));

/** Returns the distinct values that are not empty, at most `VALUES_MAX`, sorted. */
function valuesOf(
  matches: Iterable<RegExpMatchArray>,
  read: (value: string) => string = (value) => value,
): readonly string[] {
  const values = new Set<string>();
  for (const [match] of matches) {
    if (values.size >= VALUES_MAX) break;
    const value = read(match);
    if (value !== "") values.add(value);
  }
  return [...values].sort();
}

function findStations(text: string, lower: string): readonly string[] {
  if (!WEATHER_PATTERN.test(text)) return [];
  const codes = new Set<string>();
  for (const [name] of lower.matchAll(STATION_NAME_PATTERN)) codes.add(STATION_NAMES[name] ?? "");
  for (const [, code, report] of text.matchAll(STATION_CODE_PATTERN)) codes.add(`K${code ?? report}`);
  for (const [code] of text.matchAll(KNOWN_CODE_PATTERN)) codes.add(code);
  return [...codes].sort().slice(0, VALUES_MAX);
}

function findDeadlines(sentences: readonly string[]): Pick<RulesFacts, "deadlines" | "instants"> {
  const days = new Set<number>();
  const instants = new Set<number>();
  for (const sentence of sentences) {
    if (FALLBACK_PATTERN.test(sentence) || !YEAR_PATTERN.test(sentence)) continue;
    for (const date of findTextDates(sentence, [{ start: 0, end: sentence.length }], null)) {
      const isBefore = date.relation === "before";
      if (date.unit !== "day" || !(isBefore || date.relation === "by")) continue;
      if (days.size >= VALUES_MAX) break;
      days.add(date.lastDay - (isBefore && date.time === null ? 1 : 0));
      const zone = date.time?.zone ?? (date.isEndOf ? zoneAfter(sentence, date.end) : null);
      if (zone !== null) instants.add(Math.round(instantsOf(date, zone).at / 60_000));
    }
  }
  const ascending = (values: Iterable<number>) => [...values].sort((first, second) => first - second);
  return { deadlines: ascending(days), instants: ascending(instants) };
}

/** Returns the time zone that follows a date: "October 30, 2026 (UTC)". Null if none follows. */
const zoneAfter = (text: string, end: number): TimeZone | null =>
  timeZoneOf(/^ ?\(?([a-z]{2,4})\b/.exec(text.slice(end, end + 8))?.[1] ?? "");

function findTrigger(lower: string): TriggerRule | null {
  if (NOT_BY_ANNOUNCEMENT_PATTERN.test(lower)) return "occurrence";
  return BY_ANNOUNCEMENT_PATTERN.test(lower) ? "announcement" : null;
}

/** Returns null if the rules state both, for example for two kinds of bets. */
function findOvertime(lower: string): OvertimeRule | null {
  const isRegulation = REGULATION_PATTERN.test(lower);
  const isIncluded = OVERTIME_PATTERN.test(lower);
  if (isRegulation === isIncluded) return null;
  return isRegulation ? "regulation_only" : "included";
}

function findSettlement(sentences: readonly string[], subject: RegExp): SettlementRule | null {
  for (const sentence of sentences) {
    if (!subject.test(sentence)) continue;
    for (const [rule, pattern] of SETTLEMENTS) if (pattern.test(sentence)) return rule;
  }
  return null;
}
