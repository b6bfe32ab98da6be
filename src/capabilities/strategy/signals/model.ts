import type { BoardMarket } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import type { OrderBook } from "../../../domain/order-book.ts";
import type { Signal } from "../../../trading/index.ts";
import type { CurrentAnalysis } from "../../analysis/analyses/index.ts";
import type { QuestionAnswer } from "../../markets/question-search/index.ts";

/** Default sizing: a quarter of the Kelly fraction, at most a tenth of the bankroll. */
export const KELLY_SHARE_DEFAULT = 0.25;
export const POSITION_MAX_DEFAULT = 0.1;

/** A request for a signal, for a market or for a question in words. */
export interface SignalRequest {
  readonly customerId: string;
  /** Venue of the market, or the only venue whose markets are searched; null for any. */
  readonly venue: VenueId | null;
  readonly marketId: string | null;
  /** Question in words, used if `marketId` is null. */
  readonly question: string | null;
  /** Whether to start a new analysis even if a usable analysis exists. */
  readonly isForced: boolean;
  /** Whether to wait for a running analysis, for at most five minutes. */
  readonly waits: boolean;
  /** Aborts when the caller has disconnected. */
  readonly signal: AbortSignal;
}

/** All inputs of the decision on a signal. */
export interface PreparedSignal {
  readonly market: BoardMarket;
  /** The analysis, updated to the prices of `book`. */
  readonly stored: CurrentAnalysis;
  /** The current order book; null if the market has none or is not open. */
  readonly book: OrderBook | null;
  /** The found market and alternatives; null if the request has a market id. */
  readonly answer: QuestionAnswer | null;
  /** Unix milliseconds. */
  readonly now: number;
}

export interface RunningAnalysis {
  readonly analysisId: string;
  readonly market: BoardMarket;
  readonly estimatedSeconds: number;
}

export type SignalPreparation =
  | { readonly kind: "ready"; readonly prepared: PreparedSignal }
  | { readonly kind: "running"; readonly run: RunningAnalysis };

export interface MarketSignal extends PreparedSignal {
  readonly signal: Signal;
  /** Bankroll in USD for which the signal was sized. */
  readonly bankrollUsd: number;
}
