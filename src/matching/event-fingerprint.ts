/** The typed facts of an event, from its title and from facts that all its markets share. */
import { findNames } from "./facts/names.ts";
import { findDates, type Period } from "./facts/periods.ts";
import { findPlaces } from "./facts/places.ts";
import { findQuantities } from "./facts/quantities.ts";
import { findScopes, type ScopeDimension, type Scopes } from "./facts/scopes.ts";
import { describeTime } from "./facts/times.ts";
import { findWindow, type TimeWindow } from "./facts/windows.ts";
import { createFingerprint, type Fingerprint, type Fixture, findFixture, type Side, unique } from "./fingerprint.ts";
import { normaliseText, stemsOf } from "./text/words.ts";

/** The text and times of an event. Times are Unix milliseconds, UTC. */
export interface MatchableEvent {
  readonly title: string;
  /** Titles of the event's markets, each with its outcome; a sample if the event has many. */
  readonly legs: readonly string[];
  /** Number of markets of the event; null if unknown. */
  readonly legCount: number | null;
  readonly closeAt: number | null;
  readonly expectedResolutionAt: number | null;
}

export interface EventFingerprint {
  /** Stems of the title, without dates and quantities. */
  readonly stems: readonly string[];
  /** Stems of title and legs. */
  readonly allStems: readonly string[];
  /** Places in the title, without teams of a fixture. */
  readonly places: readonly string[];
  /** Names in the title: the stems of each sequence of capitalised words. */
  readonly names: readonly (readonly string[])[];
  /** Places in the title and the legs. */
  readonly allPlaces: readonly string[];
  readonly fixture: Fixture | null;
  readonly periods: readonly Period[];
  readonly window: TimeWindow | null;
  readonly scopes: Scopes;
  /** Names of the outcomes in the sample. */
  readonly outcomes: readonly Side[];
  /** Whether the event has at most one market or an unknown number of markets. */
  readonly isSingle: boolean;
  /** When the event is expected to end, Unix milliseconds. */
  readonly endAt: number | null;
  /** When the contest is expected to be decided, Unix milliseconds; null if the venue does not say. */
  readonly decidedAt: number | null;
}

/** Dimensions that apply to the event if all its markets have the same value. */
const LEG_DIMENSIONS: readonly ScopeDimension[] = [
  "stage",
  "segment",
  "bet",
  "reading",
  "group",
  "office",
  "seat",
  "district",
  "part",
];

export function createEventFingerprint(event: MatchableEvent): EventFingerprint {
  const eventTitle = titleOf(event);
  const { closeAt, expectedResolutionAt } = event;
  const legs = event.legs.map((title) =>
    createFingerprint({ title, outcomeLabel: null, eventTitle, closeAt, expectedResolutionAt }),
  );
  return combineLegs(event, legs);
}

/** @param legs  the fingerprints of the event's markets, in the order of `event.legs` */
export function combineLegs(event: MatchableEvent, legs: readonly Fingerprint[]): EventFingerprint {
  const title = titleOf(event);
  const near = event.expectedResolutionAt ?? event.closeAt;
  const dated = findDates(title, near, { isYearOptional: true });
  const stems = stemsOf(findQuantities(dated.rest).rest);
  const fixture = findFixture(dated.rest) ?? legs.find((leg) => leg.fixture !== null)?.fixture ?? null;
  const sides = new Set(fixture?.flatMap((side) => side.stems));
  const titleStems = stems.filter((stem) => !sides.has(stem));
  const legStems = legs.flatMap((leg) => leg.stems);
  return {
    stems: unique(stems),
    allStems: unique([...stems, ...legStems]),
    places: findPlaces(titleStems),
    allPlaces: unique([...findPlaces(stems), ...legs.flatMap((leg) => leg.allPlaces)]),
    fixture,
    periods: dated.periods.length > 0 ? dated.periods : commonPeriods(legs),
    window: findWindow(dated, near),
    scopes: withCommonScopes(findScopes(dated.rest, stems, { times: dated.times.map(describeTime) }), legs),
    outcomes: legs.map((leg) => leg.subject).filter((subject) => subject.stems.length > 0),
    names: [...findNames(event.title), ...legs.flatMap((leg) => leg.names)],
    isSingle: event.legCount === null || event.legCount <= 1,
    endAt: near,
    decidedAt: event.expectedResolutionAt,
  };
}

/**
 * Returns the title of an event. Some venues use the title of its first market ("Group A Winner: Mexico"); the common
 * part of all markets is then the title.
 */
function titleOf(event: MatchableEvent): string {
  const title = normaliseText(event.title);
  if (event.legs.length < 2 || !event.legs.includes(event.title)) return title.replace(/: ?(?:_+|\.\.\.)\??$/, "");
  const legs = event.legs.map(normaliseText);
  let prefix = title;
  for (const leg of legs) while (!leg.startsWith(prefix)) prefix = prefix.slice(0, -1);
  const end = prefix.lastIndexOf(": ");
  if (end > 0) return prefix.slice(0, end);
  const fixture = legs.map((leg) => findFixture(leg)).find((found) => found !== null);
  if (fixture !== undefined) return `${fixture[0].stems.join(" ")} vs ${fixture[1].stems.join(" ")}`;
  const isShared = (word: string) => legs.every((leg) => leg.split(/[ ?:]+/).includes(word));
  return title
    .split(/[ ?:]+/)
    .filter(isShared)
    .join(" ");
}

function commonPeriods(legs: readonly Fingerprint[]): readonly Period[] {
  const [first, ...others] = legs;
  if (first === undefined) return [];
  return first.periods.filter((period) =>
    others.every((leg) => leg.periods.some((other) => other.kind === period.kind && other.to === period.to)),
  );
}

function withCommonScopes(scopes: Scopes, legs: readonly Fingerprint[]): Scopes {
  const result = new Map(scopes);
  const [first, ...others] = legs;
  if (first === undefined) return result;
  for (const dimension of LEG_DIMENSIONS) {
    const values = [...(first.scopes.get(dimension) ?? [])].filter((value) =>
      others.every((leg) => leg.scopes.get(dimension)?.has(value) === true),
    );
    if (values.length > 0) result.set(dimension, new Set([...(result.get(dimension) ?? []), ...values]));
  }
  return result;
}
