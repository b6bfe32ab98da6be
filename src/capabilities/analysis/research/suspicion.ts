import { toLogOdds } from "../../../engine/index.ts";

/** Probabilities of one trial before and after it read a source. */
export interface StatedChange {
  /** Probability before and after, in (0, 1). */
  readonly shown: number;
  readonly stated: number;
}

const READINGS_MIN = 3;
/** Minimum change of the log-odds: that of decisive evidence. */
const MOVE_MIN = Math.log(10);
/** Maximum range of the stated probabilities. Independent trials with different beliefs differ by more. */
const STATED_RANGE_MAX = 0.03;

/**
 * Whether a source is suspected of prompt injection: every trial changes by more than decisive evidence, all state
 * nearly the same probability, and the other sources together do not support that direction. The first report of
 * decisive news is also suspected; the loss is small, because a single source has little weight.
 *
 * @param otherEffects  mean effects of the other sources on the log-odds
 */
export function detectsInjection(moves: readonly StatedChange[], otherEffects: readonly number[]): boolean {
  if (moves.length < READINGS_MIN) return false;
  const changes = moves.map(({ shown, stated }) => toLogOdds(stated) - toLogOdds(shown));
  const direction = Math.sign(changes[0] ?? 0);
  if (!changes.every((change) => change * direction >= MOVE_MIN)) return false;
  const stated = moves.map((move) => move.stated);
  if (Math.max(...stated) - Math.min(...stated) > STATED_RANGE_MAX) return false;
  return otherEffects.reduce((sum, effect) => sum + effect, 0) * direction <= 0;
}
