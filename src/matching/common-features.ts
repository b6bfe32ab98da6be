/** Features that the models of markets and events share. */
import { DAY_MS } from "../lib/durations.ts";
import type { wordFeatures } from "./compare-words.ts";
import { latestPeriod, type PeriodComparison } from "./facts/periods.ts";
import type { ScopeComparison, ScopeDimension } from "./facts/scopes.ts";
import type { Fingerprint } from "./fingerprint.ts";

export type CommonFeature =
  | keyof ReturnType<typeof wordFeatures>
  | keyof ReturnType<typeof periodFeatures>
  | keyof ReturnType<typeof scopeFeatures>
  | keyof ReturnType<typeof placeFeatures>
  | "fixture_same"
  | "fixture_one_sided"
  | "nothing_differs";

/** Features that are 0 if the questions agree, except for words. */
const DIFFERENCES = [
  "names_both",
  "names_against_words",
  "subject_differs",
  "period_differs",
  "other_day",
  "quantity_missing",
  "stage_differs",
  "stage_one_sided",
  "stage_partial",
  "bet_differs",
  "bet_one_sided",
  "action_differs",
  "action_one_sided",
  "condition_differs",
  "condition_one_sided",
  "strict_differs",
  "strict_one_sided",
  "number_one_sided",
  "number_differs",
  "general_differs",
  "place_one_sided",
  "place_differs",
  "fixture_one_sided",
];
/** Maximum total weight of the words without a counterpart of two titles that say the same. */
const OTHER_WORDS_MAX = 0.4;
const CLOSE_GAP_MAX = 0.2;
const UNKNOWN_CLOSE_GAP = CLOSE_GAP_MAX;

const hasNoDifference = (features: Readonly<Record<string, number>>): boolean =>
  DIFFERENCES.every((name) => (features[name] ?? 0) === 0) &&
  (features.words_both ?? 0) <= OTHER_WORDS_MAX &&
  (features.names_one ?? 0) <= OTHER_WORDS_MAX &&
  (features.close_gap ?? 0) <= CLOSE_GAP_MAX;

/**
 * Adds the feature that is 1 if nothing speaks against a match. Single features cannot say this, because their weights
 * only add up.
 */
export const withNothingDiffers = <Features extends Readonly<Record<string, number>>>(features: Features) => ({
  ...features,
  nothing_differs: hasNoDifference(features) ? 1 : 0,
});

/** Dimensions in which a value that only one title has usually changes the question. */
const STRICT_DIMENSIONS: readonly ScopeDimension[] = ["segment", "reading", "group", "part", "seat", "manner", "rank"];
const GENERAL_DIMENSIONS: readonly ScopeDimension[] = [
  "office",
  "party",
  "district",
  "direction",
  "ordinal",
  "award",
  "time",
];

const SCOPES_MAX = 2;

/** The action that many titles do not name: "NBA champion: Boston". */
const IMPLIED_ACTION = "win";

export function scopeFeatures({ otherActions, relations }: ScopeComparison, hasOtherReference: boolean) {
  const isUnequal = (dimension: ScopeDimension) => {
    const relation = relations.get(dimension);
    return relation === "one_sided" || relation === "partial";
  };
  const isActionOneSided = isUnequal("action");
  const isImplied = otherActions.size === 1 && otherActions.has(IMPLIED_ACTION);
  const count = (dimensions: readonly ScopeDimension[], relation: string) =>
    dimensions.filter((dimension) => relations.get(dimension) === relation).length;
  const all = [...relations.values()];
  return {
    scopes_same: Math.min(SCOPES_MAX, all.filter((relation) => relation === "same").length),
    stage_differs: relations.get("stage") === "differs" ? 1 : 0,
    stage_one_sided: relations.get("stage") === "one_sided" ? 1 : 0,
    stage_partial: relations.get("stage") === "partial" ? 1 : 0,
    bet_differs: relations.get("bet") === "differs" ? 1 : 0,
    bet_one_sided: isUnequal("bet") ? 1 : 0,
    action_differs: relations.get("action") === "differs" ? 1 : 0,
    action_one_sided: isActionOneSided && !isImplied ? 1 : 0,
    win_one_sided: isActionOneSided && isImplied ? 1 : 0,
    condition_differs: relations.get("condition") === "differs" || hasOtherReference ? 1 : 0,
    condition_one_sided: isUnequal("condition") ? 1 : 0,
    strict_differs: count(STRICT_DIMENSIONS, "differs"),
    strict_one_sided: count(STRICT_DIMENSIONS, "one_sided") + count(STRICT_DIMENSIONS, "partial"),
    number_one_sided: isUnequal("number") ? 1 : 0,
    number_differs: relations.get("number") === "differs" ? 1 : 0,
    general_differs: count(GENERAL_DIMENSIONS, "differs"),
    general_one_sided: count(GENERAL_DIMENSIONS, "one_sided") + count(GENERAL_DIMENSIONS, "partial"),
  };
}

type PlaceRelation = "same" | "one_sided" | "differs";

export const placeFeatures = (relation: PlaceRelation) => ({
  place_one_sided: relation === "one_sided" ? 1 : 0,
  place_differs: relation === "differs" ? 1 : 0,
});

type Dated = Pick<Fingerprint, "periods" | "endAt">;

export const periodFeatures = (a: Dated, b: Dated, { relation }: PeriodComparison) => ({
  period_differs: relation === "conflict" ? 1 : 0,
  close_gap: relation === "unknown" ? closeGap(a, b) : 0,
  other_day: relation === "unknown" && (isOtherDay(a, b) || isOtherDay(b, a)) ? 1 : 0,
});

/** From this number of days between the day of one question and the end of an undated one, they are two questions. */
const OTHER_DAY_MIN = 4;

/** Whether one question is about a single day, and the other, without a date, ends on another day. */
function isOtherDay({ periods }: Dated, other: Dated): boolean {
  const day = latestPeriod(periods, "deadline");
  if (day === null || day.from !== day.to || other.endAt === null || other.periods.length > 0) return false;
  return Math.abs(other.endAt / DAY_MS - day.to) >= OTHER_DAY_MIN;
}

type Placed = Pick<Fingerprint, "places" | "allPlaces">;

/** Returns "differs" if each question names a place that the other one does not name, "one_sided" if only one does. */
export function comparePlaces(a: Placed, b: Placed, implied: ReadonlySet<string>): PlaceRelation {
  const isOther = (of: Placed, other: Placed) =>
    of.places.some((place) => !implied.has(place) && !other.allPlaces.includes(place));
  const [isOtherA, isOtherB] = [isOther(a, b), isOther(b, a)];
  if (isOtherA && isOtherB) return "differs";
  return isOtherA || isOtherB ? "one_sided" : "same";
}

/** Venues set the end of the same contest weeks or months apart, so that only long gaps say much. */
const GAP_UNIT_DAYS = 30;
const GAP_MAX_DAYS = 3_650;

/** ln(1 + d / 30) / ln(1 + 3650 / 30) for d days between the ends of two markets, at most 1. */
function closeGap(a: Dated, b: Dated): number {
  const endA = endOf(a);
  const endB = endOf(b);
  if (endA === null || endB === null) return UNKNOWN_CLOSE_GAP;
  return Math.min(1, Math.log1p(Math.abs(endA - endB) / GAP_UNIT_DAYS) / Math.log1p(GAP_MAX_DAYS / GAP_UNIT_DAYS));
}

/** Returns the last deadline in the text, else when the market is expected to end, in days since 1970-01-01. */
function endOf({ periods, endAt }: Dated): number | null {
  const deadline = latestPeriod(periods, "deadline");
  if (deadline !== null) return deadline.to;
  return endAt === null ? null : endAt / DAY_MS;
}
