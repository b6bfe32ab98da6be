import type { EventListing, MarketListing, MarketSnapshot, VenueId } from "../../domain/market.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DropCounter, ListingPage, VenueAdapter } from "../../ports/venue.ts";
import { badBody, type LimitlessClient } from "./client.ts";
import {
  isChildRow,
  isGroupRow,
  type Parent,
  type ParseContext,
  type ParsedRows,
  parseMarket,
  parseRows,
} from "./parse-market.ts";
import type { LimitlessDriftDetectors } from "./wire.ts";
import { isMarketRow, isSlugRow, type MarketRow } from "./wire.ts";

type Wanted = Pick<MarketListing, "marketId" | "venueKeys">;

/**
 * Single markets by id. The venue lists no closed markets, so each is asked for alone; children of a group come with
 * their group in one answer, which also tells what they belong to.
 */
export function createMarketFetcher(options: {
  readonly client: LimitlessClient;
  readonly clock: Clock;
  readonly venue: VenueId;
  readonly drop: DropCounter;
  readonly watch: LimitlessDriftDetectors;
}): Pick<VenueAdapter, "getMarkets" | "findMarket"> {
  const { client, clock, venue, drop, watch } = options;

  const fetchGroup = async (slug: string, signal: AbortSignal): Promise<ParsedRows | null> => {
    const answer = await client.findMarket(slug, signal);
    return answer === null ? null : parseRows([answer.json], { venue, receivedAt: answer.receivedAt, drop, watch });
  };

  const fetchRow = async (
    marketId: string,
    signal: AbortSignal,
  ): Promise<{ row: MarketRow; context: ParseContext } | null> => {
    const answer = await client.findMarket(marketId, signal);
    if (answer === null) return null;
    if (!watch.market.check(answer.json, isMarketRow)) {
      if (typeof answer.json !== "object" || answer.json === null) throw badBody("a market");
      drop("bad_market_row");
      return null;
    }
    if (isGroupRow(answer.json)) return null;
    return { row: answer.json, context: { venue, receivedAt: answer.receivedAt, drop, watch } };
  };

  /** Slug of the open group that a child belongs to; null when no open group has it. */
  const findGroupSlug = async (childSlug: string, signal: AbortSignal): Promise<string | null> => {
    const { json } = await client.listSlugs(signal);
    if (!Array.isArray(json)) throw badBody("a list of slugs");
    for (const row of json) {
      if (isSlugRow(row) && row.markets?.some((child) => child.slug === childSlug)) return row.slug;
    }
    return null;
  };

  const getMarkets = async (listings: readonly Wanted[], signal: AbortSignal): Promise<ListingPage> => {
    const markets = new Map<string, MarketSnapshot>();
    const events: EventListing[] = [];
    const requestedAt = clock.now();
    const wantedIds = new Set(listings.map((listing) => listing.marketId));
    for (const groupSlug of new Set(listings.flatMap((listing) => listing.venueKeys.groupSlug ?? []))) {
      const group = await fetchGroup(groupSlug, signal);
      if (group === null) continue;
      events.push(...group.events);
      for (const market of group.markets) {
        if (wantedIds.has(market.listing.marketId)) markets.set(market.listing.marketId, market);
      }
    }
    for (const listing of listings) {
      if (markets.has(listing.marketId)) continue;
      const one = await fetchRow(listing.marketId, signal);
      const market = one === null ? null : parseMarket(one.row, parentOf(listing), one.context);
      if (market !== null) markets.set(listing.marketId, market);
    }
    return { markets: [...markets.values()], events, totalRows: null, requestedAt };
  };

  /** A child does not name its group, so an unknown one is looked up in the list of slugs and read with its group. */
  const findMarket = async (marketId: string, signal: AbortSignal): Promise<ListingPage | null> => {
    const requestedAt = clock.now();
    const one = await fetchRow(marketId, signal);
    if (one === null) return null;
    const groupSlug = isChildRow(one.row) ? await findGroupSlug(one.row.slug, signal) : null;
    const group = groupSlug === null ? null : await fetchGroup(groupSlug, signal);
    const inGroup = group?.markets.filter((market) => market.listing.venueKeys.slug === one.row.slug) ?? [];
    if (group !== null && inGroup.length > 0) {
      return { markets: inGroup, events: group.events, totalRows: null, requestedAt };
    }
    const market = parseMarket(one.row, null, one.context);
    return market === null ? null : { markets: [market], events: [], totalRows: null, requestedAt };
  };

  return { getMarkets, findMarket };
}

/** The group that an earlier listing told us of. */
function parentOf(listing: Wanted): Parent | null {
  const { groupSlug, groupTitle } = listing.venueKeys;
  return groupSlug === undefined ? null : { slug: groupSlug, title: groupTitle ?? groupSlug, row: null };
}
