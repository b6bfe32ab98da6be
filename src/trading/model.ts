import type { TakerFee } from "../domain/market.ts";
import type { MarketRef } from "../domain/market-name.ts";
import type { BookLevel } from "../domain/order-book.ts";
import type { Side } from "../domain/price.ts";

export interface Trade extends MarketRef {
  readonly tradeId: string;
  readonly side: Side;
  /** Number of contracts, above 0. Each pays 1 USD if its side wins. */
  readonly contracts: number;
  /** Average price of the side in USD per contract, in (0, 1), without the fee. */
  readonly price: number;
  /** Fee of the whole order in USD, at least 0. */
  readonly feeUsd: number;
  /** Probability of the side minus cost per contract, fee included; null if there was no estimate. */
  readonly edge: number | null;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Price at which the open trades of a market are valued at the end of a UTC day. */
export interface DailyMark extends MarketRef {
  /** End of the day, Unix milliseconds: midnight UTC. */
  readonly at: number;
  /** In [0, 1]. */
  readonly yesPrice: number;
}

/** How a market was settled. A later settlement of the same market corrects an earlier one. */
export interface Settlement extends MarketRef {
  /** When it was recorded, Unix milliseconds. Profit and loss is booked on the UTC day of this time. */
  readonly at: number;
  /** Payout of one YES contract, in [0, 1]; null if the venue refunds what was paid, fees included. */
  readonly value: number | null;
}

export interface DayTotals {
  /** YYYY-MM-DD. */
  readonly date: string;
  /** Profit or loss of the day in USD, from mark changes of open trades, settlements, and fees of new trades. */
  readonly pnlUsd: number;
  readonly enteredTrades: number;
  /** Trades whose result became known on the day. */
  readonly resolvedTrades: number;
  /** Trades that were resolved on the day with a profit. */
  readonly wonTrades: number;
}

export interface TradeTotals {
  readonly totalTrades: number;
  readonly resolvedTrades: number;
  /** Resolved trades with a profit. */
  readonly wonTrades: number;
  /** Cost of the resolved trades in USD, fees included. */
  readonly resolvedCostUsd: number;
  /** Profit or loss of the resolved trades in USD. */
  readonly resolvedPnlUsd: number;
  /** Mean edge at entry of the resolved trades whose edge is known; null if there are none. */
  readonly averageEdge: number | null;
}

export interface Performance {
  readonly totalTrades: number;
  readonly resolvedTrades: number;
  /** Share of the resolved trades with a profit; null without resolved trades. */
  readonly winRate: number | null;
  /**
   * Sum of the daily profits in USD. Open trades are valued at the last mark; on the current day, at the last price.
   */
  readonly totalPnlUsd: number;
  /** Profit of the resolved trades in percent of their cost; null without resolved trades. */
  readonly roiPct: number | null;
  readonly averageEdge: number | null;
  /** Largest decline of the cumulative profit from an earlier maximum (at least 0), in USD; 0 or negative. */
  readonly maxDrawdownUsd: number;
  /**
   * Mean daily profit divided by its standard deviation, times the square root of 365. Only completed days count. Null
   * with fewer than 30 such days, or if all profits are equal. Dollar profits are used instead of returns: a constant
   * capital cancels out.
   */
  readonly sharpeRatio: number | null;
}

/** Execution of an order that buys the best offers first. */
export interface Fill {
  /** Number of contracts, above 0. */
  readonly contracts: number;
  /** Average price without the fee, in (0, 1). */
  readonly averagePrice: number;
  /** Taker fee of the whole order in USD. */
  readonly feeUsd: number;
  /** Contracts times average price, plus the fee, in USD. */
  readonly costUsd: number;
}

/** Bankroll in USD of the shadow book, and the default bankroll of signals. */
export const REFERENCE_BANKROLL_USD = 1_000;

export interface SizingOptions {
  readonly bankrollUsd: number;
  /** Applied share of the Kelly fraction, in [0, 1]. */
  readonly kellyShare: number;
  /** Largest share of the bankroll in one position, in (0, 1]. */
  readonly positionMax: number;
}

/** A side with an edge, and all inputs of its position size. */
export interface TradeCandidate {
  readonly side: Side;
  /** Probability that the side wins, in (0, 1). */
  readonly probability: number;
  /** Variance of the estimated probability. */
  readonly variance: number;
  /** Highest price with the required edge, on the price grid of the market. */
  readonly targetPrice: number;
  /** Offers at the target price or below, best first; at least one. */
  readonly offers: readonly BookLevel[];
  readonly takerFee: TakerFee;
  /** An order is a multiple of this number of contracts, above 0. */
  readonly contractStep: number;
  /** Smallest order in contracts, above 0. */
  readonly minOrderContracts: number;
}

/** Limits of a size: the contracts offered up to the target price, or the maximum share of the bankroll. */
export const SIZE_CAPS = ["depth", "max_position"] as const;
export type SizeCap = (typeof SIZE_CAPS)[number];

/** A recommendation at one time: what to buy, up to which price, how much, and until when. */
export interface Signal {
  readonly recommendation: "BUY_YES" | "BUY_NO" | "NO_TRADE";
  /** One sentence: why this trade, or why none. */
  readonly reason: string;
  /** Estimated probability of YES, in (0, 1). */
  readonly probability: number;
  /** Current YES price, in [0, 1]. */
  readonly yesPrice: number;
  /** `probability` minus `yesPrice`. */
  readonly edge: number;
  /** Probability of the side minus cost per contract at the signal's size, fee included; null without a trade. */
  readonly executableEdge: number | null;
  /**
   * Highest price of the side, a multiple of the tick, that leaves the required edge after the fee. Without a trade:
   * the highest such price of YES. Null if no price leaves the required edge.
   */
  readonly targetPrice: number | null;
  /** Share of the bankroll, in [0, 1]; 0 without a trade. */
  readonly sizePct: number;
  /** Reason why the share is below the applied Kelly fraction; null if it is not, or without a trade. */
  readonly cappedBy: SizeCap | null;
  /** The order for the share, rounded down to the contract step; null without a trade. */
  readonly fill: Fill | null;
  readonly confidence: number;
  readonly riskRating: "low" | "medium" | "high";
  /** Time until the expected resolution; null if it is unknown. */
  readonly timeHorizon: "hours" | "days" | "weeks" | null;
  /** Unix milliseconds. */
  readonly generatedAt: number;
  /** Unix milliseconds; not after the market's closing time. */
  readonly expiresAt: number;
}

/** A trade that a signal adds to the shadow book. */
export interface ShadowEntry extends Omit<Trade, "tradeId" | "edge"> {
  readonly analysisId: string;
  readonly title: string;
  /** Normalised category of the market; null if unknown. */
  readonly category: string | null;
  /** Estimated probability of YES. */
  readonly probability: number;
  /** YES price at the time of the signal. */
  readonly marketPrice: number;
  readonly edge: number;
  /** Share of the reference bankroll. */
  readonly sizePct: number;
  /** Whether a caller requested the signal. If false, the service computed it after completing an analysis. */
  readonly isRequested: boolean;
}
