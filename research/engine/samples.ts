/** Resolved questions at fixed times before their resolution, with the engine's estimates. */
import {
  type EngineCoefficients,
  type Estimate,
  estimate,
  type MarketView,
  type PriceKind,
} from "../../src/engine/index.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import { type History, viewOf } from "./views.ts";

export const HORIZONS_DAYS = [0.25, 1, 7, 30, 90] as const;
/** The newest price is not used if it is older than the larger of this and half of the horizon. */
const STALE_DAYS = 3;

export interface Sample {
  readonly history: History;
  readonly days: number;
  readonly view: MarketView;
  readonly group: string;
  readonly venue: string;
  readonly kind: PriceKind;
  readonly outcome: number;
  /** The market's price. */
  readonly market: number;
}

export interface ScoredSample extends Sample {
  readonly probability: number;
  readonly estimate: Estimate;
}

/**
 * One sample per question and horizon that has a price: the newest price at least h days before the resolution, not
 * older than max(3 days, h / 2). The choice of the time depends on the resolution; the view does not.
 */
export function createSamples(histories: readonly History[]): Sample[] {
  return HORIZONS_DAYS.flatMap((days) =>
    histories.flatMap((history) => {
      const asOf = history.resolvedAt - days * DAY_MS;
      const price = history.prices.findLast(({ at }) => at <= asOf);
      if (price === undefined || asOf - price.at > Math.max(STALE_DAYS, days / 2) * DAY_MS) return [];
      const { row, group } = history;
      const view = viewOf(history, asOf);
      return [
        { history, days, view, group, venue: row.venue, kind: view.kind, outcome: row.outcome, market: price.yesPrice },
      ];
    }),
  );
}

/** Scores samples with the engine that the service runs. */
export function scoreSamples(samples: readonly Sample[], coefficients: EngineCoefficients): ScoredSample[] {
  return samples.flatMap((sample) => {
    const result = estimate(sample.view, coefficients);
    return result === null ? [] : [{ ...sample, probability: result.probability, estimate: result }];
  });
}
