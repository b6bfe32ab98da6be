import type { EventListing, MarketListing, MarketSnapshot } from "../../domain/market.ts";
import { parseDecimal } from "../../domain/price.ts";
import type { ListingPage } from "../../ports/venue.ts";
import { walkPages } from "../shared/page-walk.ts";
import { createBadBodyError, LIST_ROWS_MAX, type LimitlessContext } from "./client.ts";
import {
  isChildRow,
  isGroupRow,
  type ParentGroup,
  type ParseContext,
  type ParsedRows,
  parseMarket,
  parseRows,
} from "./parse-market.ts";
import { isActivePage, isMarketRow, isSlugRow, type MarketRow } from "./wire.ts";

/** Maximum number of pages per sweep, which have 100,000 rows. The venue has about 850 rows. */
const LIST_PAGES_MAX = 4_000;

/** Yields every open market, newest first. */
export async function* listOpenMarkets(context: LimitlessContext, signal: AbortSignal): AsyncGenerator<ListingPage> {
  const { client, driftDetectors } = context;
  const pages = walkPages({
    fetch: async (cursor) => {
      const number = cursor === null ? 1 : Number(cursor);
      const { json, requestedAt, receivedAt } = await client.listActive(number, signal);
      if (!driftDetectors.page.check(json, isActivePage)) throw createBadBodyError("a page of markets");
      return { number, rows: json.data, total: parseDecimal(json.totalMarketsCount), requestedAt, receivedAt };
    },
    nextOf({ number, rows, total }) {
      const isLast = total === null ? rows.length < LIST_ROWS_MAX : number * LIST_ROWS_MAX >= total;
      return isLast || rows.length === 0 ? null : String(number + 1);
    },
    idField: "slug",
    totalOf: ({ total }) => total,
    prefetch: true,
    pagesMax: LIST_PAGES_MAX,
    countDrop: context.countDrop,
  });
  for await (const { page, incompleteReason } of pages) {
    const { markets, events } = parseRows(page.rows, { ...context, receivedAt: page.receivedAt });
    yield { markets, events, totalRows: page.total, requestedAt: page.requestedAt, incompleteReason };
  }
}

/**
 * Returns the current state of single markets by id. The venue does not list closed markets, so each market needs a
 * request. Children of a known group share one request for the group, which includes the data that they inherit.
 */
export async function getMarkets(
  context: LimitlessContext,
  listings: readonly Pick<MarketListing, "marketId" | "venueKeys">[],
  signal: AbortSignal,
): Promise<ListingPage> {
  const markets = new Map<string, MarketSnapshot>();
  const events: EventListing[] = [];
  const requestedAt = context.clock.now();
  const requestedIds = new Set(listings.map((listing) => listing.marketId));
  for (const groupSlug of new Set(listings.flatMap((listing) => listing.venueKeys.groupSlug ?? []))) {
    const group = await fetchGroup(context, groupSlug, signal);
    if (group === null) continue;
    events.push(...group.events);
    for (const market of group.markets) {
      if (requestedIds.has(market.listing.marketId)) markets.set(market.listing.marketId, market);
    }
  }
  for (const listing of listings) {
    if (markets.has(listing.marketId)) continue;
    if (Object.keys(listing.venueKeys).length === 0) {
      // The market is not listed yet, so its group is unknown.
      const page = await findMarket(context, listing.marketId, signal);
      for (const market of page?.markets ?? []) markets.set(market.listing.marketId, market);
      events.push(...(page?.events ?? []));
      continue;
    }
    const found = await fetchRow(context, listing.marketId, signal);
    const market = found === null ? null : parseMarket(found.row, parentOf(listing), found.context);
    if (market !== null) markets.set(listing.marketId, market);
  }
  return { markets: [...markets.values()], events, requestedAt };
}

/** Returns a market by id. A child row does not name its group, so the group is looked up in the list of slugs. */
export async function findMarket(
  context: LimitlessContext,
  marketId: string,
  signal: AbortSignal,
): Promise<ListingPage | null> {
  const requestedAt = context.clock.now();
  const found = await fetchRow(context, marketId, signal);
  if (found === null) return null;
  const { row } = found;
  const groupSlug = isChildRow(row) ? await findGroupSlug(context, row.slug, signal) : null;
  const group = groupSlug === null ? null : await fetchGroup(context, groupSlug, signal);
  const children = group?.markets.filter((market) => market.listing.venueKeys.slug === row.slug) ?? [];
  if (group !== null && children.length > 0) {
    return { markets: children, events: group.events, requestedAt };
  }
  const market = parseMarket(row, null, found.context);
  return market === null ? null : { markets: [market], events: [], requestedAt };
}

async function fetchGroup(context: LimitlessContext, slug: string, signal: AbortSignal): Promise<ParsedRows | null> {
  const response = await context.client.findMarket(slug, signal);
  return response === null ? null : parseRows([response.json], { ...context, receivedAt: response.receivedAt });
}

async function fetchRow(
  context: LimitlessContext,
  marketId: string,
  signal: AbortSignal,
): Promise<{ row: MarketRow; context: ParseContext } | null> {
  const { client, countDrop, driftDetectors } = context;
  const response = await client.findMarket(marketId, signal);
  if (response === null) return null;
  const { json } = response;
  if (!driftDetectors.market.check(json, isMarketRow)) {
    if (typeof json !== "object" || json === null) throw createBadBodyError("a market");
    countDrop("bad_market_row");
    return null;
  }
  if (isGroupRow(json)) return null;
  return { row: json, context: { ...context, receivedAt: response.receivedAt } };
}

/** Returns the slug of the open group that contains the child, or null. */
async function findGroupSlug(
  { client }: LimitlessContext,
  childSlug: string,
  signal: AbortSignal,
): Promise<string | null> {
  const { json } = await client.listSlugs(signal);
  if (!Array.isArray(json)) throw createBadBodyError("a list of slugs");
  for (const row of json) {
    if (isSlugRow(row) && row.markets?.some((child) => child.slug === childSlug)) return row.slug;
  }
  return null;
}

/** Returns the group that was stored in `venueKeys` when the market was listed. */
function parentOf({ venueKeys }: Pick<MarketListing, "venueKeys">): ParentGroup | null {
  const { groupSlug, groupTitle } = venueKeys;
  return groupSlug === undefined ? null : { slug: groupSlug, title: groupTitle ?? groupSlug, row: null };
}
