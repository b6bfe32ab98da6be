import type { EventListing, MarketListing, MarketSnapshot } from "../../domain/market.ts";
import { chunksOf } from "../../lib/chunks.ts";
import type { ListingPage } from "../../ports/venue.ts";
import { expectShape, type KalshiClient, type KalshiPorts, type Page } from "./client.ts";
import type { EventCache } from "./event-cache.ts";
import { parseMarket } from "./parse-market.ts";
import { isMarket, isMarketsPage, isOneMarket, isTicker, type MarketWire } from "./wire.ts";

const MARKETS_PER_PAGE = 1_000;
const PAGES_MAX = 1_000;
/**
 * Limit of pages per read of the changes. About 74,000 markets settle a day, so a page holds the changes of minutes.
 */
const CHANGES_PAGES_MAX = 100;
const TICKERS_PER_REQUEST = 100;
/**
 * Values of the request's `status` filter, which accepts one value. They differ from the values of the `status` field.
 */
const OPEN_STATUSES = ["open", "paused", "unopened"] as const;

export interface ListingOptions {
  readonly client: KalshiClient;
  readonly events: EventCache;
  readonly ports: Pick<KalshiPorts, "id" | "countDrop" | "clock" | "driftDetectors" | "feeRounding">;
}

/** Yields open, paused and unopened markets by page. Each event is included once, on the page of its first market. */
export async function* listOpenMarkets(options: ListingOptions, signal: AbortSignal): AsyncGenerator<ListingPage> {
  const listedEvents = new Set<string>();
  await options.events.refresh(signal);
  for (const status of OPEN_STATUSES) {
    // Combos are excluded, because there are hundreds of thousands of them and they only combine other markets.
    const query = { status, limit: MARKETS_PER_PAGE, mve_filter: "exclude" };
    for await (const page of listMarketPages(options, "/markets", query, PAGES_MAX, signal)) {
      yield await toListingPage(options, page, listedEvents, signal);
    }
  }
}

/**
 * Yields the markets whose listing changed at or after `sinceMs`: created, opened, closed, determined, settled. Trading
 * does not count as a change.
 */
export async function* listChangedMarkets(
  options: ListingOptions,
  sinceMs: number,
  signal: AbortSignal,
): AsyncGenerator<ListingPage> {
  const listedEvents = new Set<string>();
  await options.events.refresh(signal);
  // The venue allows no status filter together with `min_updated_ts`.
  const query = { min_updated_ts: Math.floor(sinceMs / 1_000), limit: MARKETS_PER_PAGE, mve_filter: "exclude" };
  for await (const page of listMarketPages(options, "/markets", query, CHANGES_PAGES_MAX, signal)) {
    yield await toListingPage(options, page, listedEvents, signal);
  }
}

/**
 * Returns the current state of markets by ticker. Reads markets that are not in the live tier from the historical tier.
 */
export async function getMarkets(
  options: ListingOptions,
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
      for await (const page of listMarketPages(options, path, query, 1, signal)) {
        const listingPage = await toListingPage(options, page, new Set(), signal);
        for (const { listing } of listingPage.markets) missing.delete(listing.marketId);
        pages.push(listingPage);
      }
    }
  }
  const events = new Map(pages.flatMap((page) => page.events).map((event) => [event.eventId, event]));
  return {
    markets: pages.flatMap((page) => page.markets).filter(({ listing }) => requested.has(listing.marketId)),
    events: [...events.values()],
    totalRows: null,
    requestedAt: pages.reduce((first, page) => Math.min(first, page.requestedAt), options.ports.clock.now()),
  };
}

/** Returns a market by ticker from the live or the historical tier, or null if neither has it. */
export async function findMarket(
  options: ListingOptions,
  ticker: string,
  signal: AbortSignal,
): Promise<ListingPage | null> {
  if (!isTicker(ticker)) return null;
  for (const tier of ["/markets", "/historical/markets"]) {
    const path = `${tier}/${encodeURIComponent(ticker)}`;
    const response = await options.client.get(path, {}, signal, [404]);
    if (response.status === 404) continue;
    const { market } = expectShape(response.json, isOneMarket, path);
    const page = await toListingPage(
      options,
      { ...response, rows: [market], incompleteReason: null },
      new Set(),
      signal,
    );
    return page.markets.length === 0 ? null : page;
  }
  return null;
}

function listMarketPages(
  { client }: ListingOptions,
  path: string,
  query: Readonly<Record<string, string | number>>,
  pagesMax: number,
  signal: AbortSignal,
): AsyncGenerator<Page> {
  return client.pages(
    {
      path,
      query,
      isEnvelope: isMarketsPage,
      rowsOf: ({ markets }) => markets,
      idField: "ticker",
      pagesMax,
      prefetch: true,
    },
    signal,
  );
}

/** @param listedEvents tickers of events that earlier pages listed; the events of this page are added */
async function toListingPage(
  { events, ports }: ListingOptions,
  page: Page,
  listedEvents: Set<string>,
  signal: AbortSignal,
): Promise<ListingPage> {
  const rows: MarketWire[] = [];
  ports.driftDetectors.market.startPage(page.rows);
  for (const row of page.rows) {
    if (ports.driftDetectors.market.check(row, isMarket)) rows.push(row);
    else ports.countDrop("bad_market");
  }
  await events.ensure(
    rows.map((row) => row.event_ticker),
    signal,
  );
  const markets: MarketSnapshot[] = [];
  const eventListings: EventListing[] = [];
  for (const row of rows) {
    const event = events.find(row.event_ticker);
    const market = parseMarket(row, {
      venue: ports.id,
      event,
      receivedAt: page.receivedAt,
      countDrop: ports.countDrop,
      feeRounding: ports.feeRounding,
    });
    if (market === null) continue;
    markets.push(market);
    if (event === null || listedEvents.has(row.event_ticker)) continue;
    listedEvents.add(row.event_ticker);
    eventListings.push(event.listing);
  }
  const listing = {
    markets,
    events: eventListings,
    totalRows: null,
    requestedAt: page.requestedAt,
  };
  return page.incompleteReason === null ? listing : { ...listing, incompleteReason: page.incompleteReason };
}
