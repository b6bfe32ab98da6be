/** Compares two events. The features are the input of the fitted model. */
import type { EventFingerprint } from "./event-fingerprint.ts";
import { comparePeriods } from "./facts/periods.ts";
import { compareScopes, type ScopeDimension } from "./facts/scopes.ts";
import { closeGap, countMissing, coverageOf, fixtureSimilarity, isSameSequence, nameSimilarity } from "./features.ts";
import type { WordWeights } from "./text/word-weights.ts";

export const EVENT_FEATURES = [
  "same_core",
  "coverage_min",
  "coverage_max",
  "unmatched_both",
  "unmatched_max",
  "period_same",
  "period_conflict",
  "close_gap",
  "strict_conflicts",
  "strict_one_sided",
  "loose_conflicts",
  "loose_one_sided",
  "scopes_same",
  "places_one_sided",
  "fixture_similarity",
  "fixture_conflict",
  "fixture_missing",
  "outcome_overlap",
  "outcome_unknown",
  "size_differs",
] as const;
export type EventFeature = (typeof EVENT_FEATURES)[number];

export interface EventComparison {
  readonly features: Readonly<Record<EventFeature, number>>;
  /** Dimensions whose values differ, and strict ones that only one event names. */
  readonly vetoedScopes: readonly ScopeDimension[];
}

const FIXTURE_CONFLICT_MAX = 0.5;
const SAME_OUTCOME_MIN = 0.6;

export function compareEvents(a: EventFingerprint, b: EventFingerprint, weightOf: WordWeights): EventComparison {
  const hasBothFixtures = a.fixture !== null && b.fixture !== null;
  const scopes = compareScopes(a.scopes, b.scopes, hasBothFixtures);
  const forward = coverageOf(hasBothFixtures ? withoutSides(a) : a.stems, b.allStems, weightOf);
  const backward = coverageOf(hasBothFixtures ? withoutSides(b) : b.stems, a.allStems, weightOf);
  const periods = comparePeriods(a.periods, b.periods);
  const fixture = fixtureSimilarity(a.fixture, b.fixture, weightOf);
  const overlap = outcomeOverlap(a, b, weightOf);
  return {
    features: {
      same_core: isSameSequence(a.stems, b.stems) ? 1 : 0,
      coverage_min: Math.min(forward.share, backward.share),
      coverage_max: Math.max(forward.share, backward.share),
      unmatched_both: Math.min(2, forward.unmatched, backward.unmatched),
      unmatched_max: Math.max(forward.unmatchedMax, backward.unmatchedMax),
      period_same: periods.relation === "same" ? 1 : 0,
      period_conflict: periods.relation === "conflict" ? 1 : 0,
      close_gap: periods.relation === "unknown" ? closeGap(a, b) : 0,
      strict_conflicts: scopes.strictConflicts,
      strict_one_sided: scopes.strictOneSided,
      loose_conflicts: scopes.looseConflicts,
      loose_one_sided: scopes.looseOneSided,
      scopes_same: scopes.same,
      places_one_sided: Math.min(2, countMissing(a.places, b.allPlaces) + countMissing(b.places, a.allPlaces)),
      fixture_similarity: hasBothFixtures ? fixture : 0,
      fixture_conflict: hasBothFixtures && fixture < FIXTURE_CONFLICT_MAX ? 1 : 0,
      fixture_missing: (a.fixture === null) === (b.fixture === null) ? 0 : 1,
      outcome_overlap: overlap ?? 0,
      outcome_unknown: overlap === null ? 1 : 0,
      size_differs: a.isSingle === b.isSingle ? 0 : 1,
    },
    vetoedScopes: scopes.vetoed,
  };
}

/** Stems of the title without the two sides, which `fixtureSimilarity` compares. */
function withoutSides({ stems, fixture }: EventFingerprint): readonly string[] {
  const sides = new Set(fixture?.flat());
  return stems.filter((stem) => !sides.has(stem));
}

/** Share of the smaller sample of outcomes that the other sample contains; null if either event has no named outcomes. */
function outcomeOverlap(a: EventFingerprint, b: EventFingerprint, weightOf: WordWeights): number | null {
  const [few, many] = a.outcomes.length <= b.outcomes.length ? [a.outcomes, b.outcomes] : [b.outcomes, a.outcomes];
  if (few.length === 0) return null;
  const found = few.filter((outcome) =>
    many.some((other) => nameSimilarity(outcome, other, weightOf) >= SAME_OUTCOME_MIN),
  );
  return found.length / few.length;
}
