import type { MarketRef } from "../../../domain/market-name.ts";
import type { Side } from "../../../domain/price.ts";

/** shadow: the customer's paper trades. live: the customer's reported trades. */
export const PORTFOLIO_MODES = ["shadow", "live"] as const;
export type PortfolioMode = (typeof PORTFOLIO_MODES)[number];

/** Maximum number of a customer's reports that are read, newest first. */
export const REPORTS_READ_MAX = 10_000;
export const PAPER_TRADES_MAX = 10_000;
export const POSITIONS_MAX = 500;
export const CLOSED_TRADES_MAX = 100;
/** Maximum number of stored daily prices that are read for one portfolio. Reading one takes up to 50 µs. */
export const MARKET_DAYS_MAX = 5_000;

export interface PaperOrder extends MarketRef {
  readonly side: Side;
  /** USD to spend, without the fee. The contracts are rounded down, so a trade can cost less. */
  readonly sizeUsd: number;
}

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
