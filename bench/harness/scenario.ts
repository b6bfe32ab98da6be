import { type Spread, spreadOf } from "./statistics.ts";

/** What the command line asks of a scenario. */
export interface BenchOptions {
  /** Short forms: they show that a scenario works, their figures are worth little. */
  readonly quick: boolean;
  /** Interleaved rounds of a comparison; null leaves it to the scenario. */
  readonly rounds: number | null;
  /** Rows of the scenarios that fill a store; null leaves it to the scenario. */
  readonly ticks: number | null;
  /** Length of the soak; null leaves it to the scenario. */
  readonly minutes: number | null;
  /** Each line of progress; figures are given back, not said. */
  readonly say: (line: string) => void;
}

/** One figure with what it is to be held against. */
export interface BenchRow {
  readonly figure: string;
  readonly unit: string;
  readonly value: Spread;
  /** The same work done by the bare tool, in rounds between ours; null where there is no such thing. */
  readonly yardstick: { readonly name: string; readonly value: Spread } | null;
  /** Ours divided by the yardstick, round by round: what disturbs both at once cancels out. */
  readonly ratio: Spread | null;
  readonly target: Target | null;
  readonly isMet: boolean | null;
  readonly note: string;
}

/** What a figure has to reach. `ratio` judges the median ratio, `worst` the sample that is furthest off. */
export interface Target {
  readonly of: "median" | "worst" | "ratio";
  readonly bound: "at_least" | "at_most";
  readonly value: number;
}

export interface Scenario {
  readonly name: string;
  /** One or two lines for `--help`. */
  readonly describe: string;
  /** Throws when what it shows does not hold (a lost row); a target that is missed is told in its row instead. */
  run(options: BenchOptions): Promise<readonly BenchRow[]>;
}

/** A scenario that cannot run here (no database server, no right to mount); the reason is told, nothing fails. */
export class SkippedError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "SkippedError";
  }
}

/**
 * Makes a row from samples.
 *
 * @param row.samples            one a round
 * @param row.yardstick.samples  one a round; rounds pair up by position
 */
export function benchRow(row: {
  readonly figure: string;
  readonly unit: string;
  readonly samples: readonly number[];
  readonly yardstick?: { readonly name: string; readonly samples: readonly number[] };
  readonly target?: Target;
  readonly note?: string;
}): BenchRow {
  const { figure, unit, samples, yardstick, target = null, note = "" } = row;
  const value = spreadOf(samples);
  const ratio =
    yardstick === undefined || yardstick.samples.length !== samples.length
      ? null
      : spreadOf(samples.map((sample, round) => sample / (yardstick.samples[round] ?? Number.NaN)));
  return {
    figure,
    unit,
    value,
    yardstick: yardstick === undefined ? null : { name: yardstick.name, value: spreadOf(yardstick.samples) },
    ratio,
    target,
    isMet: target === null ? null : isMet(target, value, ratio),
    note,
  };
}

function isMet(target: Target, value: Spread, ratio: Spread | null): boolean {
  const isLow = target.bound === "at_most";
  const judged =
    target.of === "ratio" ? ratio?.median : target.of === "median" ? value.median : isLow ? value.max : value.min;
  if (judged === undefined) throw new RangeError("a target for a ratio needs a yardstick in every round");
  return isLow ? judged <= target.value : judged >= target.value;
}
