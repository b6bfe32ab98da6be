import { type Spread, spreadOf } from "./statistics.ts";

/** Options of a scenario from the command line. */
export interface BenchOptions {
  /** Short runs, to check that a scenario works; the figures are not reliable. */
  readonly quick: boolean;
  /** Interleaved rounds of a comparison; null uses the scenario's default. */
  readonly rounds: number | null;
  /** Rows of the scenarios that fill a store; null uses the scenario's default. */
  readonly ticks: number | null;
  /** Duration of the soak; null uses the scenario's default. */
  readonly minutes: number | null;
  /** Prints a line of progress. Figures are returned, not printed. */
  readonly print: (line: string) => void;
}

/** One figure with its yardstick and target. */
export interface BenchRow {
  readonly figure: string;
  readonly unit: string;
  readonly value: Spread;
  /** The same work done by the bare tool, in rounds between ours; null if there is no such tool. */
  readonly yardstick: { readonly name: string; readonly value: Spread } | null;
  /** Our figure divided by the yardstick, round by round, so that disturbances of both cancel out. */
  readonly ratio: Spread | null;
  readonly target: Target | null;
  readonly isMet: boolean | null;
  readonly note: string;
}

/** The target of a figure. `ratio` applies to the median ratio, `worst` to the worst sample. */
export interface Target {
  readonly of: "median" | "worst" | "ratio";
  readonly bound: "at_least" | "at_most";
  readonly value: number;
}

export interface Scenario {
  readonly name: string;
  /** One or two lines for `--help`. */
  readonly describe: string;
  /** Throws if a guarantee does not hold (a lost row). A missed target is reported in its row instead. */
  run(options: BenchOptions): Promise<readonly BenchRow[]>;
}

/** The scenario cannot run here (no database server, no permission to mount). The message is printed; nothing fails. */
export class SkippedError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "SkippedError";
  }
}

/**
 * Makes a row from samples.
 *
 * @param row.samples            one per round
 * @param row.yardstick.samples  one per round; rounds are paired by position
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
