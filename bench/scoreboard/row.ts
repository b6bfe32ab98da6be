/** One row of the scoreboard: a guarantee or a figure with a target. */
export interface ScoreboardRow {
  /** `S1` to `S32`. */
  readonly id: string;
  readonly figure: string;
  readonly target: string;
  /** Each mutation switches one defence off. The row must fail with each of them. */
  readonly mutations: readonly Mutation[];
  /**
   * Measures the figure.
   *
   * @throws NotHereError if the machine lacks what the row needs
   * @throws Error if the measurement itself failed; the verdict is then ERROR, not FAIL
   */
  measure(options: RowOptions): Promise<Measurement>;
}

/** Replaces one text of a source file, which must contain it exactly once. */
export interface Mutation {
  /** The defence that the change switches off. */
  readonly defence: string;
  /** Path from the root of the repository. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface RowOptions {
  /** Whether the run is short: smaller numbers, the same checks. */
  readonly quick: boolean;
  /** Seed of random choices. */
  readonly seed: number;
  /** Prints a line of progress. */
  readonly print: (line: string) => void;
}

export interface Measurement {
  /** Whether the figure meets the target. NaN must not count as met. */
  readonly isMet: boolean;
  /** What was measured, with numbers and units. */
  readonly value: string;
}

/** Thrown if a row cannot run on this machine. */
export class NotHereError extends Error {
  override name = "NotHereError";
}
