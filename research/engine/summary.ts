/** Summarises scores as one JSON object, which the commands print on their last line. */

import type { ConfidenceInterval } from "../../src/quant/clustered-ratio.ts";
import type { Evaluation } from "./evaluation.ts";
import type { ScoreComparison } from "./scores.ts";

const DECIMALS = 6;
const round = (value: number | null | undefined): number | null =>
  value === null || value === undefined ? null : Number(value.toFixed(DECIMALS));
const bounds = (interval: ConfidenceInterval | null): readonly [number | null, number | null] | null =>
  interval === null ? null : [round(interval.low), round(interval.high)];

const scores = ({ n, brier, marketBrier, diff }: ScoreComparison) => ({
  n,
  brier: round(brier),
  market_brier: round(marketBrier),
  diff: round(diff?.value),
  diff_ci: bounds(diff),
});

/** `diff` is the Brier score of the model minus that of the price; below 0 is better. Missing values are null. */
export function summariseEvaluation({ all, horizons, later }: Evaluation) {
  const { n, ...others } = scores(all);
  return {
    n,
    groups: all.groups,
    ...others,
    horizons: horizons.map(({ days, comparison }) => ({ days, ...scores(comparison) })),
    later_price: later.model.map(({ hours, n: count, ratio }) => ({
      hours,
      n: count,
      mse_ratio: round(ratio?.value),
      ci: bounds(ratio),
    })),
  };
}
