import { GuaranteeError, SkippedError } from "../harness/scenario.ts";
import { NotHereError, type RowOptions, type ScoreboardRow } from "./row.ts";

/** `NOT HERE`: the machine lacks what the row needs. `ERROR`: the measurement failed, so the figure is unknown. */
export type Verdict = "PASS" | "FAIL" | "ERROR" | "NOT HERE";

/** Result of one row. */
export interface RowResult {
  readonly id: string;
  readonly figure: string;
  readonly target: string;
  readonly verdict: Verdict;
  /** The figures, or the reason why there are none. */
  readonly value: string;
  readonly seed: number;
  readonly isQuick: boolean;
  readonly durationMs: number;
}

/** Measures a row. Does not throw; an error determines the verdict. */
export async function runRow(row: ScoreboardRow, options: RowOptions): Promise<RowResult> {
  const startedAt = performance.now();
  const { verdict, value } = await judge(row, options);
  return {
    id: row.id,
    figure: row.figure,
    target: row.target,
    verdict,
    value,
    seed: options.seed,
    isQuick: options.quick,
    durationMs: Math.round(performance.now() - startedAt),
  };
}

async function judge(row: ScoreboardRow, options: RowOptions): Promise<{ verdict: Verdict; value: string }> {
  try {
    const { isMet, value } = await row.measure(options);
    // NaN means that a figure could not be computed.
    if (/\bNaN\b/.test(value)) return { verdict: "ERROR", value };
    return { verdict: isMet ? "PASS" : "FAIL", value };
  } catch (error) {
    const value = error instanceof Error ? error.message : String(error);
    if (error instanceof NotHereError || error instanceof SkippedError) return { verdict: "NOT HERE", value };
    if (error instanceof GuaranteeError) return { verdict: "FAIL", value };
    options.print(error instanceof Error ? (error.stack ?? value) : value);
    return { verdict: "ERROR", value };
  }
}

/** Formats a result as one line. A passed short run is `PASS (quick)`, because its figure is not reliable. */
export function formatResult({ id, figure, target, verdict, value, seed, isQuick, durationMs }: RowResult): string {
  const word = verdict === "PASS" && isQuick ? "PASS (quick)" : verdict;
  const text = value.replace(/\s+/g, " ");
  const seconds = (durationMs / 1_000).toFixed(1);
  return `${id.padEnd(3)}  ${word.padEnd(12)}  ${figure}: ${text}; target ${target}; seed ${seed}; ${seconds} s`;
}

/** Returns whether no row failed. `NOT HERE` is no failure. */
export function isSuccess(results: readonly Pick<RowResult, "verdict">[]): boolean {
  return results.every(({ verdict }) => verdict === "PASS" || verdict === "NOT HERE");
}
