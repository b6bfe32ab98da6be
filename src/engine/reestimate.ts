import { type Analysis, describeAnalysis } from "./analysis.ts";
import {
  confidenceOf,
  type Estimate,
  estimateFromChanges,
  estimateUncertainty,
  type LogOddsChange,
} from "./estimate.ts";
import { toLogOdds, toProbability } from "./log-odds.ts";
import type { EngineCoefficients, MarketView, PriceGaps } from "./model.ts";
import { computePrior, currentPrice, type PriceView, priorFigures } from "./reference-price.ts";

/** The total change that an analysis adds to the prior, and its uncertainty, in log-odds. */
export interface EstimateChanges {
  /** Sum of the changes of the factors. */
  readonly change: number;
  /** Standard error of the sum. */
  readonly changeError: number;
  /** Root mean square of the price's move in a day. */
  readonly dailyMove: number;
}

export type PricedEstimate = Pick<
  Estimate,
  "probability" | "logOdds" | "standardError" | "marketPrice" | "interval" | "confidence"
>;

/**
 * Applies the changes of an earlier analysis to the current prior. Returns the same figures as `reestimate`, without
 * sentences.
 *
 * @returns  null if the market has no price
 */
export function priceEstimate(
  view: PriceView & Pick<MarketView, "prices">,
  changes: EstimateChanges,
  coefficients: Pick<EngineCoefficients, "micropriceShare">,
): PricedEstimate | null {
  const marketPrice = currentPrice(view);
  if (marketPrice === null) return null;
  const prior = priorFigures(view, marketPrice, coefficients);
  const total = prior.logOdds + changes.change;
  const probability = toProbability(total);
  const { standardError, interval } = estimateUncertainty(total, prior, changes);
  const confidence = confidenceOf(interval, prior);
  return { probability, logOdds: toLogOdds(probability), standardError, marketPrice, interval, confidence };
}

/**
 * Updates an earlier analysis to the current price: adds the same changes of the log-odds to the current prior, and
 * computes all figures and sentences again.
 *
 * @param view  the current view. Its prices, trades, consensus and research are not used
 * @param eventLogic  change that makes the estimate consistent with the estimates of the event's other markets; null if
 *   it is consistent already
 * @returns  null if the market has no price
 */
export function reestimate(
  earlier: Analysis,
  view: MarketView,
  eventLogic: LogOddsChange | null,
  coefficients: Pick<EngineCoefficients, "micropriceShare">,
): Analysis | null {
  const marketPrice = currentPrice(view);
  if (marketPrice === null) return null;
  const changes = [...earlier.changes, ...(eventLogic === null ? [] : [eventLogic])];
  const { changeError, dailyMove } = earlier;
  const prior = computePrior(view, marketPrice, coefficients);
  const estimate = estimateFromChanges(prior, marketPrice, changes, { changeError, dailyMove });
  return describeAnalysis(view, estimate, { isFull: earlier.isFull, gaps: earlier.gaps });
}

/**
 * Whether the other prices that an analysis used have moved, relative to the market's price, by more than half the
 * width of the analysis's interval, in log-odds.
 *
 * @param interval  of the analysis
 */
export function haveInputsMoved(
  { gaps, interval }: { readonly gaps: PriceGaps; readonly interval: Estimate["interval"] },
  now: PriceGaps,
): boolean {
  const reach = (toLogOdds(interval.high) - toLogOdds(interval.low)) / 2;
  return Math.abs(now.peers - gaps.peers) > reach || Math.abs(now.siblings - gaps.siblings) > reach;
}
