import type { EventListing, MarketListing, MarketSnapshot } from "../../domain/market.ts";
import type { ListingPage } from "../../ports/venue.ts";
import type { KalshiPorts } from "./client.ts";
import { expectShape, type KalshiClient, type Page } from "./client.ts";
import type { EventCache } from "./event-cache.ts";
import { parseMarket } from "./parse.ts";
import { isMarket, isMarketsPage, isOneMarket, isTicker, type MarketWire } from "./wire.ts";

const MARKETS_PER_PAGE = 1_000;
const PAGES_MAX = 1_000;
const TICKERS_PER_REQUEST = 100;
/** The list takes one status at a time, in other words than the rows have. */
const OPEN_STATUSES = ["open", "paused", "unopened"] as const;

export interface MarketsOptions {
  readonly client: KalshiClient;
  readonly events: EventCache;
  readonly ports: Pick<KalshiPorts, "id" | "drop" | "clock" | "detectors">;
}

/** Open, paused and unopened markets, page by page; an event is told with the first of its markets. */
export async function* listOpenMarkets(options: MarketsOptions, signal: AbortSignal): AsyncGenerator<ListingPage> {
  const told = new Set<string>();
  await options.events.refresh(signal);
  for (const status of OPEN_STATUSES) {
    // Combos are minted by the hundred thousand and are no questions of their own.
    const query = { status, limit: MARKETS_PER_PAGE, mve_filter: "exclude" };
    for await (const page of marketPages(options, "/markets", query, PAGES_MAX, signal)) {
      yield await toListingPage(options, page, told, signal);
    }
  }
}

/** Present state of markets by ticker; those that left the live tier are looked up in the historical one. */
export async function getMarkets(
  options: MarketsOptions,
  listings: readonly Pick<MarketListing, "marketId">[],
  signal: AbortSignal,
): Promise<ListingPage> {
  const wanted = new Set(listings.map(({ marketId }) => marketId).filter(isTicker));
  const tickers = [...wanted];
  const found: ListingPage[] = [];
  for (let start = 0; start < tickers.length; start += TICKERS_PER_REQUEST) {
    const chunk = tickers.slice(start, start + TICKERS_PER_REQUEST);
    const missing = new Set(chunk);
    for (const path of ["/markets", "/historical/markets"]) {
      if (missing.size === 0) break;
      const query = { tickers: [...missing].join(","), limit: MARKETS_PER_PAGE };
      for await (const page of marketPages(options, path, query, 1, signal)) {
        const answer = await toListingPage(options, page, new Set(), signal);
        for (const { listing } of answer.markets) missing.delete(listing.marketId);
        found.push(answer);
      }
    }
  }
  const events = new Map(found.flatMap((page) => page.events).map((event) => [event.eventId, event]));
  return {
    markets: found.flatMap((page) => page.markets).filter(({ listing }) => wanted.has(listing.marketId)),
    events: [...events.values()],
    totalRows: null,
    requestedAt: found.reduce((first, page) => Math.min(first, page.requestedAt), options.ports.clock.now()),
  };
}

/** One market by ticker, live or historical; null when neither tier knows it. */
export async function findMarket(
  options: MarketsOptions,
  ticker: string,
  signal: AbortSignal,
): Promise<ListingPage | null> {
  if (!isTicker(ticker)) return null;
  for (const tier of ["/markets", "/historical/markets"]) {
    const path = `${tier}/${encodeURIComponent(ticker)}`;
    const answer = await options.client.get(path, {}, signal, [404]);
    if (answer.status === 404) continue;
    const { market } = expectShape(answer.json, isOneMarket, path);
    const page = await toListingPage(options, { ...answer, rows: [market], cut: null }, new Set(), signal);
    return page.markets.length === 0 ? null : page;
  }
  return null;
}

function marketPages(
  { client }: MarketsOptions,
  path: string,
  query: Readonly<Record<string, string | number>>,
  pagesMax: number,
  signal: AbortSignal,
): AsyncGenerator<Page> {
  const shape = { path, query, isEnvelope: isMarketsPage, idField: "ticker", pagesMax, ahead: true };
  return client.pages({ ...shape, rowsOf: ({ markets }) => markets }, signal);
}

/** @param told events that were already given out; grows */
async function toListingPage(
  { events, ports }: MarketsOptions,
  page: Page,
  told: Set<string>,
  signal: AbortSignal,
): Promise<ListingPage> {
  const rows: MarketWire[] = [];
  ports.detectors.market.startPage(page.rows);
  for (const row of page.rows) {
    if (ports.detectors.market.check(row, isMarket)) rows.push(row);
    else ports.drop("bad_market");
  }
  await events.ensure(
    rows.map((row) => row.event_ticker),
    signal,
  );
  const markets: MarketSnapshot[] = [];
  const listings: EventListing[] = [];
  for (const row of rows) {
    const event = events.find(row.event_ticker);
    const market = parseMarket(row, { venue: ports.id, event, receivedAt: page.receivedAt, drop: ports.drop });
    if (market === null) continue;
    markets.push(market);
    if (event === null || told.has(row.event_ticker)) continue;
    told.add(row.event_ticker);
    listings.push(event.listing);
  }
  const { requestedAt, cut } = page;
  return {
    markets,
    events: listings,
    totalRows: null,
    requestedAt,
    ...(cut === null ? {} : { incompleteReason: cut }),
  };
}
