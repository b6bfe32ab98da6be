import type { SpreadTrend } from "../../../quant/spread-history.ts";

export const SPREAD_TRENDS = ["tightening", "widening", "stable"] as const satisfies readonly SpreadTrend[];
export const RECOMMENDATIONS = ["LIMIT_ORDER", "MARKET_ORDER", "WAIT"] as const;
export type Recommendation = (typeof RECOMMENDATIONS)[number];

/** Figures from a market's order book and its recent quotes; null if unknown. Prices are YES prices. */
export interface ExecutionFigures {
  readonly bid: number | null;
  readonly ask: number | null;
  readonly spread: number | null;
  /** Time-weighted mean of the last 48 hours. */
  readonly averageSpread: number | null;
  /** In [0, 100]: share of the last 48 hours with a smaller spread, plus half of the time with an equal one. */
  readonly spreadPercentile: number | null;
  readonly spreadTrend: SpreadTrend | null;
  /** In [0, 100]. */
  readonly liquidityScore: number | null;
  /** Percent of the price; null if the book cannot fill the reference size on both sides. */
  readonly slippagePercent: number | null;
  readonly limitPrice: number | null;
  /** Size of the order for which `slippagePercent` is estimated, in USD. */
  readonly sizeUsd: number;
  /** Smallest price step; null if the venue does not publish it. */
  readonly tick: number | null;
  readonly nextEvent: { readonly label: string; readonly hours: number } | null;
}

/** Why no order should be sent now, whatever the prices are. */
export type ExecutionObstacle =
  | "not_open"
  | "paused"
  | "no_book"
  | "no_bids"
  | "no_asks"
  | "empty_book"
  | "crossed_book";
