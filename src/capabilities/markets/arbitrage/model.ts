import type { BoardEvent, BoardMarket } from "../../../board/index.ts";
import type { TakerFee, VenueId } from "../../../domain/market.ts";
import type { Side } from "../../../domain/price.ts";
import type { VenueStatusReport } from "../../../ingest/index.ts";
import type { MarketPair } from "../../../matching/index.ts";
import type { ArbitrageScore, ArbitrageWalk } from "../../../quant/arbitrage.ts";

/** Minimum match confidence of an opportunity. */
export const MATCH_CONFIDENCE_MIN = 0.5;
/**
 * Maximum time since the last confirmation of a quote; an older quote is stale. A sweep of the largest venue takes
 * several minutes.
 */
export const QUOTE_AGE_MS_MAX = 10 * 60_000;

export const OPPORTUNITY_KINDS = ["cross_venue", "exclusive_set", "ladder"] as const;
export const SET_STRATEGIES = ["buy_all_yes", "buy_all_no", "buy_wide_yes_narrow_no"] as const;

/** Contracts at one price of the YES contract. The size is null if the venue does not publish it. */
export interface QuotedLevel {
  readonly price: number;
  readonly size: number | null;
}

/**
 * Why an order book was not read. venue_busy: the venue's rate limit was used up. deadline: the scan ended first.
 * candidate_limit: the scan had too many candidates.
 */
export const REFRESH_FAILURES = ["venue_unavailable", "venue_busy", "deadline", "candidate_limit"] as const;
export type RefreshFailure = (typeof REFRESH_FAILURES)[number];

/** The quotes of one market from which an opportunity is computed. */
export interface MarketQuotes {
  readonly market: BoardMarket;
  /** Best price first. */
  readonly bids: readonly QuotedLevel[];
  readonly asks: readonly QuotedLevel[];
  readonly yesPrice: number | null;
  /** order_book: all levels. top_of_book: only the best bid and the best ask. */
  readonly depth: "order_book" | "top_of_book";
  /** When the venue last confirmed the quotes, Unix milliseconds. */
  readonly at: number;
  /** Reason why a live scan could not read the order book. The quotes are then taken from the board. */
  readonly refreshFailure: RefreshFailure | null;
}

/** One contract that an opportunity buys. */
export interface OpportunityLeg {
  readonly quotes: MarketQuotes;
  readonly fee: TakerFee;
  readonly side: Side;
  /** Offers of this side, best price first: the asks for YES, 1 minus the bids for NO. */
  readonly offers: readonly QuotedLevel[];
}

export interface OpportunityFigures {
  readonly legs: readonly OpportunityLeg[];
  /** Price difference before fees. */
  readonly spread: number;
  /** Profit per contract at the best prices after fees; 0 or less without an arbitrage. */
  readonly netSpread: number;
  /** Null if a size is unknown. */
  readonly walk: ArbitrageWalk | null;
  /** Days until the later settlement, at least 0; null if one is unknown. */
  readonly daysToResolution: number | null;
  /** As a fraction (0.1 is 10%); null if unknown or nothing can be bought. */
  readonly annualizedReturn: number | null;
  readonly score: ArbitrageScore;
}

/** The same question at different prices on two venues. */
export interface CrossVenueOpportunity extends OpportunityFigures {
  readonly pair: MarketPair;
  /** The markets in the order of the pair. For the relation `inverse` the price of `b` is 1 minus its YES price. */
  readonly markets: readonly [
    { readonly quotes: MarketQuotes; readonly yesPrice: number },
    { readonly quotes: MarketQuotes; readonly yesPrice: number },
  ];
  readonly cheaperOn: VenueId;
}

/** Contracts of one event that together pay more than they cost. */
export interface SetOpportunity extends OpportunityFigures {
  readonly kind: "exclusive_set" | "ladder";
  readonly strategy: (typeof SET_STRATEGIES)[number];
  readonly event: BoardEvent;
  /** Guaranteed payout in USD of one contract of each leg. */
  readonly payout: number;
}

export interface OpportunityFilter {
  readonly minSpread: number;
  readonly minNetSpread: number | null;
  /** Selects opportunities with a leg on this venue. */
  readonly venue: VenueId | null;
  readonly limit: number;
}

/** The state of a venue's data. For a live scan also the numbers of its books that were read and not read. */
export interface VenueState {
  readonly status: VenueStatusReport["status"];
  readonly lastSuccessAt: number | null;
  readonly booksRefreshed?: number;
  readonly booksFailed?: number;
}

export interface OpportunityList<Opportunity> {
  readonly opportunities: readonly Opportunity[];
  readonly venues: Readonly<Record<VenueId, VenueState>>;
  /** Unix milliseconds. */
  readonly scannedAt: number;
}
