/** Compares the fingerprints of two events. */
import {
  type CommonFeature,
  comparePlaces,
  periodFeatures,
  placeFeatures,
  scopeFeatures,
  withNothingDiffers,
} from "./common-features.ts";
import { areOtherGames, compareFixtures, SAME_FIXTURE_MIN, sideSimilarity } from "./compare-games.ts";
import { compareBothWays, impliedStems } from "./compare-words.ts";
import type { EventFingerprint } from "./event-fingerprint.ts";
import type { PeriodComparison } from "./facts/periods.ts";
import { compareScopes, type ScopeComparison } from "./facts/scopes.ts";
import { compareDates, withComparedTimes } from "./facts/windows.ts";
import type { WordWeights } from "./text/word-weights.ts";

export interface EventComparison {
  /** Features of the fitted model, in the order of its coefficients. */
  readonly features: Readonly<Record<CommonFeature | "outcome_overlap" | "outcome_unknown" | "size_differs", number>>;
  readonly periods: PeriodComparison;
  readonly scopes: ScopeComparison;
  /** Whether both events are about games, and the games differ. */
  readonly hasOtherGame: boolean;
  /** Whether each event names a place that the other does not name. */
  readonly hasOtherPlace: boolean;
}

const SAME_OUTCOME_MIN = 0.6;

export function compareEvents(a: EventFingerprint, b: EventFingerprint, weightOf: WordWeights): EventComparison {
  const fixture = compareFixtures(a.fixture, b.fixture, weightOf);
  const isSameFixture = fixture.similarity >= SAME_FIXTURE_MIN;
  const periods = compareDates(a, b);
  const areFixtures = a.fixture !== null && b.fixture !== null;
  const scopes = withComparedTimes(compareScopes(a.scopes, b.scopes, areFixtures), periods);
  const overlap = outcomeOverlap(a, b, weightOf);
  const implied = impliedStems(a, b);
  const places = comparePlaces(a, b, implied);
  const [stemsA, stemsB] = isSameFixture ? [withoutSides(a), withoutSides(b)] : [a.stems, b.stems];
  const features = {
    ...compareBothWays(
      { stems: stemsA, counterparts: a.allStems, names: a.names },
      { stems: stemsB, counterparts: b.allStems, names: b.names },
      implied,
      weightOf,
    ),
    ...periodFeatures(a, b, periods),
    ...scopeFeatures(scopes, false),
    ...placeFeatures(places),
    fixture_same: isSameFixture ? 1 : 0,
    fixture_one_sided: (a.fixture === null) === (b.fixture === null) ? 0 : 1,
    outcome_overlap: overlap ?? 0,
    outcome_unknown: overlap === null ? 1 : 0,
    size_differs: a.isSingle === b.isSingle ? 0 : 1,
  };
  return {
    features: withNothingDiffers(features),
    periods,
    scopes,
    hasOtherGame: areOtherGames(a, b, fixture.similarity),
    hasOtherPlace: places === "differs",
  };
}

/** Stems of the title without the two sides of the fixture. */
function withoutSides({ stems, fixture }: EventFingerprint): readonly string[] {
  const sides = new Set(fixture?.flatMap((side) => side.stems));
  return stems.filter((stem) => !sides.has(stem));
}

/** Share of the smaller sample's outcomes that are in the larger sample; null without named outcomes. */
function outcomeOverlap(a: EventFingerprint, b: EventFingerprint, weightOf: WordWeights): number | null {
  const [few, many] = a.outcomes.length <= b.outcomes.length ? [a.outcomes, b.outcomes] : [b.outcomes, a.outcomes];
  if (few.length === 0) return null;
  const share = shareOf(few, many, weightOf);
  return few.length === many.length ? Math.min(share, shareOf(many, few, weightOf)) : share;
}

function shareOf(few: EventFingerprint["outcomes"], many: EventFingerprint["outcomes"], weightOf: WordWeights): number {
  const found = few.filter((outcome) =>
    many.some((other) => sideSimilarity(outcome, other, weightOf) >= SAME_OUTCOME_MIN),
  );
  return found.length / few.length;
}
