/** Facts written by hand, for tests. */

import type { EventListing, MarketListing, Outcome, Quote } from "../../../src/domain/market.ts";
import { DAY_MS, HOUR_MS } from "../../../src/lib/durations.ts";
import type { Fact } from "../../../src/recording/index.ts";
import { EMPTY_LISTING } from "../markets/market-samples.ts";

/** First day of the tests' periods. */
export const FROM = Date.UTC(2026, 5, 1);
export const VENUE = "polymarket";

type MarketFact = Extract<Fact, { kind: "market" }>;

export const eventFact = (at: number, parts: Partial<EventListing> = {}): Fact => ({
  at,
  venue: VENUE,
  kind: "event",
  event: {
    eventId: "cup",
    title: "Who wins the cup?",
    description: null,
    category: "Sports",
    url: null,
    children: null,
    mutuallyExclusive: true,
    exhaustive: false,
    featured: false,
    endAt: null,
    ...parts,
  },
});

/** A market of the event, active unless `parts` overrides its status. */
export const marketFact = (at: number, marketId: string, parts: Partial<MarketListing> = {}): MarketFact => ({
  at,
  venue: VENUE,
  kind: "market",
  market: {
    ...EMPTY_LISTING,
    marketId,
    eventId: "cup",
    title: `Will team ${marketId} win the cup?`,
    outcomeLabel: marketId,
    category: "Sports",
    status: "active",
    closeAt: FROM + 30 * DAY_MS,
    priceRanges: [{ from: 0, to: 1, step: 0.01 }],
    takerFee: { kind: "none" },
    ...parts,
  },
});

export const settledFact = (at: number, marketId: string, outcome: Outcome): MarketFact =>
  marketFact(at, marketId, { status: "finalized", outcome });

export const quoteFact = (at: number, marketId: string, quote: Partial<Quote> = {}): Fact => ({
  at,
  venue: VENUE,
  kind: "quote",
  marketId,
  quote: {
    bid: 0.6,
    ask: 0.61,
    bidSize: 5_000,
    askSize: 5_000,
    lastPrice: null,
    indicativePrice: null,
    eventAt: null,
    ...quote,
  },
});

/**
 * Creates the facts of two teams, of which at most one wins, each at a price of 0.60. The prices sum to more than 1, so
 * the engine buys NO of both at 1 - 0.60.
 */
export const listContradiction = (at = FROM - HOUR_MS / 2): Fact[] => [
  eventFact(at),
  ...["A", "B"].flatMap((marketId) => [marketFact(at, marketId), quoteFact(at, marketId)]),
];
