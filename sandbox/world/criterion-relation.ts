import type { OutcomeProcess, PositiveCriterion, ResolutionCriterion } from "./truth.ts";
import type { MarketRelation } from "./types.ts";

/** A possible result of a process. Times are Unix milliseconds, Infinity for never. */
interface Result {
  readonly winner: number;
  readonly number: number;
  readonly occursAt: number;
  readonly otherOccursAt: number;
}

const NO_RESULT: Result = { winner: 0, number: 0, occursAt: 0, otherOccursAt: 0 };

/**
 * Returns the relation of two criteria. The possible results of the process are divided into classes within which both
 * criteria are constant, and the criteria are compared on one result of each class. The actual outcome is not used.
 */
export function relateCriteria(
  process: OutcomeProcess,
  first: ResolutionCriterion,
  otherProcess: OutcomeProcess,
  second: ResolutionCriterion,
): MarketRelation {
  if (process.underlying !== otherProcess.underlying) return "unrelated";
  let both = false;
  let onlyFirst = false;
  let onlySecond = false;
  let neither = false;
  for (const result of listResults(process, [positiveOf(first), positiveOf(second)])) {
    const isFirst = isMet(first, result);
    const isSecond = isMet(second, result);
    both ||= isFirst && isSecond;
    onlyFirst ||= isFirst && !isSecond;
    onlySecond ||= !isFirst && isSecond;
    neither ||= !isFirst && !isSecond;
  }
  if (!onlyFirst && !onlySecond) return "identical";
  if (!both) return neither ? "disjoint" : "inverse";
  if (!onlyFirst) return "subset";
  return onlySecond ? "overlap" : "superset";
}

function positiveOf(criterion: ResolutionCriterion): PositiveCriterion {
  return criterion.kind === "not" ? criterion.criterion : criterion;
}

function isMet(criterion: ResolutionCriterion, result: Result): boolean {
  switch (criterion.kind) {
    case "not":
      return !isMet(criterion.criterion, result);
    case "outcome":
      return result.winner === criterion.index;
    case "range":
      return result.number > criterion.above && result.number <= criterion.upTo;
    case "before":
      return result.occursAt <= criterion.deadline;
    case "either":
      return Math.min(result.occursAt, result.otherOccursAt) <= criterion.deadline;
    case "first":
      return result.occursAt <= criterion.deadline && result.occursAt < result.otherOccursAt;
  }
}

/** Returns at least one result of every class that the criteria distinguish. */
function listResults({ model }: OutcomeProcess, criteria: readonly PositiveCriterion[]): Result[] {
  if (model.kind === "categorical") return model.priors.map((_, winner) => ({ ...NO_RESULT, winner }));
  if (model.kind === "numeric") {
    const bounds = criteria.flatMap((criterion) =>
      criterion.kind === "range" ? [criterion.above, criterion.upTo] : [],
    );
    return valuesBetween(bounds.filter(Number.isFinite)).map((number) => ({ ...NO_RESULT, number }));
  }
  const deadlines = criteria.flatMap((criterion) => ("deadline" in criterion ? [criterion.deadline] : []));
  const times = valuesBetween(deadlines);
  // The two times must differ, because "first" compares them. Half a millisecond does not cross a deadline.
  return times.flatMap((occursAt) =>
    times.flatMap((otherOccursAt) =>
      [-0.5, 0.5].map((shift) => ({ ...NO_RESULT, occursAt, otherOccursAt: otherOccursAt + shift })),
    ),
  );
}

/** Returns a value below all bounds, a value between each two adjacent bounds, and a value above all bounds. */
function valuesBetween(bounds: readonly number[]): number[] {
  const sorted = [...new Set(bounds)].sort((a, b) => a - b);
  const [lowest] = sorted;
  const highest = sorted.at(-1);
  if (lowest === undefined || highest === undefined) return [0];
  const middles = sorted.slice(1).map((bound, index) => (bound + (sorted[index] ?? bound)) / 2);
  return [lowest - 1, ...middles, highest + 1];
}
