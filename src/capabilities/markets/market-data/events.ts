import type { BoardEvent, BoardMarket, EventQuery, EventStatus, MarketBoard } from "../../../board/index.ts";
import { categoryOf } from "../../../domain/category.ts";
import type { EventListing } from "../../../domain/market.ts";
import { toCents } from "../../../domain/usd.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import type { EventPair } from "../../../matching/index.ts";
import { ALSO_ON_CONFIDENCE_MIN } from "../matching/index.ts";

/** Maximum number of events in `also_on`: one event may match several smaller events of another venue. */
const EVENT_LINKS_MAX = 20;

type PricedMarket = BoardMarket & { readonly yesPrice: number };

/** An event with its priced markets and their totals. */
export interface EventGroup {
  readonly event: BoardEvent;
  readonly markets: readonly PricedMarket[];
  /** Sum in USD over the markets whose volume is known; null if none is known. */
  readonly totalVolume24hUsd: number | null;
  readonly updatedAt: number;
}

/** Returns the event with its priced markets, or null if no market has a price. */
export function createEventGroup(board: MarketBoard, event: BoardEvent): EventGroup | null {
  const markets = board.marketsOfEvent(event.slug).filter((market): market is PricedMarket => market.yesPrice !== null);
  if (markets.length === 0) return null;
  const volumes = markets.flatMap((market) => market.activity.volume24hUsd ?? []);
  return {
    event,
    markets,
    totalVolume24hUsd: volumes.length === 0 ? null : toCents(volumes.reduce((sum, volume) => sum + volume, 0)),
    updatedAt: Math.max(...markets.map((market) => market.updatedAt)),
  };
}

/** Returns the events that match the query, in the requested order. */
export function listEvents(board: MarketBoard, query: EventQuery): EventGroup[] {
  return board.listEvents(query).flatMap((event) => createEventGroup(board, event) ?? []);
}

/** The same event at another venue. */
export interface EventLink {
  readonly listing: EventListing;
  /** Number of markets of the event that have a price. */
  readonly marketCount: number;
}

/** Returns the matched events, most likely first. Events without a priced market are left out. */
export function linkEvents(board: MarketBoard, slug: string, pairs: readonly EventPair[]): EventLink[] {
  return pairs
    .filter(({ confidence }) => confidence >= ALSO_ON_CONFIDENCE_MIN)
    .sort((a, b) => b.confidence - a.confidence)
    .flatMap(({ a, b }) => {
      const event = board.findEvent(a === slug ? b : a);
      const group = event === null ? null : createEventGroup(board, event);
      return group === null ? [] : [{ listing: group.event.listing, marketCount: group.markets.length }];
    })
    .slice(0, EVENT_LINKS_MAX);
}

/** Returns `open` if any market is active, `settled` if all markets are finalized, otherwise `closed`. */
export function eventStatus(group: EventGroup): EventStatus {
  if (group.markets.some((market) => market.listing.status === "active")) return "open";
  return group.markets.every((market) => market.listing.status === "finalized") ? "settled" : "closed";
}

export function presentEventSummary(group: EventGroup) {
  const { listing, slug } = group.event;
  return {
    slug,
    title: listing.title,
    platform: listing.venue,
    market_count: group.markets.length,
    total_volume_24h: group.totalVolume24hUsd,
    updated_at: toIso(group.updatedAt),
    category: categoryOf(listing.category) ?? "",
    venue_category: listing.category,
    featured: listing.featured,
  };
}

export function presentEvent(group: EventGroup, links: readonly EventLink[], includesMarkets: boolean) {
  const { listing } = group.event;
  const prices = group.markets.flatMap((market) => (market.listing.status === "active" ? (market.yesPrice ?? []) : []));
  return {
    ...presentEventSummary(group),
    description: listing.description,
    top_yes_price: prices.length === 0 ? null : Math.max(...prices),
    mutually_exclusive: listing.mutuallyExclusive,
    children: presentChildren(listing.children),
    status: eventStatus(group),
    end_date: listing.endAt === null ? null : toIso(listing.endAt),
    also_on: links.map((link) => ({
      platform: link.listing.venue,
      event_id: link.listing.eventId,
      url: link.listing.url,
      market_count: link.marketCount,
    })),
    ...(includesMarkets ? { markets: group.markets.map(presentEventMarket) } : {}),
  };
}

function presentChildren(children: EventListing["children"]) {
  if (children === null) return null;
  const { total, read, leftOut } = children;
  return { total, read, left_out: leftOut };
}

/** Creates an element of the `markets` field of an EventDetail object. */
function presentEventMarket(market: PricedMarket) {
  const { listing, quote, activity } = market;
  return {
    market_id: listing.marketId,
    title: listing.title,
    yes_price: market.yesPrice,
    volume_24h: activity.volume24hUsd,
    url: listing.url,
    open_interest: activity.openInterestUsd,
    spread: quote.bid === null || quote.ask === null ? null : Math.round((quote.ask - quote.bid) * 1e6) / 1e6,
  };
}
