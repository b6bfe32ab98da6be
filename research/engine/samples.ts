/** Samples resolved questions at fixed times before their resolution, and computes the engine's estimates. */
import {
  type EngineCoefficients,
  type Estimate,
  estimate,
  type MarketView,
  type PriceKind,
} from "../../src/engine/index.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import { type QuestionHistory, viewQuestion } from "./views.ts";

export const HORIZONS_DAYS = [0.25, 1, 7, 30, 90] as const;
/** The maximum age of a sample's price is the larger of this and half of the horizon. */
const STALE_DAYS = 3;

export interface Sample {
  readonly history: QuestionHistory;
  /** Horizon: days before the resolution. */
  readonly days: number;
  readonly view: MarketView;
  readonly group: string;
  readonly venue: string;
  readonly kind: PriceKind;
  readonly outcome: number;
  /** Market price, in [0, 1]. */
  readonly market: number;
}

export interface EstimatedSample extends Sample {
  readonly probability: number;
  readonly estimate: Estimate;
}

/**
 * Creates one sample per question and horizon. The sample's time is `days` before the resolution. Its price is the
 * newest price at that time, which may be at most max(3, days / 2) days old. Without such a price there is no sample.
 * The sample's time depends on the resolution time, but its view contains no later information.
 */
export function createSamples(histories: readonly QuestionHistory[]): Sample[] {
  return HORIZONS_DAYS.flatMap((days) =>
    histories.flatMap((history) => {
      const asOf = history.resolvedAt - days * DAY_MS;
      const price = history.prices.findLast(({ at }) => at <= asOf);
      if (price === undefined || asOf - price.at > Math.max(STALE_DAYS, days / 2) * DAY_MS) return [];
      const { row, group } = history;
      const view = viewQuestion(history, asOf);
      return [
        { history, days, view, group, venue: row.venue, kind: view.kind, outcome: row.outcome, market: price.yesPrice },
      ];
    }),
  );
}

/** Estimates the probabilities of samples with the service's engine. Samples without an estimate are left out. */
export function estimateSamples(samples: readonly Sample[], coefficients: EngineCoefficients): EstimatedSample[] {
  return samples.flatMap((sample) => {
    const result = estimate(sample.view, coefficients);
    return result === null ? [] : [{ ...sample, probability: result.probability, estimate: result }];
  });
}
