/** Describes the evidence for a match in sentences. */
import { DAY_MS } from "../lib/durations.ts";
import { latestPeriod, type Period } from "./facts/periods.ts";
import type { Quantity } from "./facts/quantities.ts";
import type { MarketComparison } from "./features.ts";
import type { Fingerprint } from "./fingerprint.ts";
import type { MatchRelation } from "./model.ts";

const RELATION_TEXTS: Readonly<Record<MatchRelation, string>> = {
  identical: "Both markets ask the same question.",
  inverse: "YES of one market is NO of the other.",
  subset: "YES of the first market implies YES of the second.",
  superset: "YES of the second market implies YES of the first.",
  overlap: "The markets overlap; neither implies the other.",
};

const COMPARATOR_TEXTS = { at_least: "at least ", at_most: "at most ", between: "", exactly: "" } as const;

/** Describes a match. In the sentences, `a` is the first market and `b` the second. */
export function describeMatch(
  a: Fingerprint,
  b: Fingerprint,
  comparison: MarketComparison,
  relation: MatchRelation,
  notes: readonly string[] = [],
): string[] {
  const { features, periods } = comparison;
  const sentences = [RELATION_TEXTS[relation]];
  if (features.same_core === 1) sentences.push("The titles are equal except for dates and numbers.");
  else
    sentences.push(
      `The titles share ${Math.round(100 * features.coverage_min)}% or more of the weight of their words.`,
    );
  if (features.subject_similarity > 0.5) sentences.push(`Both name the outcome: ${a.subject.stems.join(" ")}.`);
  if (features.fixture_same > 0 && a.fixture !== null)
    sentences.push(`Both name the sides: ${a.fixture.map((side) => side.stems.join(" ")).join(" and ")}.`);
  const deadlines = [latestPeriod(a.periods, "deadline"), latestPeriod(b.periods, "deadline")];
  if (periods.relation === "same")
    sentences.push(
      `Both name the same date: ${deadlines.map(describePeriod).find(Boolean) ?? describePeriod(a.periods[0] ?? null)}.`,
    );
  else if (periods.relation === "conflict" && deadlines.every((deadline) => deadline !== null))
    sentences.push(`The dates differ: ${deadlines.map(describePeriod).join(" and ")}.`);
  else if (a.endAt !== null && b.endAt !== null)
    sentences.push(`They close ${Math.round(Math.abs(a.endAt - b.endAt) / DAY_MS)} days apart.`);
  if (a.quantities.length > 0 && b.quantities.length > 0) {
    const [left, right] = [a.quantities, b.quantities].map((quantities) => quantities.map(describeQuantity).join(", "));
    sentences.push(left === right ? `Both name the threshold: ${left}.` : `The thresholds are ${left} and ${right}.`);
  }
  return [...sentences, ...notes];
}

function describePeriod(period: Period | null): string {
  if (period === null) return "";
  const last = new Date(period.to * DAY_MS).toISOString();
  return period.kind === "edition" ? last.slice(0, 4) : last.slice(0, 10);
}

function describeQuantity({ comparator, low, high, unit }: Quantity): string {
  const format = (value: number) => (unit === "$" ? `$${value}` : unit === "x" ? String(value) : `${value}${unit}`);
  const range = comparator === "between" ? `${format(low)} to ${format(high)}` : format(low);
  return COMPARATOR_TEXTS[comparator] + range;
}
