import type { MarketStatus, VenueId } from "../../../domain/market.ts";
import type { DayTotals, Performance, Position, Side } from "../../../trading/index.ts";

/** shadow: the customer's paper trades. live: the trades that it has reported. */
export const PORTFOLIO_MODES = ["shadow", "live"] as const;
export type PortfolioMode = (typeof PORTFOLIO_MODES)[number];

/** Number of the newest reports of a customer that are read. */
export const REPORTS_MAX = 10_000;
export const PAPER_TRADES_MAX = 10_000;
export const POSITIONS_MAX = 500;
export const CLOSED_MAX = 100;
/** Maximum number of stored daily prices that are read for one portfolio. The store needs up to 50 µs for each. */
export const MARKET_DAYS_MAX = 5_000;

/** A purchase to be entered into the paper book. */
export interface PaperOrder {
  readonly venue: VenueId;
  readonly marketId: string;
  readonly side: Side;
  /** USD to spend, without the fee. The contracts are rounded down, so a trade can cost less. */
  readonly sizeUsd: number;
}

/** A purchase of the paper book. */
export interface PaperTrade extends PaperOrder {
  readonly tradeId: string;
  readonly title: string;
  readonly contracts: number;
  /** Average price of the side, without the fee. */
  readonly price: number;
  readonly feeUsd: number;
  /** Unix milliseconds. */
  readonly enteredAt: number;
}

export interface OpenPosition extends Position {
  /** Null if the market is neither on the board nor stored. */
  readonly title: string | null;
  /** Current price; null if unknown. */
  readonly yesPrice: number | null;
  /** Status of the market; null if it is not on the board. */
  readonly status: MarketStatus | null;
}

/** A lot whose last contract was closed or settled. */
export interface ClosedLot {
  readonly venue: VenueId;
  readonly marketId: string;
  readonly title: string | null;
  readonly side: Side;
  readonly contracts: number;
  /** Without the fee. */
  readonly entryPrice: number;
  /** USD with the fee. */
  readonly costUsd: number;
  readonly pnlUsd: number;
  /** How its last contract ended: closed by a trade of the other side, or settled. */
  readonly result: "closed" | "settled";
  /** Unix milliseconds. */
  readonly openedAt: number;
  readonly closedAt: number;
}

/** The profit of a customer's own trades. */
export interface OwnPerformance {
  readonly performance: Performance;
  /** From the day of the first trade to the current one, oldest first. */
  readonly days: readonly DayTotals[];
  /** Unix milliseconds; null without trades. */
  readonly firstTradeAt: number | null;
  /** Whether older trades exist that were not read. */
  readonly isTruncated: boolean;
}

export interface Portfolio extends Omit<OwnPerformance, "days" | "firstTradeAt"> {
  readonly mode: PortfolioMode;
  /** Newest first, at most `POSITIONS_MAX`. */
  readonly positions: readonly OpenPosition[];
  /** Number of all positions, including those that are not listed. */
  readonly positionCount: number;
  /** Newest first, at most `CLOSED_MAX`. */
  readonly closed: readonly ClosedLot[];
  /** Unix milliseconds. */
  readonly generatedAt: number;
}
