import { VenueError } from "../../domain/errors.ts";
import type { EventListing, MarketSnapshot } from "../../domain/market.ts";
import type { ListingPage } from "../../ports/venue.ts";
import { walkPages } from "../shared/page-walk.ts";
import type { VenueResponse } from "../shared/venue-client.ts";
import { createBadBodyError, type PolymarketContext } from "./client.ts";
import type { PageSize } from "./page-size.ts";
import { type ParseContext, parseEvent, parseMarket } from "./parse-market.ts";
import { oracleStateOfRow } from "./parse-resolution.ts";
import { parseList } from "./parse-values.ts";
import { type GammaEvent, type GammaMarket, isEventsPage, isGammaEvent, isGammaMarket } from "./wire.ts";

/** Maximum number of timeouts of one page for the sweep to continue. */
const TIMEOUTS_PER_PAGE_MAX = 1;
/** Minimum number of markets in an event for reporting `usually` fields that no market has. */
const MARKETS_PER_PAGE_MIN = 20;
/** Maximum number of pages per sweep, which have 100,000 events at the smallest page size. */
const PAGES_MAX = 10_000;

/**
 * Lists every open event with its markets. This needs far fewer requests than the list of markets (100 per page) and
 * includes the events. Closed markets, and markets settled by the oracle, are omitted. They are read separately,
 * together with their rows of the oracle's feed.
 */
export async function* listOpenMarkets(
  context: PolymarketContext,
  pageSize: PageSize,
  signal: AbortSignal,
): AsyncGenerator<ListingPage> {
  const { driftDetectors, countDrop } = context;
  const walk = walkPages({
    fetch: async (cursor) => {
      const { json, requestedAt, receivedAt } = await fetchPage(context, pageSize, cursor, signal);
      if (!driftDetectors.page.check(json, isEventsPage))
        throw createBadBodyError("the event listing has an unknown shape");
      return { rows: json.events, next: json.next_cursor ?? "", requestedAt, receivedAt };
    },
    nextOf: ({ next }) => (next === "" ? null : next),
    idField: "id",
    prefetch: true,
    pagesMax: PAGES_MAX,
    countDrop,
  });
  for await (const { page, incompleteReason } of walk) {
    const { rows, requestedAt, receivedAt } = page;
    yield { ...parseEventsPage(rows, requestedAt, { ...context, receivedAt }), incompleteReason };
  }
}

/**
 * Fetches a page. If the response is too large, requests fewer and fewer events with the same cursor until it is small
 * enough. If the response is too slow, tries this only once, because each slow request takes minutes.
 */
async function fetchPage(
  { gamma }: PolymarketContext,
  pageSize: PageSize,
  cursor: string | null,
  signal: AbortSignal,
): Promise<VenueResponse> {
  for (let timeouts = 0; ; ) {
    const query = { closed: false, limit: pageSize.current, after_cursor: cursor };
    try {
      const response = await gamma.fetchJson("/events/keyset", { query, signal });
      pageSize.recordSuccess();
      return response;
    } catch (error) {
      const isTooSlow = error instanceof VenueError && error.failure === "timeout";
      const isTooLarge = error instanceof VenueError && error.failure === "bad_body" && !error.retryable;
      if (isTooSlow) timeouts += 1;
      if (!(isTooSlow || isTooLarge) || !pageSize.shrink() || timeouts > TIMEOUTS_PER_PAGE_MAX) throw error;
    }
  }
}

function parseEventsPage(rows: readonly unknown[], requestedAt: number, context: ParseContext): ListingPage {
  const markets: MarketSnapshot[] = [];
  const events: EventListing[] = [];
  context.driftDetectors.event.startPage(rows);
  for (const row of context.driftDetectors.event.filter(rows, isGammaEvent, () => context.countDrop("bad_row"))) {
    const event = parseEvent(row, context.id, true);
    if (event !== null) events.push(event);
    for (const market of marketsOfEvent(row, context)) {
      if (market.closed === true || oracleStateOfRow(market) === "settled") continue;
      const snapshot = parseMarket(market, { event: row, isSole: hasSingleMarket(row), resolution: null }, context);
      if (snapshot !== null) markets.push(snapshot);
    }
  }
  return { markets, events, requestedAt };
}

/** Returns the market rows nested in an event. Invalid rows are counted. */
function marketsOfEvent(event: GammaEvent, { driftDetectors, countDrop }: ParseContext): GammaMarket[] {
  const rows = parseList(event.markets) ?? [];
  if (rows.length >= MARKETS_PER_PAGE_MIN) driftDetectors.market.startPage(rows);
  return driftDetectors.market.filter(rows, isGammaMarket, () => countDrop("bad_row"));
}

export const hasSingleMarket = (event: GammaEvent): boolean => parseList(event.markets)?.length === 1;
