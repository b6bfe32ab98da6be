import type { EventListing, MarketListing, MarketSnapshot } from "../../domain/market.ts";
import { chunksOf } from "../../lib/chunks.ts";
import type { ListingPage } from "../../ports/venue.ts";
import { expectShape, type KalshiContext, listPages, type Page } from "./client.ts";
import type { EventCache } from "./event-cache.ts";
import { parseMarket } from "./parse-market.ts";
import { isMarket, isMarketResponse, isMarketsPage, isTicker } from "./wire.ts";

const MARKETS_PER_PAGE = 1_000;
const PAGES_MAX = 1_000;
/** Maximum number of pages per read of the changes. About 74,000 markets settle per day, so a page covers minutes. */
const CHANGES_PAGES_MAX = 100;
const TICKERS_PER_REQUEST = 100;
/**
 * Values of the request's `status` filter, which accepts one value. They differ from the values of the `status` field.
 */
const OPEN_STATUSES = ["open", "paused", "unopened"] as const;

export interface ListingContext extends KalshiContext {
  readonly events: EventCache;
}

/** Yields open, paused and unopened markets by page. Each event is included once, on the page of its first market. */
export async function* listOpenMarkets(context: ListingContext, signal: AbortSignal): AsyncGenerator<ListingPage> {
  const listedEvents = new Set<string>();
  await context.events.refresh(signal);
  for (const status of OPEN_STATUSES) {
    // Combos are excluded, because there are hundreds of thousands and they only combine other markets.
    const query = { status, limit: MARKETS_PER_PAGE, mve_filter: "exclude" };
    for await (const page of listMarketPages(context, "/markets", query, PAGES_MAX, signal)) {
      yield await toListingPage(context, page, listedEvents, signal);
    }
  }
}

/**
 * Yields the markets whose listing changed at or after `sinceMs`: created, opened, closed, determined, settled. Trading
 * does not count as a change.
 */
export async function* listChangedMarkets(
  context: ListingContext,
  sinceMs: number,
  signal: AbortSignal,
): AsyncGenerator<ListingPage> {
  const listedEvents = new Set<string>();
  await context.events.refresh(signal);
  // The venue allows no status filter together with `min_updated_ts`.
  const query = { min_updated_ts: Math.floor(sinceMs / 1_000), limit: MARKETS_PER_PAGE, mve_filter: "exclude" };
  for await (const page of listMarketPages(context, "/markets", query, CHANGES_PAGES_MAX, signal)) {
    yield await toListingPage(context, page, listedEvents, signal);
  }
}

/**
 * Returns the current state of markets by ticker. Reads markets that are not in the live tier from the historical tier.
 */
export async function getMarkets(
  context: ListingContext,
  listings: readonly Pick<MarketListing, "marketId">[],
  signal: AbortSignal,
): Promise<ListingPage> {
  const requested = new Set(listings.map(({ marketId }) => marketId).filter(isTicker));
  const pages: ListingPage[] = [];
  for (const tickers of chunksOf([...requested], TICKERS_PER_REQUEST)) {
    const missing = new Set(tickers);
    for (const path of ["/markets", "/historical/markets"]) {
      if (missing.size === 0) break;
      const query = { tickers: [...missing].join(","), limit: MARKETS_PER_PAGE };
      for await (const page of listMarketPages(context, path, query, 1, signal)) {
        const listingPage = await toListingPage(context, page, new Set(), signal);
        for (const { listing } of listingPage.markets) missing.delete(listing.marketId);
        pages.push(listingPage);
      }
    }
  }
  const events = new Map(pages.flatMap((page) => page.events).map((event) => [event.eventId, event]));
  return {
    markets: pages.flatMap((page) => page.markets).filter(({ listing }) => requested.has(listing.marketId)),
    events: [...events.values()],
    requestedAt: pages.reduce((first, page) => Math.min(first, page.requestedAt), context.clock.now()),
  };
}

/** Returns a market by ticker from the live or the historical tier, or null if neither has it. */
export async function findMarket(
  context: ListingContext,
  ticker: string,
  signal: AbortSignal,
): Promise<ListingPage | null> {
  if (!isTicker(ticker)) return null;
  for (const tier of ["/markets", "/historical/markets"]) {
    const path = `${tier}/${encodeURIComponent(ticker)}`;
    const response = await context.client.fetchJson(path, { signal, accept: [404] });
    if (response.status === 404) continue;
    const { market } = expectShape(response.json, isMarketResponse, path);
    const row = { ...response, rows: [market], incompleteReason: null };
    const page = await toListingPage(context, row, new Set(), signal);
    return page.markets.length === 0 ? null : page;
  }
  return null;
}

function listMarketPages(
  context: ListingContext,
  path: string,
  query: Readonly<Record<string, string | number>>,
  pagesMax: number,
  signal: AbortSignal,
): AsyncGenerator<Page> {
  const request = { path, query, isEnvelope: isMarketsPage, idField: "ticker", pagesMax, prefetch: true };
  return listPages(context, { ...request, rowsOf: ({ markets }) => markets }, signal);
}

/** @param listedEvents tickers of events that earlier pages listed; the events of this page are added */
async function toListingPage(
  { id: venue, events, driftDetectors, countDrop, feeRounding }: ListingContext,
  { rows, receivedAt, requestedAt, incompleteReason }: Page,
  listedEvents: Set<string>,
  signal: AbortSignal,
): Promise<ListingPage> {
  driftDetectors.market.startPage(rows);
  const marketRows = driftDetectors.market.filter(rows, isMarket, () => countDrop("bad_market"));
  const eventTickers = marketRows.map((row) => row.event_ticker);
  await events.ensure(eventTickers, signal);
  const markets: MarketSnapshot[] = [];
  const eventListings: EventListing[] = [];
  for (const row of marketRows) {
    const event = events.find(row.event_ticker);
    const market = parseMarket(row, { venue, event, receivedAt, countDrop, feeRounding });
    if (market === null) continue;
    markets.push(market);
    if (event === null || listedEvents.has(row.event_ticker)) continue;
    listedEvents.add(row.event_ticker);
    eventListings.push(event.listing);
  }
  return { markets, events: eventListings, requestedAt, incompleteReason };
}
