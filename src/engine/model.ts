import type { Category } from "../domain/category.ts";
import type { TakerFee, VenueId } from "../domain/market.ts";
import type { OrderBook } from "../domain/order-book.ts";
import type { Side } from "../domain/price.ts";

export interface PricePoint {
  /** Unix milliseconds. */
  readonly at: number;
  /** Price of YES, in [0, 1]. */
  readonly yesPrice: number;
}

/** A trade, expressed for the YES contract. */
export interface TradePoint {
  /** Unix milliseconds. */
  readonly at: number;
  /** In (0, 1). */
  readonly yesPrice: number;
  /** Number of contracts, above 0. */
  readonly size: number;
  /** The side that the taker bought; null if unknown. */
  readonly takerSide: Side | null;
}

/** Best prices of a market at a time. Prices in (0, 1), sizes in contracts; null if unknown or absent. */
export interface QuotePoint {
  /** Unix milliseconds: when the quote was last confirmed. */
  readonly at: number;
  readonly bid: number | null;
  readonly ask: number | null;
  readonly bidSize: number | null;
  readonly askSize: number | null;
  readonly lastPrice: number | null;
  /** The venue's indicative price if it has no order book. */
  readonly indicativePrice: number | null;
}

/** money: prices in real money. play_money: a market of play money. forecast: a forecast of a crowd without trading. */
export type PriceKind = "money" | "play_money" | "forecast";

/** The same question at another venue. */
export interface PeerView {
  readonly venue: VenueId;
  /** Name of the venue's adapter, by which fitted coefficients are stored; null if unknown. */
  readonly adapter: string | null;
  readonly marketId: string;
  /** True if YES of the peer is NO of this market. */
  readonly isInverse: boolean;
  /** Calibrated probability that both ask the same question, in [0, 1]. */
  readonly matchConfidence: number;
  readonly kind: PriceKind;
  /** When the price was last confirmed, Unix milliseconds. */
  readonly at: number;
  /** Price of the peer's own YES, in [0, 1]. */
  readonly yesPrice: number;
  /** Ask minus bid; null without a two-sided book. */
  readonly spread: number | null;
  readonly liquidityUsd: number | null;
  readonly volume24hUsd: number | null;
}

/** A market of the event. The analysed market is one of them. */
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

/** The event of the market: the prices of its markets, and how their answers depend on each other. */
export interface EventView {
  /** True if at most one market of the event resolves YES. */
  readonly isExclusive: boolean;
  /** True if at least one market of the event resolves YES. */
  readonly isExhaustive: boolean;
  readonly legs: readonly LegView[];
  /**
   * Ids of markets whose probability cannot increase from one to the next: each implies the one before ("by March",
   * then "by February"). Null if the event is not a ladder or the market is not on it.
   */
  readonly ladder: readonly string[] | null;
}

/** Consensus of the trades that agents reported. */
export interface ConsensusView {
  /** When the reports were read, Unix milliseconds. None of them is later. */
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
  /** Estimate of the pool of independent trials, in (0, 1). The trials never see the price. */
  readonly probability: number;
  /** Standard error of its log-odds, from the disagreement of the trials. */
  readonly standardError: number;
  readonly trials: number;
  /** Sentences about the evidence, each with its source. */
  readonly evidence: readonly string[];
}

/** All levels of an order book, and when they were last confirmed, in Unix milliseconds. */
export type BookView = Pick<OrderBook, "bids" | "asks"> & { readonly at: number };

/** Amounts in USD, as the venue defines them; null if unknown. */
export interface ActivityView {
  /** Unix milliseconds. */
  readonly at: number;
  readonly volume24hUsd: number | null;
  readonly liquidityUsd: number | null;
}

/**
 * The known data of a market at one time. Plain data, so that it can be sent to a worker thread and stored. Everything
 * that changes has a time, and `viewAt` removes data newer than `asOf`, so that no factor sees it.
 */
export interface MarketView {
  /** Unix milliseconds. */
  readonly asOf: number;
  readonly venue: VenueId;
  /** Name of the venue's adapter, by which fitted coefficients are stored; null if unknown. */
  readonly adapter: string | null;
  readonly marketId: string;
  readonly title: string;
  readonly category: Category | null;
  readonly kind: PriceKind;
  /** When the market was listed; null if unknown. */
  readonly openAt: number | null;
  /** Scheduled close, known in advance; null if unknown. */
  readonly closeAt: number | null;
  /**
   * Deadline before which the event must happen for YES, if the question is of that kind ("by 31 March") and nothing
   * but time decides it; null for matches, data releases and questions without a deadline.
   */
  readonly deadlineAt: number | null;
  /** Null if unknown. */
  readonly takerFee: TakerFee | null;
  /** Null if no quote is known; the price is then the last one of `prices`. */
  readonly quote: QuotePoint | null;
  /** Prices by the `yesPrice` rule, oldest first. */
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

/** Names of the factors, in the order in which they are added. */
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
  /** Standard error of the log-odds as a measurement of the market's opinion: half of the spread. */
  readonly standardError: number;
  /** Lower for a wide, one-sided or old book; in [0, 1]. */
  readonly confidence: number;
  readonly claim: string;
  readonly evidence: readonly string[];
}

/** How far other prices contradict the price of a market, in log-odds; 0 without other prices. */
export interface PriceGaps {
  /** The same question at other venues (`peerGapOf`). */
  readonly peers: number;
  /** The other markets of the event (`siblingGaps`). */
  readonly siblings: number;
}

/** Result of a factor for one view. */
export interface FactorReading {
  /** A sentence that contains the figures. */
  readonly claim: string;
  /** One line each, with source and figure. */
  readonly evidence: readonly string[];
  /** Log likelihood ratio in favour of YES, in [-3, 3]. */
  readonly lambda: number;
  /** Standard error of `lambda`, at least 0. */
  readonly standardError: number;
  /** How well the factor applies to this market, in [0, 1]. It multiplies the fitted coefficient. */
  readonly confidence: number;
}

/** Parameters of the engine, shipped as a file. The fit finds those to which data applies and keeps the others. */
export interface EngineCoefficients {
  readonly version: number;
  /** Share of the way from the mid to the microprice, in [0, 1]. */
  readonly micropriceShare: number;
  /** Log-odds beyond which a price is stretched, and the kinds of prices to which it applies. */
  readonly tail: { readonly from: number; readonly kinds: readonly PriceKind[] };
  /**
   * Share of the gap to a peer that a price closes within a day, by adapter of the market and adapter of the peer.
   * Other pairs have the share of `default` by the kind of the peer's price.
   */
  readonly leadership: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Share of each imbalance in the order flow. 0 for a part that no data was fitted to. */
  readonly orderFlow: { readonly trades: number; readonly largeTrades: number; readonly book: number };
  /**
   * Weight of each factor before its confidence. 0 where the fit found no gain out of sample. The weights of
   * `reported_consensus` and `research` are set by hand: no data with known outcomes has either.
   */
  readonly weights: Readonly<Record<FactorName, number>>;
  /** Covariance of the weights, by factor; factors without an entry have none. */
  readonly covariance: Readonly<Partial<Record<FactorName, Readonly<Partial<Record<FactorName, number>>>>>>;
}

/** One factor: a pure function of a view. It returns null if it does not apply. */
export interface Factor {
  readonly name: FactorName;
  evaluate(view: MarketView, prior: Prior, coefficients: EngineCoefficients): FactorReading | null;
}
