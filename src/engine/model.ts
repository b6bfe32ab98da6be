import type { Category } from "../domain/category.ts";
import type { Activity, Quote, TakerFee, VenueId } from "../domain/market.ts";
import type { OrderBook } from "../domain/order-book.ts";
import type { PricePoint, Trade } from "../domain/trade.ts";

/** A trade, expressed for the YES contract. */
export type TradePoint = PricePoint & Pick<Trade, "size" | "takerSide">;

/** A quote, and when it was last confirmed, in Unix milliseconds. */
export type QuotePoint = Omit<Quote, "eventAt" | "receivedAt"> & { readonly at: number };

/** money: a real-money market. play_money: a play-money market. forecast: a crowd forecast without trading. */
export type PriceKind = "money" | "play_money" | "forecast";

/** A market at another venue with the same or the opposite question. */
export interface PeerView {
  readonly venue: VenueId;
  /** Name of the venue's adapter, which is the key of its fitted coefficients; null if unknown. */
  readonly adapter: string | null;
  readonly marketId: string;
  /** True if YES of the peer is NO of this market. */
  readonly isInverse: boolean;
  /** Calibrated probability that the match is right, in [0, 1]. */
  readonly matchConfidence: number;
  readonly kind: PriceKind;
  /** When the price was last confirmed, Unix milliseconds. */
  readonly at: number;
  /** YES price of the peer, in [0, 1]; not inverted. */
  readonly yesPrice: number;
  /** Ask minus bid; null without a two-sided book. */
  readonly spread: number | null;
  readonly liquidityUsd: number | null;
  readonly volume24hUsd: number | null;
}

/** A market of the event, including the analysed market. */
export interface LegView {
  readonly marketId: string;
  /** Name of the outcome within the event. */
  readonly label: string;
  /** When the price was last confirmed, Unix milliseconds. */
  readonly at: number;
  /** In [0, 1]. */
  readonly yesPrice: number;
  /** Ask minus bid; null without a two-sided book. */
  readonly spread: number | null;
}

/** The event of the market: prices and logical relation of its markets. */
export interface EventView {
  /** True if at most one market of the event resolves YES. */
  readonly isExclusive: boolean;
  /** True if at least one market of the event resolves YES. */
  readonly isExhaustive: boolean;
  readonly legs: readonly LegView[];
  /**
   * Ids of the markets of a ladder, in which YES of a market implies YES of the previous one ("by March", then "by
   * February"). Null if the event is not a ladder or the market is not on it.
   */
  readonly ladder: readonly string[] | null;
}

/** Consensus of the trades reported by agents. */
export interface ConsensusView {
  /** When the reports were read, Unix milliseconds. No report is later. */
  readonly at: number;
  /** In [0, 1]. */
  readonly probability: number;
  readonly agents: number;
  readonly trades: number;
}

/** The pooled result of a research run. */
export interface ResearchView {
  /** When the research ended, Unix milliseconds. */
  readonly at: number;
  /** Pooled estimate of independent trials, in (0, 1). The trials do not get the price. */
  readonly probability: number;
  /** Standard error of the estimate's log-odds, from the disagreement between the trials. */
  readonly standardError: number;
  readonly trials: number;
  /** Sentences about the evidence, each with its source. */
  readonly evidence: readonly string[];
}

/** All levels of an order book, and when they were last confirmed, in Unix milliseconds. */
export type BookView = Pick<OrderBook, "bids" | "asks"> & { readonly at: number };

/** Activity of a market, and when it was last confirmed, in Unix milliseconds. */
export type ActivityView = Pick<Activity, "volume24hUsd" | "liquidityUsd"> & { readonly at: number };

/**
 * The known data of a market at one time. Plain data, so that it can be sent to a worker thread and stored. Data that
 * changes has a time, and `viewAt` removes data newer than `asOf`.
 */
export interface MarketView {
  /** Unix milliseconds. */
  readonly asOf: number;
  readonly venue: VenueId;
  /** Name of the venue's adapter, which is the key of its fitted coefficients; null if unknown. */
  readonly adapter: string | null;
  readonly marketId: string;
  readonly title: string;
  readonly category: Category | null;
  readonly kind: PriceKind;
  /** When the market was listed; null if unknown. */
  readonly openAt: number | null;
  /** Scheduled closing time; null if unknown. */
  readonly closeAt: number | null;
  /**
   * Deadline by which an event must happen for YES ("by 31 March"), if the event can happen at any time. Null for
   * matches, data releases and questions without a deadline.
   */
  readonly deadlineAt: number | null;
  /** Null if unknown. */
  readonly takerFee: TakerFee | null;
  /** Null if unknown; the current price is then the last of `prices`. */
  readonly quote: QuotePoint | null;
  /** Displayed prices (`yesPrice`), oldest first. */
  readonly prices: readonly PricePoint[];
  /** Null if unknown. */
  readonly book: BookView | null;
  /** Trades, oldest first. */
  readonly trades: readonly TradePoint[];
  /** Null if unknown. */
  readonly activity: ActivityView | null;
  readonly peers: readonly PeerView[];
  readonly event: EventView | null;
  readonly consensus: ConsensusView | null;
  readonly research: ResearchView | null;
}

/** Names of the factors, in the order in which their changes are added. */
export const FACTOR_NAMES = [
  "calibration",
  "cross_venue",
  "event_coherence",
  "momentum",
  "order_flow",
  "time_decay",
  "reported_consensus",
  "research",
] as const;
export type FactorName = (typeof FACTOR_NAMES)[number];

/** The probability before any factor is added: the market's own price. */
export interface Prior {
  /** In (0, 1). */
  readonly probability: number;
  readonly logOdds: number;
  /** Standard error of the log-odds, from half of the spread (`logOddsError`). */
  readonly standardError: number;
  /** Lower for a wide, one-sided or old order book; in [0, 1]. */
  readonly confidence: number;
  readonly claim: string;
  readonly evidence: readonly string[];
}

/** Differences between other prices and the price of a market, in log-odds; 0 without other prices. */
export interface PriceGaps {
  /** The same question at other venues (`peerGapOf`). */
  readonly peers: number;
  /** The other markets of the event (`siblingGaps`). */
  readonly siblings: number;
}

export interface FactorReading {
  /** A sentence that contains the figures. */
  readonly claim: string;
  /** One line each, with source and figure. */
  readonly evidence: readonly string[];
  /** Log likelihood ratio in favour of YES, in [-3, 3]. */
  readonly lambda: number;
  /** Standard error of `lambda`, at least 0. */
  readonly standardError: number;
  /** Confidence that the factor applies to this market, in [0, 1]. It multiplies the fitted weight. */
  readonly confidence: number;
}

/** Parameters of the engine, from `coefficients.json`. `npm run fit` changes those for which it has data. */
export interface EngineCoefficients {
  readonly version: number;
  /** Share of the way from the mid to the microprice, in [0, 1]. */
  readonly micropriceShare: number;
  /** The calibration factor moves log-odds beyond `from` further from 0, for prices of these kinds. */
  readonly tail: { readonly from: number; readonly kinds: readonly PriceKind[] };
  /**
   * Share of the price difference to a peer that the market closes within a day, by the adapters of the market and of
   * the peer. For other pairs: `default`, by the kind of the peer's price.
   */
  readonly leadership: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Weights of the three order imbalances. 0 for an imbalance without data in the fit. */
  readonly orderFlow: { readonly trades: number; readonly largeTrades: number; readonly book: number };
  /**
   * Weight of each factor before its confidence. 0 if the factor did not help out of sample. The weights of
   * `reported_consensus` and `research` are set by hand, because no data with known outcomes contains either.
   */
  readonly weights: Readonly<Record<FactorName, number>>;
  /** Covariance of the weights, by factor; factors without an entry have none. */
  readonly covariance: Readonly<Partial<Record<FactorName, Readonly<Partial<Record<FactorName, number>>>>>>;
}

/** A factor: a pure function of a view, which returns null if the factor does not apply. */
export interface Factor {
  readonly name: FactorName;
  evaluate(view: MarketView, prior: Prior, coefficients: EngineCoefficients): FactorReading | null;
}
