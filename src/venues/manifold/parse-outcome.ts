import type { Outcome } from "../../domain/market.ts";
import { fromMicros, toMicros } from "../../domain/price.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { type AnswerWire, type ContractWire, isAnswer } from "./wire.ts";

export type AnswerProbabilities = Readonly<Record<string, number>>;

const FLOAT_ERROR_MAX = 1e-9;
/** The venue accepts percentages that sum to 100 within 0.1. */
const PAYOUT_SUM_ERROR_MAX = 0.001 + FLOAT_ERROR_MAX;

export const hasResolution = (resolution: string | null | undefined): boolean =>
  resolution !== undefined && resolution !== null && resolution !== "";

/**
 * Returns whether the contract pays several mutually exclusive answers and the row does not contain the payouts. The
 * venue stores each payout as the answer's current probability, which only `/market/{id}/prob` returns.
 */
export function lacksPayouts(row: ContractWire): boolean {
  const { isResolved, resolutions, answers } = row;
  const hasUnresolved = (answers ?? []).some((answer) => isAnswer(answer) && !hasResolution(answer.resolution));
  return isResolved && isShared(row) && !resolutions && hasUnresolved;
}

function isShared({ resolution, shouldAnswersSumToOne }: ContractWire): boolean {
  return (resolution === "CHOOSE_MULTIPLE" || resolution === "MKT") && shouldAnswersSumToOne !== false;
}

/**
 * Returns the outcome from the answer's own resolution, or from the contract's if the answer has none, as in contracts
 * with mutually exclusive answers.
 */
export function answerOutcome(
  row: ContractWire,
  answer: AnswerWire,
  probabilities: AnswerProbabilities | null,
  countDrop: DropCounter,
): Outcome | null {
  if (hasResolution(answer.resolution)) return parseOutcome(answer, countDrop);
  const { resolution } = row;
  if (resolution === "CANCEL") return { kind: "void", value: null };
  if (resolution === answer.id) return { kind: "yes" };
  if (isShared(row)) return parsePayout(findPayout(row, answer, probabilities), countDrop);
  if (row.answers?.some((other) => isAnswer(other) && other.id === resolution)) return { kind: "no" };
  countDrop("unknown_resolution");
  return null;
}

/**
 * Returns the share of an answer in a shared resolution; undefined if unknown. The answer's `resolutionProbability` is
 * the probability before the resolution and never the payout.
 */
function findPayout(
  row: ContractWire,
  answer: AnswerWire,
  probabilities: AnswerProbabilities | null,
): number | undefined {
  const { resolutions } = row;
  if (resolutions) {
    const total = Object.values(resolutions).reduce((sum, share) => sum + share, 0);
    return total > 0 ? (resolutions[answer.id] ?? 0) / total : undefined;
  }
  if (probabilities === null) return undefined;
  const answers = (row.answers ?? []).filter(isAnswer);
  const total = answers.reduce((sum, { id }) => sum + (probabilities[id] ?? Number.NaN), 0);
  // Contracts resolved before the venue stored payouts keep their last probabilities.
  const areUnchanged = answers.every(({ id, resolutionProbability, probability }) => {
    const before = resolutionProbability ?? probability ?? Number.NaN;
    return Math.abs((probabilities[id] ?? Number.NaN) - before) <= FLOAT_ERROR_MAX;
  });
  if (areUnchanged || !(Math.abs(total - 1) <= PAYOUT_SUM_ERROR_MAX)) return undefined;
  return (probabilities[answer.id] ?? Number.NaN) / total;
}

/** Returns the outcome of a contract without answers, or of an answer with a resolution of its own. */
export function parseOutcome(
  { resolution, resolutionProbability }: Pick<ContractWire, "resolution" | "resolutionProbability">,
  countDrop: DropCounter,
): Outcome | null {
  if (resolution === "YES") return { kind: "yes" };
  if (resolution === "NO") return { kind: "no" };
  if (resolution === "CANCEL") return { kind: "void", value: null };
  if (resolution === "MKT") return parsePayout(resolutionProbability, countDrop);
  countDrop("unknown_resolution");
  return null;
}

function parsePayout(value: number | null | undefined, countDrop: DropCounter): Outcome | null {
  if (value === undefined || value === null) {
    countDrop("unknown_resolution");
    return null;
  }
  if (!(value >= 0 && value <= 1)) {
    countDrop("payout_out_of_range");
    return null;
  }
  const rounded = fromMicros(toMicros(value));
  if (rounded === 0) return { kind: "no" };
  return rounded === 1 ? { kind: "yes" } : { kind: "partial", value: rounded };
}
