/** Compares the fingerprints of two markets. */
import {
  type CommonFeature,
  comparePlaces,
  periodFeatures,
  placeFeatures,
  scopeFeatures,
  withNothingDiffers,
} from "./common-features.ts";
import {
  areOtherGames,
  areOtherSides,
  compareFixtures,
  hasNoDraw,
  isGameOf,
  SAME_FIXTURE_MIN,
  sideSimilarity,
} from "./compare-games.ts";
import { compareBothWays, impliedStems, nameSimilarity } from "./compare-words.ts";
import type { PeriodComparison } from "./facts/periods.ts";
import { compareQuantities, type QuantityRelation } from "./facts/quantities.ts";
import { compareScopes, type ScopeComparison } from "./facts/scopes.ts";
import { compareTeams } from "./facts/teams.ts";
import { compareDates, withComparedTimes } from "./facts/windows.ts";
import type { Fingerprint } from "./fingerprint.ts";
import type { WordWeights } from "./text/word-weights.ts";

/** Below this similarity, two outcomes count as different. */
const SUBJECT_CONFLICT_MAX = 0.35;

export interface MarketComparison {
  /** Features of the fitted model, in the order of its coefficients. */
  readonly features: Readonly<Record<MarketFeature, number>>;
  readonly periods: PeriodComparison;
  readonly quantities: QuantityRelation;
  readonly scopes: ScopeComparison;
  /** Whether both markets name an outcome, and the outcomes differ. */
  readonly hasOtherSubject: boolean;
  /** Whether each market names a place that the other does not name. */
  readonly hasOtherPlace: boolean;
  /** Whether both markets are about games, and the games differ. */
  readonly hasOtherGame: boolean;
  /** Whether both markets are about one game without a draw, and YES stands for different sides. */
  readonly areOppositeSides: boolean;
  /** Whether the titles differ in negating words such as "not" or "remain". */
  readonly isPolarityFlipped: boolean;
  /** Whether the titles have no negating words except plain negations ("not", "fail to"). */
  readonly isNegated: boolean;
}

type MarketFeature =
  | CommonFeature
  | "subject_similarity"
  | "subject_missing"
  | "subject_differs"
  | "quantity_same"
  | "quantity_missing";

/** Whether both questions name a reference event, and the events differ ("before GTA VI", "before the midterms"). */
function hasOtherReference(a: Fingerprint, b: Fingerprint, weightOf: WordWeights): boolean {
  if (a.reference.length === 0 || b.reference.length === 0) return false;
  return nameSimilarity(a.reference, b.reference, weightOf) < SUBJECT_CONFLICT_MAX;
}

function subjectSimilarityOf({ subject: a }: Fingerprint, { subject: b }: Fingerprint, weightOf: WordWeights) {
  if (a.stems.length === 0 || b.stems.length === 0) return null;
  return a === b ? 1 : sideSimilarity(a, b, weightOf);
}

/** Outcomes with more stems are descriptions, not names: other words can describe the same thing. */
const NAME_STEMS_MAX = 4;
const areShort = ({ subject: a }: Fingerprint, { subject: b }: Fingerprint): boolean =>
  Math.max(a.stems.length, b.stems.length) <= NAME_STEMS_MAX;

/**
 * Whether a veto excludes every relation. If false, `decideMarkets` can still find no relation. This check does not
 * compare all words, so it is a fast first filter that removes most candidates.
 */
export function hasEarlyVeto(a: Fingerprint, b: Fingerprint, weightOf: WordWeights): boolean {
  const quantities = compareQuantities(a.quantities, b.quantities);
  if (quantities === "conflict") return true;
  const isPeriodConflict = compareDates(a, b).relation === "conflict";
  if (isPeriodConflict && ["a_implies_b", "b_implies_a", "overlap"].includes(quantities)) return true;
  if (comparePlaces(a, b, impliedStems(a, b)) === "differs") return true;
  if (a.fixture === null || b.fixture === null)
    return areShort(a, b) && (subjectSimilarityOf(a, b, weightOf) ?? 1) < SUBJECT_CONFLICT_MAX;
  return areOtherGames(a, b, compareFixtures(a.fixture, b.fixture, weightOf).similarity);
}

/** The direction says nothing about opposite thresholds: "rises to 3% or higher" and "falls below 3%". */
function scopesOf(a: Fingerprint, b: Fingerprint, quantities: QuantityRelation): ScopeComparison {
  const scopes = compareScopes(a.scopes, b.scopes, a.fixture !== null && b.fixture !== null);
  if (quantities !== "opposite") return scopes;
  return { ...scopes, relations: new Map([...scopes.relations].filter(([dimension]) => dimension !== "direction")) };
}

export function compareMarkets(a: Fingerprint, b: Fingerprint, weightOf: WordWeights): MarketComparison {
  const periods = compareDates(a, b);
  const quantities = compareQuantities(a.quantities, b.quantities);
  const fixture = compareFixtures(a.fixture, b.fixture, weightOf);
  const isSameFixture = fixture.similarity >= SAME_FIXTURE_MIN;
  const scopes = withComparedTimes(scopesOf(a, b, quantities), periods);
  const isSameGame = isSameFixture || isGameOf(a, b) || isGameOf(b, a);
  const otherSides = isSameFixture ? areOtherSides(a, b, fixture) : null;
  const similarity = otherSides === null ? subjectSimilarityOf(a, b, weightOf) : otherSides ? 0 : 1;
  const areOppositeSides = otherSides === true && (hasNoDraw(a) || hasNoDraw(b));
  const hasOtherSubject = !areOppositeSides && areShort(a, b) && (similarity ?? 1) < SUBJECT_CONFLICT_MAX;
  const implied = impliedStems(a, b);
  const places = comparePlaces(a, b, implied);
  const isSameSubject = compareTeams(a.subject.teams, b.subject.teams) === "same";
  const compared = (side: Fingerprint): readonly string[] => {
    const known = [
      ...(isSameGame ? (side.fixture?.flatMap(({ stems }) => stems) ?? []) : []),
      ...(isSameGame || isSameSubject ? side.subject.stems : []),
    ];
    return known.length === 0 ? side.stems : side.stems.filter((stem) => !known.includes(stem));
  };
  const [stemsA, stemsB] = [compared(a), compared(b)];
  const features = {
    ...compareBothWays(
      { stems: stemsA, counterparts: [...a.stems, ...a.eventStems], names: a.names },
      { stems: stemsB, counterparts: [...b.stems, ...b.eventStems], names: b.names },
      implied,
      weightOf,
    ),
    subject_similarity: areOppositeSides ? 1 : (similarity ?? 0),
    subject_missing: similarity === null ? 1 : 0,
    subject_differs: hasOtherSubject ? 1 : 0,
    ...periodFeatures(a, b, periods),
    quantity_same: quantities === "same" || quantities === "opposite" ? 1 : 0,
    quantity_missing: quantities === "missing" ? 1 : 0,
    ...scopeFeatures(scopes, hasOtherReference(a, b, weightOf)),
    ...placeFeatures(places),
    fixture_same: isSameGame ? (isSameFixture ? fixture.similarity : 1) : 0,
    fixture_one_sided: isSameGame || (a.fixture === null) === (b.fixture === null) ? 0 : 1,
  };
  return {
    features: withNothingDiffers(features),
    periods,
    quantities,
    scopes,
    hasOtherSubject,
    hasOtherPlace: places === "differs",
    hasOtherGame: areOtherGames(a, b, fixture.similarity),
    areOppositeSides,
    isPolarityFlipped: scopes.isPolarityFlipped,
    isNegated:
      remainsAgainstLeaves(a, b) ||
      remainsAgainstLeaves(b, a) ||
      [...(a.scopes.get("polarity") ?? []), ...(b.scopes.get("polarity") ?? [])].every((word) => word === "not"),
  };
}

/** Whether one question asks whether somebody remains in office, and the other whether he leaves. */
const remainsAgainstLeaves = ({ scopes: a }: Fingerprint, { scopes: b }: Fingerprint): boolean =>
  a.get("polarity")?.has("remain") === true && !b.has("polarity") && b.get("action")?.has("leave") === true;
