/** Compares the fingerprints of two events. */
import type { EventFingerprint } from "./event-fingerprint.ts";
import { comparePeriods, type PeriodComparison } from "./facts/periods.ts";
import { compareScopes, type ScopeDimension } from "./facts/scopes.ts";
import {
  type CommonFeature,
  coverageOf,
  fixtureSimilarity,
  hasOtherPlace,
  isSameSequence,
  nameSimilarity,
  periodFeatures,
  wordFeatures,
} from "./features.ts";
import type { WordWeights } from "./text/word-weights.ts";

export interface EventComparison {
  /** Features of the fitted model, in the order of its coefficients. */
  readonly features: Readonly<
    Record<CommonFeature | "fixture_similarity" | "outcome_overlap" | "outcome_unknown" | "size_differs", number>
  >;
  readonly periods: PeriodComparison;
  /** Dimensions whose values differ, and strict dimensions that only one event names. */
  readonly vetoedScopes: readonly ScopeDimension[];
  /** Whether the fixtures differ, or only one event is about a fixture. */
  readonly hasOtherFixture: boolean;
  /** Whether one event names a place that the other does not. */
  readonly hasOtherPlace: boolean;
}

const FIXTURE_CONFLICT_MAX = 0.5;
const SAME_OUTCOME_MIN = 0.6;

export function compareEvents(a: EventFingerprint, b: EventFingerprint, weightOf: WordWeights): EventComparison {
  const hasBothFixtures = a.fixture !== null && b.fixture !== null;
  const scopes = compareScopes(a.scopes, b.scopes, hasBothFixtures);
  const periods = comparePeriods(a.periods, b.periods);
  const fixture = fixtureSimilarity(a.fixture, b.fixture, weightOf);
  const overlap = outcomeOverlap(a, b, weightOf);
  return {
    features: {
      ...wordFeatures(
        isSameSequence(a.stems, b.stems),
        coverageOf(hasBothFixtures ? withoutSides(a) : a.stems, b.allStems, weightOf),
        coverageOf(hasBothFixtures ? withoutSides(b) : b.stems, a.allStems, weightOf),
      ),
      ...periodFeatures(a, b, periods),
      loose_one_sided: scopes.looseOneSided,
      scopes_same: scopes.same,
      fixture_similarity: fixture,
      outcome_overlap: overlap ?? 0,
      outcome_unknown: overlap === null ? 1 : 0,
      size_differs: a.isSingle === b.isSingle ? 0 : 1,
    },
    periods,
    vetoedScopes: scopes.vetoed,
    hasOtherFixture: hasBothFixtures ? fixture < FIXTURE_CONFLICT_MAX : (a.fixture === null) !== (b.fixture === null),
    hasOtherPlace: hasOtherPlace(a, b),
  };
}

/** Stems of the title without the two sides of the fixture, which `fixtureSimilarity` compares. */
function withoutSides({ stems, fixture }: EventFingerprint): readonly string[] {
  const sides = new Set(fixture?.flat());
  return stems.filter((stem) => !sides.has(stem));
}

/** Share of the smaller sample's outcomes that are in the larger sample; null without named outcomes. */
function outcomeOverlap(a: EventFingerprint, b: EventFingerprint, weightOf: WordWeights): number | null {
  const [few, many] = a.outcomes.length <= b.outcomes.length ? [a.outcomes, b.outcomes] : [b.outcomes, a.outcomes];
  if (few.length === 0) return null;
  const found = few.filter((outcome) =>
    many.some((other) => nameSimilarity(outcome, other, weightOf) >= SAME_OUTCOME_MIN),
  );
  return found.length / few.length;
}
