import type { BoardMarket } from "../../../board/index.ts";
import type { SpreadTrend } from "../../../quant/spread-history.ts";

export const SPREAD_TRENDS = ["tightening", "widening", "stable"] as const satisfies readonly SpreadTrend[];
export const RECOMMENDATIONS = ["LIMIT_ORDER", "MARKET_ORDER", "WAIT"] as const;
export type Recommendation = (typeof RECOMMENDATIONS)[number];

/** A date that may affect a market's spread. */
export interface KeyDate {
  /** For example "Trading closes". */
  readonly label: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** What a market's order book and its recent quotes say; null if unknown. Prices are those of YES contracts. */
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
  /** Size of the order that `slippagePercent` is for. */
  readonly sizeUsd: number;
  /** Smallest price step; null if the venue does not publish it. */
  readonly tick: number | null;
  readonly nextEvent: { readonly label: string; readonly hours: number } | null;
}

/** A limit order and a market order for one side. Prices are those of the side; null if unknown. */
export interface SideGuidance {
  /** Price of a limit order that does not take, on the venue's grid. */
  readonly limitPrice: number | null;
  /** Contracts of the market order, on the venue's step; null if the book cannot fill it or it is below the smallest order. */
  readonly contracts: number | null;
  readonly averagePrice: number | null;
  /** Price of the last level used. */
  readonly worstPrice: number | null;
  /** How much worse than the best price the average is, in percent. */
  readonly slippagePercent: number | null;
  /** Taker fee of the market order. */
  readonly feeUsd: number | null;
}

export interface SidesGuidance {
  readonly buyYes: SideGuidance;
  readonly buyNo: SideGuidance;
  readonly sellYes: SideGuidance;
  readonly sellNo: SideGuidance;
}

/** Why no order should be sent now, whatever the prices are; null if orders are possible. */
export type Obstacle = "not_open" | "paused" | "no_book" | "no_bids" | "no_asks" | "empty_book" | "crossed_book";

export interface ExecutionGuidance extends ExecutionFigures {
  readonly market: BoardMarket;
  /** Null if the market accepts no orders or its book lacks a side. */
  readonly sides: SidesGuidance | null;
  readonly recommendation: Recommendation;
  readonly rationale: string;
  /** Stored quotes of the last 48 hours. */
  readonly tickCount: number;
  /** Unix milliseconds. */
  readonly generatedAt: number;
}
