import { type Spread, spreadOf } from "./statistics.ts";

/** Options of a scenario from the command line. */
export interface BenchOptions {
  /** Short runs that check that a scenario works. The figures are not reliable. */
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

/** One measured figure with its yardstick and target. */
export interface BenchRow {
  readonly figure: string;
  readonly unit: string;
  readonly value: Spread;
  /** The same work done by the bare tool in alternating rounds; null if no such tool exists. */
  readonly yardstick: { readonly name: string; readonly value: Spread } | null;
  /** Our figure divided by the yardstick, computed per round: load that affects both cancels out. */
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

/** The scenario cannot run here (no database server, no permission to mount). Its message is printed; the run does not fail. */
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
  const isUpperBound = target.bound === "at_most";
  const measured =
    target.of === "ratio"
      ? ratio?.median
      : target.of === "median"
        ? value.median
        : isUpperBound
          ? value.max
          : value.min;
  if (measured === undefined) throw new RangeError("a target for a ratio needs a yardstick in every round");
  return isUpperBound ? measured <= target.value : measured >= target.value;
}
