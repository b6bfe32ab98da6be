import type { BoardMarket, MarketBoard } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import { formatMarketRef, parseMarketRef } from "../../../domain/market-name.ts";
import { fromMicros, type Side, toMicros } from "../../../domain/price.ts";
import type { VenueStatusReport } from "../../../ingest/index.ts";
import { scoreArbitrage } from "../../../quant/arbitrage.ts";
import type { MatchedPairs } from "../matching/index.ts";
import type { MarketDependencies } from "../ports.ts";
import { canTrade, createLeg, describeLegs, describePair, isQuoteStale, quotesOf, quotesOfBook } from "./compare.ts";
import { SetCandidateList } from "./event-list.ts";
import type { SetCandidate } from "./event-sets.ts";
import { LiveScan, type ScannedBooks, type ScanSelection } from "./live-scan.ts";
import {
  type CrossVenueOpportunity,
  type MarketQuotes,
  type OpportunityFigures,
  type OpportunityFilter,
  type OpportunityList,
  QUOTE_AGE_MS_MAX,
  type SetOpportunity,
  type VenueState,
} from "./model.ts";
import { type ComparedPair, ComparedPairList } from "./pair-list.ts";

/** Maximum increase of the capital of two orders by fee rounding, in USD. */
const ROUNDED_FEES_USD_MAX = 0.1;
/** Maximum floating-point difference between a score and its bound. */
const ROUNDING_ERROR_MAX = 1e-9;

interface ArbitrageDependencies extends Pick<MarketDependencies, "board" | "clock" | "venues" | "readBook"> {
  readonly pairs: MatchedPairs;
  /** Returns the state of each venue's data. */
  readonly venueHealth: () => Readonly<Record<VenueId, VenueHealthSummary>>;
}

export type VenueHealthSummary = Pick<VenueStatusReport, "status" | "lastSuccessAt" | "sweep">;

export type ArbitrageService = ReturnType<typeof createArbitrageService>;

/**
 * Finds opportunities in matched pairs of markets. Create it before the board is filled, because it observes every
 * change of the board.
 */
export function createArbitrageService({ board, clock, pairs, venues, readBook, venueHealth }: ArbitrageDependencies) {
  const pairList = new ComparedPairList({ board, pairs, venues });
  const findCandidates = (selection: ScanSelection) => {
    const states = readVenues(venues, venueHealth());
    return [...pairList.compared()]
      .filter((candidate) => isSelected(candidate, selection) && areUp(candidate, states))
      .sort((a, b) => b.spread.netSpread - a.spread.netSpread || compareIds(a, b));
  };
  const eventList = new SetCandidateList({ board, clock, venues });
  const liveScan = new LiveScan({ clock, readBook, findCandidates });

  return {
    /** Returns the opportunities of the current quotes on the board, best score first. */
    list(filter: OpportunityFilter): OpportunityList<CrossVenueOpportunity> {
      const now = clock.now();
      const states = readVenues(venues, venueHealth());
      const { minNetSpread, limit } = filter;
      const candidates = [...pairList.compared()]
        .filter((candidate) => isSelected(candidate, filter) && areUp(candidate, states))
        .filter(({ spread }) => minNetSpread === null || spread.netSpread >= minNetSpread)
        .filter(({ a, b }) => !isQuoteStale({ at: Math.min(a.updatedAt, b.updatedAt) }, now))
        .map((candidate) => ({ ...candidate, scoreMax: findScoreMax(candidate, now) }))
        .sort((a, b) => b.scoreMax - a.scoreMax || b.spread.netSpread - a.spread.netSpread);
      // Computes only candidates whose score bound reaches the best scores so far.
      let best: CrossVenueOpportunity[] = [];
      for (const { pair, a, b, scoreMax } of candidates) {
        const worst = best.length < limit ? null : best.at(-1);
        if (worst != null && worst.score.score >= scoreMax) break;
        const opportunity = describePair(pair, quotesOf(a), quotesOf(b), now);
        if (opportunity !== null) best = selectBest([...best, opportunity], filter);
      }
      return { opportunities: best, venues: states, scannedAt: now };
    },

    /** Returns the opportunities within one event of the current quotes on the board, best score first. */
    async listSets(kind: SetOpportunity["kind"], filter: OpportunityFilter): Promise<OpportunityList<SetOpportunity>> {
      const candidates = await eventList.candidates();
      const now = clock.now();
      const health = venueHealth();
      const states = readVenues(venues, health);
      const opportunities = candidates
        .filter(({ event: { listing } }) => filter.venue === null || listing.venue === filter.venue)
        .filter(({ event: { listing } }) => states[listing.venue]?.status !== "down")
        .filter((candidate) => candidate.kind === kind)
        // Before the first complete sweep a market of the event may be missing.
        .filter(({ strategy, event }) => strategy !== "buy_all_yes" || isSwept(health[event.listing.venue]))
        .flatMap((candidate) => describeSet(candidate, board, now) ?? [])
        .filter(({ spread }) => spread >= filter.minSpread);
      return { opportunities: selectBest(opportunities, filter), venues: states, scannedAt: now };
    },

    /**
     * First reads the order books of both legs of the candidates, best candidates first, for at most 10 seconds. A leg
     * without a read book has the quotes of the board and the reason.
     */
    async scan(filter: OpportunityFilter): Promise<OpportunityList<CrossVenueOpportunity>> {
      const books = await liveScan.scan({ minSpread: filter.minSpread, venue: filter.venue });
      const now = clock.now();
      const states = readVenues(venues, venueHealth());
      // The prices on the board may have changed since the scan began, so scanned pairs are filtered by their order
      // books.
      const wasScanned = ({ a, b }: ComparedPair) =>
        books.has(formatMarketRef(a.listing)) && books.has(formatMarketRef(b.listing));
      const opportunities = [...pairList.compared()]
        .filter((pair) => isOnVenue(pair, filter) && (wasScanned(pair) || pair.spread.spread >= filter.minSpread))
        .filter((pair) => areUp(pair, states))
        .flatMap(({ pair, a, b }) => {
          const [quotesA, quotesB] = [liveQuotesOf(a, books), liveQuotesOf(b, books)];
          return quotesA === null || quotesB === null ? [] : (describePair(pair, quotesA, quotesB, now) ?? []);
        })
        .filter(({ spread }) => spread >= filter.minSpread);
      return {
        opportunities: selectBest(opportunities, filter),
        venues: countBooks(states, books),
        scannedAt: now,
      };
    },
  };
}

/** Returns an upper bound of the score of the pair's opportunity, without computing the purchase. */
function findScoreMax({ pair, a, b, spread: { netSpread, sides } }: ComparedPair, now: number): number {
  const sizeOf = (market: BoardMarket, side: Side) => (side === "yes" ? market.quote.askSize : market.quote.bidSize);
  const contracts = Math.min(sizeOf(a, sides[0]) ?? 0, sizeOf(b, sides[1]) ?? 0);
  const bidAskSpread = Math.max(...[a, b].map(({ quote: { bid, ask } }) => Math.max(0, (ask ?? 1) - (bid ?? 0))));
  const { score } = scoreArbitrage({
    netSpread,
    executableUsd: netSpread > 0 && contracts < Infinity ? contracts * (1 - netSpread) + ROUNDED_FEES_USD_MAX : 0,
    matchConfidence: pair.confidence,
    bidAskSpread,
    ageShare: Math.max(0, now - Math.min(a.updatedAt, b.updatedAt)) / QUOTE_AGE_MS_MAX,
  });
  // A score of 0 is exact. Candidates without a profit are sorted by net spread, so the first are the best.
  return score === 0 ? 0 : score + ROUNDING_ERROR_MAX;
}

/** Returns the quotes of the scanned book, or of the board if the book was not read; null if the market has no book. */
function liveQuotesOf(market: BoardMarket, books: ScannedBooks): MarketQuotes | null {
  const reading = books.get(formatMarketRef(market.listing)) ?? { failure: "candidate_limit" };
  if ("failure" in reading) return quotesOf(market, reading.failure);
  return reading.book === null ? null : quotesOfBook(market, reading.book);
}

/** Computes a set from the current quotes. Returns null if a leg is stale or cannot be traded now. */
function describeSet(candidate: SetCandidate, board: MarketBoard, now: number): SetOpportunity | null {
  const { kind, strategy, event, payout } = candidate;
  const legs = candidate.legs.flatMap(({ market: { listing }, side }) => {
    const market = board.find(listing.venue, listing.marketId);
    if (market === null || market.listing.takerFee === null || !canTrade(market)) return [];
    const leg = createLeg(quotesOf(market), market.listing.takerFee, side);
    return leg.offers.length === 0 || isQuoteStale(leg.quotes, now) ? [] : [leg];
  });
  if (legs.length < candidate.legs.length) return null;
  const cost = legs.reduce((sum, { offers }) => sum + toMicros(offers[0]?.price ?? payout), 0);
  const spread = fromMicros(toMicros(payout) - cost);
  return { kind, strategy, event, payout, ...describeLegs(legs, { payout, spread, matchConfidence: 1 }, now) };
}

const isSwept = (health: VenueHealthSummary | undefined): boolean => (health?.sweep.completed ?? 0) > 0;

function readVenues(
  venues: readonly VenueId[],
  health: Readonly<Record<VenueId, VenueHealthSummary>>,
): Readonly<Record<VenueId, VenueState>> {
  return Object.fromEntries(
    venues.map((venue) => {
      const { status, lastSuccessAt } = health[venue] ?? { status: "down", lastSuccessAt: null };
      return [venue, { status, lastSuccessAt }];
    }),
  );
}

function countBooks(states: Readonly<Record<VenueId, VenueState>>, books: ScannedBooks) {
  const counts = new Map<VenueId, { refreshed: number; failed: number }>();
  for (const [id, reading] of books) {
    const { venue } = parseMarketRef(id);
    const count = counts.get(venue) ?? { refreshed: 0, failed: 0 };
    count["failure" in reading ? "failed" : "refreshed"] += 1;
    counts.set(venue, count);
  }
  return Object.fromEntries(
    Object.entries(states).map(([venue, state]) => {
      const { refreshed, failed } = counts.get(venue) ?? { refreshed: 0, failed: 0 };
      return [venue, { ...state, booksRefreshed: refreshed, booksFailed: failed }];
    }),
  );
}

const isSelected = (pair: ComparedPair, selection: ScanSelection): boolean =>
  pair.spread.spread >= selection.minSpread && isOnVenue(pair, selection);

const isOnVenue = ({ a, b }: ComparedPair, { venue }: Pick<ScanSelection, "venue">): boolean =>
  venue === null || a.listing.venue === venue || b.listing.venue === venue;

const areUp = ({ a, b }: ComparedPair, states: Readonly<Record<VenueId, VenueState>>): boolean =>
  states[a.listing.venue]?.status !== "down" && states[b.listing.venue]?.status !== "down";

const compareIds = (a: ComparedPair, b: ComparedPair): number => (a.pair.a + a.pair.b < b.pair.a + b.pair.b ? -1 : 1);

/** Returns the opportunities with the highest scores. Equal scores are ordered by net spread, highest first. */
function selectBest<Opportunity extends OpportunityFigures>(
  opportunities: readonly Opportunity[],
  { minNetSpread, limit }: Pick<OpportunityFilter, "minNetSpread" | "limit">,
): Opportunity[] {
  return opportunities
    .filter(({ netSpread }) => minNetSpread === null || netSpread >= minNetSpread)
    .sort((a, b) => b.score.score - a.score.score || b.netSpread - a.netSpread)
    .slice(0, limit);
}
