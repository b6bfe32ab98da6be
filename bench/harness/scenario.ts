import { type Spread, spreadOf } from "./statistics.ts";

/** Options of a scenario from the command line. */
export interface BenchOptions {
  /** Whether runs are short: they check that a scenario works, but their figures are not reliable. */
  readonly quick: boolean;
  /** Number of interleaved rounds of a comparison; null uses the scenario's default. */
  readonly rounds: number | null;
  /** Number of rows in the scenarios that fill a store; null uses the scenario's default. */
  readonly ticks: number | null;
  /** Duration of the scenarios `soak` and `small`; null uses the scenario's default. */
  readonly minutes: number | null;
  /** Prints a line of progress. */
  readonly print: (line: string) => void;
}

/** One measured figure with its baseline and target. */
export interface BenchRow {
  readonly figure: string;
  readonly unit: string;
  readonly value: Spread;
  /** The same work done without the service, in alternating rounds; null if there is no comparison. */
  readonly baseline: { readonly name: string; readonly value: Spread } | null;
  /** Our figure divided by the baseline, computed per round, because other load affects both figures of a round equally. */
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
  /**
   * A missed target does not throw; the row reports it.
   *
   * @throws GuaranteeError if a guarantee does not hold (a lost row)
   */
  run(options: BenchOptions): Promise<readonly BenchRow[]>;
}

/** Thrown if a scenario cannot run here (no database server, no permission to mount). The run then does not fail. */
export class SkippedError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "SkippedError";
  }
}

/** Thrown if a guarantee does not hold, in contrast to a measurement that failed. */
export class GuaranteeError extends Error {
  override name = "GuaranteeError";
}

/**
 * Computes a row from samples.
 *
 * @param row.samples            one per round
 * @param row.baseline.samples  one per round; rounds are paired by position
 */
export function createBenchRow(row: {
  readonly figure: string;
  readonly unit: string;
  readonly samples: readonly number[];
  readonly baseline?: { readonly name: string; readonly samples: readonly number[] };
  readonly target?: Target;
  readonly note?: string;
}): BenchRow {
  const { figure, unit, samples, baseline, target = null, note = "" } = row;
  const value = spreadOf(samples);
  const ratio =
    baseline === undefined || baseline.samples.length !== samples.length
      ? null
      : spreadOf(samples.map((sample, round) => sample / (baseline.samples[round] ?? Number.NaN)));
  return {
    figure,
    unit,
    value,
    baseline: baseline === undefined ? null : { name: baseline.name, value: spreadOf(baseline.samples) },
    ratio,
    target,
    isMet: target === null ? null : isMet(target, value, ratio),
    note,
  };
}

function isMet(target: Target, value: Spread, ratio: Spread | null): boolean {
  const isUpperBound = target.bound === "at_most";
  const measuredValue =
    target.of === "ratio"
      ? ratio?.median
      : target.of === "median"
        ? value.median
        : isUpperBound
          ? value.max
          : value.min;
  if (measuredValue === undefined) throw new RangeError("a target for a ratio needs a baseline in every round");
  return isUpperBound ? measuredValue <= target.value : measuredValue >= target.value;
}
