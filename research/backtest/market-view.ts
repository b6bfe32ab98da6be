/** Builds the view of a market that the service would have had at the current time of a replay. */
import { type BoardMarket, eventSlug, findIncompleteSetReason } from "../../src/board/index.ts";
import { categoryOf } from "../../src/domain/category.ts";
import {
  type EventView,
  type LegView,
  type MarketView,
  type PeerView,
  positiveSpreadOf,
} from "../../src/engine/index.ts";
import { venueOf } from "../engine/venues.ts";
import { createEmptyView } from "../engine/views.ts";
import type { PeerFinder } from "./peer-finder.ts";
import type { ReplayedMarkets } from "./replayed-markets.ts";

/** Maximum numbers of event legs and of peers in a view, as in the service (`analyses/market-views.ts`). */
const LEGS_MAX = 200;
const PEERS_MAX = 10;

/** Differences between the views of a replay and the views of the service. Every report lists them. */
export const VIEW_LIMITATIONS: readonly string[] = [
  "Ladders of thresholds and dates are not compared, because their code belongs to a capability; exclusive outcomes are.",
  "There are no reports of agents, no research and no decisions of an operator about pairs.",
];

/** @param asOf  Unix milliseconds, not before the last applied fact */
export function viewMarket(known: ReplayedMarkets, peers: PeerFinder, market: BoardMarket, asOf: number): MarketView {
  const { listing, quote, activity } = market;
  const { venue, marketId } = listing;
  const at = known.confirmedAt(market);
  return {
    // The deadline is unknown in a replay. Only the factor `time_decay` reads it.
    ...createEmptyView(venue, marketId, asOf),
    title: listing.title,
    category: categoryOf(listing.category),
    openAt: listing.openAt,
    closeAt: listing.closeAt,
    takerFee: listing.takerFee,
    quote: { ...quote, at },
    prices: known.pricesOf(market, asOf),
    book: viewBook(known, market),
    trades: known.tradesOf(market, asOf),
    activity: { at, volume24hUsd: activity.volume24hUsd, liquidityUsd: activity.liquidityUsd },
    peers: viewPeers(known, peers, market),
    event: viewEvent(known, market),
  };
}

function viewBook(known: ReplayedMarkets, market: BoardMarket): MarketView["book"] {
  const book = known.findBook(market);
  return book === null ? null : { at: book.receivedAt, bids: book.bids, asks: book.asks };
}

function viewPeers(known: ReplayedMarkets, peers: PeerFinder, market: BoardMarket): PeerView[] {
  return peers
    .peersOf(market)
    .slice(0, PEERS_MAX)
    .flatMap(({ market: peer, isInverse, confidence }): PeerView[] => {
      const { listing, quote, activity, yesPrice } = peer;
      if (yesPrice === null || listing.status !== "active") return [];
      return [
        {
          venue: listing.venue,
          adapter: listing.venue,
          marketId: listing.marketId,
          isInverse,
          matchConfidence: confidence,
          kind: venueOf(listing.venue).kind,
          at: known.confirmedAt(peer),
          yesPrice,
          spread: positiveSpreadOf(quote),
          liquidityUsd: activity.liquidityUsd,
          volume24hUsd: activity.volume24hUsd,
        },
      ];
    });
}

function viewEvent(known: ReplayedMarkets, { listing: { venue, eventId } }: BoardMarket): EventView | null {
  if (eventId === null) return null;
  const slug = eventSlug(venue, eventId);
  const event = known.board.findEvent(slug)?.listing ?? null;
  const markets = known.board.marketsOfEvent(slug);
  if (event === null || markets.length < 2 || markets.length > LEGS_MAX) return null;
  const open = markets.filter(({ listing, yesPrice }) => listing.status === "active" && yesPrice !== null);
  return {
    isExclusive: event.mutuallyExclusive,
    isExhaustive: findIncompleteSetReason(event, markets, (market) => open.includes(market)) === null,
    legs: open.map((market) => viewLeg(known, market)),
    ladder: null,
  };
}

function viewLeg(known: ReplayedMarkets, market: BoardMarket): LegView {
  const { listing, quote, yesPrice } = market;
  return {
    marketId: listing.marketId,
    label: listing.outcomeLabel ?? listing.title,
    at: known.confirmedAt(market),
    yesPrice: yesPrice ?? 0,
    spread: positiveSpreadOf(quote),
  };
}
