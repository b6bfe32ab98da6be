/**
 * Replays facts in time order. Computes signals, trades, mark-to-market prices and settlements like the service's
 * scheduled analyses.
 */
import type { BoardMarket } from "../../src/board/index.ts";
import { categoryOf } from "../../src/domain/category.ts";
import { settlementValueOf, type VenueId } from "../../src/domain/market.ts";
import type { BookLevel } from "../../src/domain/order-book.ts";
import { analyse, ENGINE_COEFFICIENTS } from "../../src/engine/index.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import type { Fact } from "../../src/recording/index.ts";
import {
  type DailyMark,
  decideSignal,
  REFERENCE_BANKROLL_USD,
  type Settlement,
  type SignalInput,
  type SizingOptions,
  type Trade,
} from "../../src/trading/index.ts";
import { venueOf } from "../engine/venues.ts";
import { viewMarket } from "./market-view.ts";
import type { BacktestOptions } from "./options.ts";
import { PeerFinder } from "./peer-finder.ts";
import { QUOTE_AGE_MS_MAX, ReplayedMarkets } from "./replayed-markets.ts";

/** Position sizing of the signals in the service's track record. */
const SIZING: SizingOptions = { bankrollUsd: REFERENCE_BANKROLL_USD, kellyShare: 0.25, positionMax: 0.1 };

export interface ReplayOptions extends Omit<BacktestOptions, "source" | "html" | "json"> {
  /**
   * Called at the end of each day, with midnight UTC in Unix milliseconds and the numbers of analyses and trades so
   * far.
   */
  readonly onDay?: (at: number, analyses: number, trades: number) => void;
}

/** A simulated trade with its expected edge in USD per contract and the category of its market. */
export interface BacktestTrade extends Trade {
  readonly edge: number;
  readonly category: string | null;
}

/** Running sums over the analyses of one market. Keeping only sums bounds the memory of a long replay. */
export interface MarketEstimates {
  readonly venue: VenueId;
  readonly marketId: string;
  readonly count: number;
  /** Sum and sum of squares of the engine's probabilities (`ours`), and of market prices at these times (`price`). */
  readonly ours: { readonly sum: number; readonly squares: number };
  readonly price: { readonly sum: number; readonly squares: number };
}

export interface ReplayCounts {
  /** Number of facts within the period. */
  readonly facts: number;
  readonly analyses: number;
  /** Analyses that recommend a trade. */
  readonly signals: number;
  /** Signals without a bid or ask of known size to trade against. */
  readonly signalsWithoutBook: number;
  /** Analyses of markets with at least one peer on another venue. */
  readonly analysesWithPeers: number;
}

export interface ReplayRecord {
  readonly counts: ReplayCounts;
  /** Times of the first and the last fact, including facts outside the period; null without facts. */
  readonly covers: { readonly from: number; readonly to: number } | null;
  readonly estimates: readonly MarketEstimates[];
  readonly trades: readonly BacktestTrade[];
  readonly marks: readonly DailyMark[];
  readonly settlements: readonly Settlement[];
}

type Mutable<T> = {
  -readonly [Key in keyof T]: T[Key] extends object ? { -readonly [K in keyof T[Key]]: T[Key][K] } : T[Key];
};

/**
 * Applies facts and computes signals at fixed intervals. A signal uses only facts up to its own time, so there is no
 * look-ahead.
 */
export class Replay {
  readonly #options: ReplayOptions;
  readonly #known = new ReplayedMarkets();
  readonly #peers = new PeerFinder(this.#known.board);
  readonly #venues = new Set<VenueId>();
  #nextAt: number;
  readonly #counts = { facts: 0, analyses: 0, signals: 0, signalsWithoutBook: 0, analysesWithPeers: 0 };
  #covers: Mutable<NonNullable<ReplayRecord["covers"]>> | null = null;
  readonly #estimates = new Map<string, Mutable<MarketEstimates>>();
  readonly #trades: BacktestTrade[] = [];
  readonly #marks: DailyMark[] = [];
  readonly #settlements: Settlement[] = [];
  /** Payout of each settled market; null for a refund. */
  readonly #settled = new Map<string, number | null>();
  readonly #openMarkets = new Map<string, Pick<Trade, "venue" | "marketId">>();

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#nextAt = options.from;
  }

  /**
   * Computes the signals that are due before the next fact, and then applies the fact.
   *
   * @returns  false if the fact belongs to a market that no earlier fact lists
   */
  apply(fact: Fact): boolean {
    this.#covers ??= { from: fact.at, to: fact.at };
    this.#covers.to = fact.at;
    if (fact.at >= this.#options.to) return true;
    this.#runUntil(fact.at);
    if (!this.#known.apply(fact)) return false;
    if (fact.at >= this.#options.from) this.#counts.facts += 1;
    if (fact.kind === "market") {
      if (venueOf(fact.venue).kind === "money") this.#venues.add(fact.venue);
      this.#settle(fact);
    }
    return true;
  }

  /** Computes the remaining mark-to-market prices and signals up to the end of the period, and returns the results. */
  finish(): ReplayRecord {
    this.#runUntil(Number.POSITIVE_INFINITY);
    return {
      counts: this.#counts,
      covers: this.#covers,
      estimates: [...this.#estimates.values()],
      trades: this.#trades,
      marks: this.#marks,
      settlements: this.#settlements,
    };
  }

  /** Computes the mark-to-market prices and signals that are due before `before`. */
  #runUntil(before: number): void {
    const { to, everyMs, onDay } = this.#options;
    for (; this.#nextAt < before && this.#nextAt <= to; this.#nextAt += everyMs) {
      const at = this.#nextAt;
      if (at % DAY_MS === 0) {
        this.#markAll(at);
        onDay?.(at, this.#counts.analyses, this.#trades.length);
      }
      if (at < to) this.#signalAll(at);
    }
  }

  #markAll(at: number): void {
    for (const { venue, marketId } of this.#openMarkets.values()) {
      const yesPrice = this.#known.board.find(venue, marketId)?.yesPrice ?? null;
      if (yesPrice !== null) this.#marks.push({ venue, marketId, at, yesPrice });
    }
  }

  #signalAll(at: number): void {
    const markets = this.#selectMarkets();
    if (markets.length > 0) this.#peers.update();
    for (const market of markets) {
      if (at - this.#known.confirmedAt(market) > QUOTE_AGE_MS_MAX) continue;
      // A venue may reopen a settled market. Such a market is not traded again: its settlement is already recorded.
      if (!this.#settled.has(marketKeyOf(market.listing))) this.#signal(market, at);
    }
  }

  /** Active markets by descending liquidity. Markets without a known liquidity follow, by descending 24-hour volume. */
  #selectMarkets(): BoardMarket[] {
    const { marketsMax: limit } = this.#options;
    const list = (sort: "liquidity" | "volume_24h") =>
      this.#known.board.list({
        venues: [...this.#venues],
        statuses: ["active"],
        category: null,
        text: null,
        sort,
        limit,
        after: null,
      });
    const liquid = list("liquidity").filter(({ activity }) => activity.liquidityUsd !== null);
    if (liquid.length >= limit) return liquid;
    return [...new Set([...liquid, ...list("volume_24h")])].slice(0, limit);
  }

  #signal(market: BoardMarket, at: number): void {
    const { listing, yesPrice } = market;
    const view = viewMarket(this.#known, this.#peers, market, at);
    const analysis = analyse(view, ENGINE_COEFFICIENTS);
    if (analysis === null) return;
    this.#counts.analyses += 1;
    if (view.peers.length > 0) this.#counts.analysesWithPeers += 1;
    this.#addEstimate(market, analysis.probability, analysis.marketPrice);
    if (analysis.recommendation === "NO_TRADE") return;
    this.#counts.signals += 1;
    const book = this.#findOffers(market, at);
    if (book === null) this.#counts.signalsWithoutBook += 1;
    const { recommendation, fill, executableEdge } = decideSignal(
      {
        now: at,
        analysis,
        market: {
          kind: view.kind,
          isOpen: listing.status === "active" && !listing.paused,
          closeAt: listing.closeAt,
          resolutionAt: listing.expectedResolutionAt,
          priceRanges: listing.priceRanges,
          takerFee: listing.takerFee,
          minOrderContracts: listing.minOrderContracts,
          contractStep: listing.contractStep,
        },
        yesPrice: yesPrice ?? analysis.marketPrice,
        book,
      },
      SIZING,
    );
    if (recommendation === "NO_TRADE" || fill === null || executableEdge === null) return;
    const { venue, marketId } = listing;
    this.#openMarkets.set(marketKeyOf(listing), { venue, marketId });
    this.#trades.push({
      tradeId: `${marketKeyOf(listing)}@${at}`,
      venue,
      marketId,
      at,
      category: categoryOf(listing.category),
      side: recommendation === "BUY_YES" ? "yes" : "no",
      contracts: fill.contracts,
      price: fill.averagePrice,
      feeUsd: fill.feeUsd,
      edge: executableEdge,
    });
  }

  /** Returns the order book if it is at most an hour old. Otherwise returns the quote as a one-level book. */
  #findOffers(market: BoardMarket, at: number): SignalInput["book"] {
    const book = this.#known.findBook(market);
    if (book !== null && at - book.receivedAt <= HOUR_MS) return { ...book, at: book.receivedAt };
    const { bid, ask, bidSize, askSize } = market.quote;
    const bids = this.#toOffers(bid, bidSize);
    const asks = this.#toOffers(ask, askSize);
    return bids.length + asks.length === 0 ? null : { at: this.#known.confirmedAt(market), bids, asks };
  }

  #toOffers(price: number | null, size: number | null): BookLevel[] {
    const contracts = size ?? this.#options.assumedSize ?? 0;
    return price === null || contracts <= 0 ? [] : [{ price, size: contracts }];
  }

  #addEstimate({ listing }: BoardMarket, probability: number, price: number): void {
    const { venue, marketId } = listing;
    const id = marketKeyOf(listing);
    const estimates = this.#estimates.get(id) ?? {
      venue,
      marketId,
      count: 0,
      ours: { sum: 0, squares: 0 },
      price: { sum: 0, squares: 0 },
    };
    this.#estimates.set(id, estimates);
    estimates.count += 1;
    for (const [sums, value] of [
      [estimates.ours, probability],
      [estimates.price, price],
    ] as const) {
      sums.sum += value;
      sums.squares += value ** 2;
    }
  }

  #settle({ at, venue, market }: Extract<Fact, { kind: "market" }>): void {
    if (market.status !== "finalized" || market.outcome === null || at < this.#options.from) return;
    const { marketId } = market;
    const id = marketKeyOf({ venue, marketId });
    const value = settlementValueOf(market.outcome);
    if (this.#settled.has(id) && this.#settled.get(id) === value) return;
    this.#settled.set(id, value);
    this.#openMarkets.delete(id);
    this.#settlements.push({ venue, marketId, at, value });
  }
}

export const marketKeyOf = ({ venue, marketId }: Pick<Trade, "venue" | "marketId">): string => `${venue}/${marketId}`;
