/** Compares the fingerprints of two markets. */
import { DAY_MS } from "../lib/durations.ts";
import { comparePeriods, latestPeriod, type PeriodComparison } from "./facts/periods.ts";
import { compareQuantities, type QuantityRelation } from "./facts/quantities.ts";
import { compareScopes, type ScopeDimension } from "./facts/scopes.ts";
import type { Fingerprint } from "./fingerprint.ts";
import type { WordWeights } from "./text/word-weights.ts";
import { stemSimilarity } from "./text/words.ts";

/** Minimum similarity of two stems that count as the same word. */
const SAME_STEM_MIN = 0.75;

/** Below this similarity, two outcomes count as different. */
const SUBJECT_CONFLICT_MAX = 0.35;

export interface MarketComparison {
  /** Features of the fitted model, in the order of its coefficients. */
  readonly features: Readonly<
    Record<
      | CommonFeature
      | "subject_similarity"
      | "subject_missing"
      | "quantity_same"
      | "fixture_similarity"
      | "fixture_missing",
      number
    >
  >;
  readonly periods: PeriodComparison;
  readonly quantities: QuantityRelation;
  /** Dimensions whose values differ, and strict dimensions that only one title names, without repetitions. */
  readonly vetoedScopes: readonly ScopeDimension[];
  /** Whether both markets name an outcome, and the outcomes differ. */
  readonly hasOtherSubject: boolean;
  /** Whether one market names a place that the other does not. */
  readonly hasOtherPlace: boolean;
  /** Whether the titles differ in negating words such as "not" or "remain". */
  readonly isPolarityFlipped: boolean;
  /** Whether the titles have no negating words except plain negations ("not", "fail to"). */
  readonly isNegated: boolean;
}

interface Coverage {
  /** Share of the stems' weight that has a counterpart, in [0, 1]. A similar stem counts by its similarity. */
  readonly share: number;
  /** Weight without a counterpart. A similar stem counts as 1 minus its similarity. */
  readonly unmatched: number;
  /** Largest weight of a stem without a counterpart. */
  readonly unmatchedMax: number;
}

export function coverageOf(stems: readonly string[], other: readonly string[], weightOf: WordWeights): Coverage {
  let total = 0;
  let matched = 0;
  let unmatchedMax = 0;
  for (const stem of stems) {
    const weight = weightOf(stem);
    total += weight;
    let similarity = other.includes(stem) ? 1 : 0;
    if (similarity === 0)
      for (const candidate of other) similarity = Math.max(similarity, stemSimilarity(stem, candidate));
    if (similarity >= SAME_STEM_MIN) matched += weight * similarity;
    else unmatchedMax = Math.max(unmatchedMax, weight);
  }
  return { share: total === 0 ? 1 : matched / total, unmatched: total - matched, unmatchedMax };
}

/** Similarity of two names in [0, 1]: 0.8 of the larger coverage plus 0.2 of the smaller one; 0 if a name is empty. */
export function nameSimilarity(a: readonly string[], b: readonly string[], weightOf: WordWeights): number {
  if (a.length === 0 || b.length === 0) return 0;
  const forward = coverageOf(a, b, weightOf).share;
  const backward = coverageOf(b, a, weightOf).share;
  const [low, high] = forward < backward ? [forward, backward] : [backward, forward];
  // One name may contain the other ("Lyon" and "Olympique Lyonnais"), but "Norway" and "Norway women" differ a little.
  return 0.2 * low + 0.8 * high;
}

/** Similarity of two fixtures in [0, 1], in either order of the sides. */
export function fixtureSimilarity(a: Fingerprint["fixture"], b: Fingerprint["fixture"], weightOf: WordWeights): number {
  if (a === null || b === null) return 0;
  const sides = (x: readonly string[], y: readonly string[]) => nameSimilarity(x, y, weightOf);
  return Math.max(Math.min(sides(a[0], b[0]), sides(a[1], b[1])), Math.min(sides(a[0], b[1]), sides(a[1], b[0])));
}

/** Whether both questions name a reference event, and the events differ ("before GTA VI", "before the midterms"). */
function hasOtherReference(a: Fingerprint, b: Fingerprint, weightOf: WordWeights): boolean {
  if (a.reference.length === 0 || b.reference.length === 0) return false;
  return nameSimilarity(a.reference, b.reference, weightOf) < SUBJECT_CONFLICT_MAX;
}

function subjectSimilarityOf(a: Fingerprint, b: Fingerprint, weightOf: WordWeights): number | null {
  if (a.subject.length === 0 || b.subject.length === 0) return null;
  return a.subject === b.subject ? 1 : nameSimilarity(a.subject, b.subject, weightOf);
}

/**
 * Whether a veto excludes every relation. If false, `decideMarkets` can still find no relation. This check does not
 * compare all words, so it is a fast first filter that removes most candidates.
 */
export function hasEarlyVeto(a: Fingerprint, b: Fingerprint, weightOf: WordWeights): boolean {
  const areFixtures = a.fixture !== null && b.fixture !== null;
  if (compareScopes(a.scopes, b.scopes, areFixtures).vetoed.length > 0) return true;
  const quantities = compareQuantities(a.quantities, b.quantities);
  if (quantities === "conflict" || quantities === "missing") return true;
  const isPeriodConflict = comparePeriods(a.periods, b.periods).relation === "conflict";
  if (isPeriodConflict && ["a_implies_b", "b_implies_a", "overlap"].includes(quantities)) return true;
  if (hasOtherPlace(a, b)) return true;
  return (subjectSimilarityOf(a, b, weightOf) ?? 1) < SUBJECT_CONFLICT_MAX || hasOtherReference(a, b, weightOf);
}

export function compareMarkets(a: Fingerprint, b: Fingerprint, weightOf: WordWeights): MarketComparison {
  const periods = comparePeriods(a.periods, b.periods);
  const quantities = compareQuantities(a.quantities, b.quantities);
  const hasBothFixtures = a.fixture !== null && b.fixture !== null;
  const scopes = compareScopes(a.scopes, b.scopes, hasBothFixtures);
  const vetoedScopes: readonly ScopeDimension[] =
    hasOtherReference(a, b, weightOf) && !scopes.vetoed.includes("trigger")
      ? [...scopes.vetoed, "trigger"]
      : scopes.vetoed;
  const subjectSimilarity = subjectSimilarityOf(a, b, weightOf);
  return {
    features: {
      ...wordFeatures(
        isSameSequence(a.stems, b.stems),
        coverageOf(a.stems, [...b.stems, ...b.eventStems], weightOf),
        coverageOf(b.stems, [...a.stems, ...a.eventStems], weightOf),
      ),
      subject_similarity: subjectSimilarity ?? 0,
      subject_missing: subjectSimilarity === null ? 1 : 0,
      ...periodFeatures(a, b, periods),
      quantity_same: quantities === "same" ? 1 : 0,
      loose_one_sided: scopes.looseOneSided,
      scopes_same: scopes.same,
      fixture_similarity: fixtureSimilarity(a.fixture, b.fixture, weightOf),
      fixture_missing: hasBothFixtures ? 0 : 1,
    },
    periods,
    quantities,
    vetoedScopes,
    hasOtherSubject: (subjectSimilarity ?? 1) < SUBJECT_CONFLICT_MAX,
    hasOtherPlace: hasOtherPlace(a, b),
    isPolarityFlipped: scopes.isPolarityFlipped,
    isNegated: [...(a.scopes.get("polarity") ?? []), ...(b.scopes.get("polarity") ?? [])].every(
      (word) => word === "not",
    ),
  };
}

/** Features that the models of markets and events share. */
export type CommonFeature =
  | keyof ReturnType<typeof wordFeatures>
  | keyof ReturnType<typeof periodFeatures>
  | "loose_one_sided"
  | "scopes_same";

export const wordFeatures = (isSame: boolean, forward: Coverage, backward: Coverage) => ({
  same_core: isSame ? 1 : 0,
  coverage_min: Math.min(forward.share, backward.share),
  coverage_max: Math.max(forward.share, backward.share),
  unmatched_both: Math.min(2, forward.unmatched, backward.unmatched),
  unmatched_max: Math.max(forward.unmatchedMax, backward.unmatchedMax),
});

type Dated = Pick<Fingerprint, "periods" | "endAt">;

export const periodFeatures = (a: Dated, b: Dated, { relation }: PeriodComparison) => ({
  period_same: relation === "same" ? 1 : 0,
  close_gap: relation === "unknown" ? closeGap(a, b) : 0,
});

type Placed = Pick<Fingerprint, "places" | "allPlaces">;

/** Whether one side names a place that the other side does not name anywhere. */
export const hasOtherPlace = (a: Placed, b: Placed): boolean =>
  !a.places.every((place) => b.allPlaces.includes(place)) || !b.places.every((place) => a.allPlaces.includes(place));

export const isSameSequence = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((value, index) => value === b[index]);

/** ln(1 + d) / ln(366) for d days between the end dates of two markets, at most 1; 0.3 if an end date is unknown. */
function closeGap(a: Dated, b: Dated): number {
  const endA = endOf(a);
  const endB = endOf(b);
  if (endA === null || endB === null) return 0.3;
  return Math.min(1, Math.log1p(Math.abs(endA - endB)) / Math.log1p(365));
}

/** Returns the last deadline in the text, else when the market is expected to end, in days since 1970-01-01. */
function endOf({ periods, endAt }: Dated): number | null {
  const deadline = latestPeriod(periods, "deadline");
  if (deadline !== null) return deadline.to;
  return endAt === null ? null : endAt / DAY_MS;
}
