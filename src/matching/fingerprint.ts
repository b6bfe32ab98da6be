/** The typed facts from a market's texts, which decide a match. */
import { findNames } from "./facts/names.ts";
import { findDates, type Period } from "./facts/periods.ts";
import { findDistrictStates, findPlaces } from "./facts/places.ts";
import { findQuantities, type Quantity } from "./facts/quantities.ts";
import { findScopes, type Scopes } from "./facts/scopes.ts";
import { compareTeams, findTeams, inOneLeague, type TeamSet } from "./facts/teams.ts";
import { describeTime } from "./facts/times.ts";
import { findWindow, type TimeWindow } from "./facts/windows.ts";
import type { MatchableMarket } from "./model.ts";
import { normaliseText, stemsOf } from "./text/words.ts";

/** A side of a contest, or an outcome. */
export interface Side {
  readonly stems: readonly string[];
  /** The teams that the stems can mean; empty if the tables do not contain them. */
  readonly teams: TeamSet;
}

/** The two sides of a contest. */
export type Fixture = readonly [Side, Side];

export interface Fingerprint {
  /** Stems of title and outcome, without dates and quantities. */
  readonly stems: readonly string[];
  /** Stems of the event's title. */
  readonly eventStems: readonly string[];
  /** Names in title and outcome: the stems of each sequence of capitalised words. */
  readonly names: readonly (readonly string[])[];
  /** The outcome that the market is about ("Will Norway win …": norway); without stems if the title names none. */
  readonly subject: Side;
  readonly fixture: Fixture | null;
  /** The side of the fixture that YES stands for; null if the title names none or another outcome. */
  readonly yesSide: 0 | 1 | null;
  /** Whether the outcomes of the market are exactly the two sides of the fixture. */
  readonly isTwoSided: boolean;
  /** Stems of the event before which something must happen ("before GTA VI": gta, 6); empty if there is none. */
  readonly reference: readonly string[];
  /** Countries and US states in title and outcome, except the sides of the fixture. */
  readonly places: readonly string[];
  /** Countries and US states in title, outcome and event title, with the states of congressional districts. */
  readonly allPlaces: readonly string[];
  readonly periods: readonly Period[];
  /** The stated time or range of times; null if there is none or its day or zone is not known. */
  readonly window: TimeWindow | null;
  readonly quantities: readonly Quantity[];
  readonly scopes: Scopes;
  /** When the market is expected to end, Unix milliseconds. */
  readonly endAt: number | null;
  /** When the contest is expected to be decided, Unix milliseconds; null if the venue does not say. */
  readonly decidedAt: number | null;
}

/** Text that ends the second side of a contest. */
const SIDE_END =
  "(?= ?\\(| - | ?:|,|\\?|\\.?$| winner| to | who | draw\\b| end\\b| ends | finish| match\\b| game\\b| on [0-9]| cs2| lol| dota| league of| first | map )";
/** "A vs B" anywhere in a title. */
const FIXTURE_PATTERN = new RegExp(
  `(?:^|[:,] | - |\\(|will )(?:the )?([^:,(]+?) (?:vs\\.?|v\\.?|versus|@|(?:wins? against|to beat|beats?|defeats?)) (?:the )?([^:,(?]+?)${SIDE_END}`,
);
/** Text before the first side of a contest: "Haiti to win Morocco", "draw in Morocco". */
const SIDE_LEAD_PATTERN = /^.*\b(?:wins?|in|during|of|does|do) (?:the )?(?=\S)/;
/** Text after "at" that is not a side of a contest: "at 5pm", "at halftime". */
const TIME_OR_PART =
  "[0-9]|half-?time|(?:the|half|noon|midnight|least|most|any|end|close|jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)\\b";
/** "A at B", only at the start of a title: "Will X win at the Oscars" is not a fixture. */
const AT_FIXTURE_PATTERN = new RegExp(
  `^(?!will |who |what |how |which )([^:,?]{2,40}?) at (?!${TIME_OR_PART})([^:,(?]{2,40}?)${SIDE_END}`,
);
const PLACEHOLDER_PATTERN = /\b(?:person|player|candidate|team|party|option|show|song|artist|individual|nominee)$/;
const SUBJECT_VERBS =
  "accept|acquire|advance|agree|announce|approve|attack|attend|ban|be|beat|become|break|bring|buy|call|cease|chart|close|collapse|come|continue|control|cut|declare|default|defeat|deploy|die|dip|do|drop|end|enter|exceed|expand|face|fall|file|finish|fire|force|gain|get|give|go|grow|have|hit|hold|impose|include|increase|invade|join|keep|launch|lead|leave|lose|make|meet|nominate|occur|open|own|pardon|participate|pass|pay|perform|place|play|publish|qualify|raise|rank|reach|receive|recognize|release|remain|replace|resign|resume|return|rise|run|say|score|secure|sell|serve|settle|sign|speak|start|stay|step|stop|strike|support|surrender|take|travel|use|visit|win|withdraw";
/** "Will X win …". */
const SUBJECT_PATTERN = new RegExp(
  `(?:^|: | - )(?:will|does|can|is|are) (?:the )?(.+?) (?:${SUBJECT_VERBS})(?:s|es)?\\b`,
);
/** "X wins …", "X released …", "X to win …", "X out …". */
const BARE_SUBJECT_PATTERN = new RegExp(
  `^(?:the )?(.+?) (?:(?:to )?(?:${SUBJECT_VERBS})(?:s|es|d|ed)|to (?:${SUBJECT_VERBS})|released|out|have|banned)\\b`,
);
const QUESTION_WORD_PATTERN = /^(?:will|does|can|is|are|who|what|which|how|when|if|before) /;
/** The event before which something must happen ("before GTA VI is released"). Dates are removed first. */
const REFERENCE_PATTERN = /\bbefore (?:the )?(\p{L}.*)$/u;

const bareSubject = (title: string): string =>
  QUESTION_WORD_PATTERN.test(title) ? "" : (BARE_SUBJECT_PATTERN.exec(title)?.[1]?.replace(/^.* ?: /, "") ?? "");

/** "Suns vs. Nets - Suns", "Who will win the election? Ann Lee". */
const TRAILING_OUTCOME_PATTERN = /(?:\?|[^-] -)\s(?:- )?([^?]{2,60})$/;
const WIN_END = / (?:to win|wins?)\??$/;
/** "World Series winner: Boston", "Boston vs Miami: Boston to win". */
const LABELLED_OUTCOME_PATTERN =
  /(?:\b(?:winner|champions?|nominee|win|wins|finals?|championship)|\b(?:vs?\.?|versus|@) [^:?]{2,60}): ?(?:(?:who will win\?|winner) ?(?:- )?)?([^:?]{2,50}?)(?: to win| wins?)?\??$/;
/** Outcomes that do not name one thing: "anyone", "no one", "any candidate". */
const ANY_PATTERN = /^(?:any\b|anyone|anybody|someone|somebody|no one|nobody|none|there|it\b)/;

/** Returns the outcome named in a title: after the prefix that its event shares, or the grammatical subject. */
function findSubject(title: string, eventTitle: string | null, label: string | null): string {
  if (label !== null && label !== "") return label;
  const colon = title.lastIndexOf(": ");
  if (colon > 0 && eventTitle?.startsWith(title.slice(0, colon)) === true)
    return title
      .slice(colon + 2)
      .replace(/^.* - /, "")
      .replace(WIN_END, "");
  if (/\b(?:draw|tie)\b/.test(title)) return "draw";
  const subject =
    LABELLED_OUTCOME_PATTERN.exec(title)?.[1] ??
    TRAILING_OUTCOME_PATTERN.exec(title)?.[1]?.replace(WIN_END, "") ??
    SUBJECT_PATTERN.exec(title)?.[1] ??
    bareSubject(title);
  return ANY_PATTERN.test(subject) ? "" : subject;
}

const sideOf = (stems: readonly string[]): Side => ({ stems, teams: findTeams(stems) });
const NO_SUBJECT: Side = { stems: [], teams: [] };

export function findFixture(text: string): Fixture | null {
  const match = FIXTURE_PATTERN.exec(text) ?? AT_FIXTURE_PATTERN.exec(text);
  if (match === null) return null;
  // "Will Person V be …" is a placeholder, not "Person versus be".
  if (PLACEHOLDER_PATTERN.test(match[1] ?? "")) return null;
  const left = sideOf(stemsOf((match[1] ?? "").replace(SIDE_LEAD_PATTERN, "")));
  const right = sideOf(stemsOf(match[2] ?? ""));
  if (left.stems.length === 0 || right.stems.length === 0) return null;
  const [leftTeams, rightTeams] = inOneLeague(left.teams, right.teams);
  return [
    { stems: left.stems, teams: leftTeams },
    { stems: right.stems, teams: rightTeams },
  ];
}

/** Whether an outcome names a side of a fixture. */
export function isSide(subject: Side, side: Side): boolean {
  const teams = compareTeams(subject.teams, side.teams);
  if (teams !== "unknown") return teams === "same";
  return subject.stems.length > 0 && subject.stems.every((stem) => side.stems.includes(stem));
}

function findYesSide(fixture: Fixture | null, subject: Side): 0 | 1 | null {
  if (fixture === null || subject.stems.includes("draw")) return null;
  const [isFirst, isSecond] = fixture.map((side) => isSide(subject, side));
  if (isFirst === isSecond) return null;
  return isFirst === true ? 0 : 1;
}

/** "A vs. B - A": a venue writes both outcomes of a two-sided market in this form. */
const TWO_SIDED_PATTERN = /^[^?:,]+ vs\.? [^?:,]+ - [^?:,]+$/;

export const unique = (values: readonly string[]): readonly string[] => [...new Set(values)];

/** Words of an outcome that describe a threshold, a date or a direction. These facts are compared separately. */
const VALUE_WORDS: ReadonlySet<string> = new Set(
  "above below over under mor les than least most equal increas decreas hik cut rais lower chang befor by after between ratehold ratecut ratehik rat interest".split(
    " ",
  ),
);

/** Stems of an outcome. A placeholder such as "A" or "Person B" keeps its letter. */
function subjectStems(text: string): readonly string[] {
  const stems = stemsOf(text).filter((stem) => !VALUE_WORDS.has(stem));
  const letter = /^(?:[a-z]+ )?([a-z])$/.exec(text)?.[1];
  return letter === undefined || stems.includes(letter) ? stems : [...stems, letter];
}

/** Creates the fingerprint of a market from its title, outcome label, event title and times. */
export function createFingerprint(
  market: Omit<MatchableMarket, "id" | "venue" | "eventSlug" | "category" | "openAt">,
): Fingerprint {
  const title = normaliseText(market.title);
  const label = market.outcomeLabel === null ? null : normaliseText(market.outcomeLabel);
  const eventTitle = market.eventTitle === null ? null : normaliseText(market.eventTitle);
  const near = market.expectedResolutionAt ?? market.closeAt;
  const text = label === null || title.includes(label) ? title : `${title}: ${label}`;
  const dated = findDates(text, near, { isYearOptional: true });
  const measured = findQuantities(dated.rest);
  const eventDated = findDates(eventTitle ?? "", near, { isYearOptional: true });
  const subjectText = findDates(findSubject(title, eventTitle, label), near, { isYearOptional: true }).rest;
  const stems = stemsOf(measured.rest);
  const eventStems = stemsOf(findQuantities(eventDated.rest).rest);
  const fixture = findFixture(dated.rest) ?? findFixture(eventDated.rest);
  const subject = subjectOf(findQuantities(subjectText).rest, fixture);
  // A side of a fixture is not a place: one title may name both sides, the other only one side.
  const sides = new Set([
    ...(fixture?.flatMap((side) => side.stems) ?? []),
    ...(subject.teams.length > 0 ? subject.stems : []),
  ]);
  const places = findPlaces(stems.filter((stem) => !sides.has(stem)));
  const periods = dated.periods.length > 0 ? dated.periods : eventDated.periods;
  return {
    stems: unique(stems),
    eventStems: unique(eventStems),
    names: findNames(market.outcomeLabel === null ? market.title : `${market.title}: ${market.outcomeLabel}`),
    places,
    allPlaces: unique([
      ...findPlaces(stems),
      ...findPlaces(eventStems),
      ...findDistrictStates(`${text} ${eventTitle ?? ""}`),
    ]),
    subject,
    fixture,
    yesSide: findYesSide(fixture, subject),
    isTwoSided: fixture !== null && TWO_SIDED_PATTERN.test(title),
    reference: stemsOf(REFERENCE_PATTERN.exec(dated.rest)?.[1] ?? ""),
    periods,
    window: findWindow({ ...dated, periods }, near) ?? findWindow(eventDated, near),
    quantities: measured.quantities,
    scopes: findScopes(dated.rest, stems, { eventTitle: eventDated.rest, times: dated.times.map(describeTime) }),
    endAt: near,
    decidedAt: market.expectedResolutionAt,
  };
}

/** The teams of an outcome are those that can be a side of the fixture. */
function subjectOf(text: string, fixture: Fixture | null): Side {
  const stems = subjectStems(text);
  if (stems.length === 0) return NO_SUBJECT;
  const teams = findTeams(stems);
  const sides = fixture?.flatMap((side) => side.teams) ?? [];
  const ofFixture = teams.filter((team) => sides.includes(team));
  return { stems, teams: ofFixture.length > 0 ? ofFixture : teams };
}
