import { VenueError } from "../../domain/errors.ts";
import type { EventListing, MarketSnapshot } from "../../domain/market.ts";
import type { ListingPage } from "../../ports/venue.ts";
import { idsOf, walkPages } from "../shared/page-walk.ts";
import type { VenueResponse } from "../shared/venue-client.ts";
import { urlOf } from "./client.ts";
import type { PolymarketContext } from "./context.ts";
import { type ParseContext, parseEvent, parseMarket } from "./parse-market.ts";
import { listOf } from "./parse-values.ts";
import { type GammaEvent, type GammaMarket, isEventsPage, isGammaEvent, isGammaMarket } from "./wire.ts";

/** Events asked for at once: the venue gives up to 500 and clamps in silence; a page of 200 is a few megabytes. */
const PAGE_SIZES = [200, 50, 10] as const;
/** Events with this many markets tell by themselves whether a field has gone; most have one or two. */
const WATCHED_AS_PAGE_MIN = 20;
/** 200,000 events. */
const PAGES_MAX = 1_000;

/**
 * Every open event with its markets, which costs a fraction of the requests that the market listing does (100 a page) and
 * tells of groups in the same pass. Settled markets of open events are left out.
 */
export async function* listOpenEvents(context: PolymarketContext, signal: AbortSignal): AsyncGenerator<ListingPage> {
  const { id: venue, drop, detectors } = context.ports;
  const walk = walkPages({
    fetch: async (cursor) => {
      const { json, requestedAt, receivedAt } = await fetchPage(context, cursor, signal);
      if (!detectors.page.check(json, isEventsPage))
        throw new VenueError("bad_body", "the event listing is not of the known shape", { retryable: false });
      return { events: json.events, next: json.next_cursor ?? "", requestedAt, receivedAt };
    },
    nextOf: ({ next }) => (next === "" ? null : next),
    idsOf: ({ events }) => idsOf(events, "id"),
    rowsOf: ({ events }) => events.length,
    ahead: true,
    pagesMax: PAGES_MAX,
    drop,
  });
  for await (const { page, cut } of walk) {
    const { events, requestedAt, receivedAt } = page;
    const listing = parseEventsPage(events, requestedAt, { venue, receivedAt, drop, detectors });
    yield cut === null ? listing : { ...listing, incompleteReason: cut };
  }
}

/** A page that is too large for us is asked for again in smaller pieces; the cursor stays good. */
async function fetchPage(
  context: PolymarketContext,
  cursor: string | null,
  signal: AbortSignal,
): Promise<VenueResponse> {
  for (const [attempt, limit] of PAGE_SIZES.entries()) {
    const url = urlOf(context.urls.gammaUrl, "/events/keyset", {
      closed: false,
      limit,
      ...(cursor === null ? {} : { after_cursor: cursor }),
    });
    try {
      return await context.clients.gamma.fetchJson(url, { signal });
    } catch (error) {
      const isTooLarge = error instanceof VenueError && error.failure === "bad_body" && !error.retryable;
      if (!isTooLarge || attempt === PAGE_SIZES.length - 1) throw error;
    }
  }
  throw new VenueError("bad_body", "no page size is left to try", { retryable: false });
}

function parseEventsPage(rows: readonly unknown[], requestedAt: number, parse: ParseContext): ListingPage {
  const markets: MarketSnapshot[] = [];
  const events: EventListing[] = [];
  parse.detectors.event.startPage(rows);
  for (const row of rows) {
    if (!parse.detectors.event.check(row, isGammaEvent)) {
      parse.drop("bad_row");
      continue;
    }
    const event = parseEvent(row, parse.venue, true);
    if (event !== null) events.push(event);
    for (const market of marketsOfEvent(row, parse)) {
      if (market.closed === true) continue;
      const snapshot = parseMarket(market, { event: row, isSole: isSoleMarket(row), resolution: null }, parse);
      if (snapshot !== null) markets.push(snapshot);
    }
  }
  return { markets, events, totalRows: null, requestedAt };
}

/** The market rows nested in an event; what is not one is counted. */
function marketsOfEvent(event: GammaEvent, parse: ParseContext): GammaMarket[] {
  const rows = listOf(event.markets) ?? [];
  if (rows.length >= WATCHED_AS_PAGE_MIN) parse.detectors.market.startPage(rows);
  return rows.flatMap((market) => {
    if (parse.detectors.market.check(market, isGammaMarket)) return [market];
    parse.drop("bad_row");
    return [];
  });
}

export function isSoleMarket(event: GammaEvent): boolean {
  return listOf(event.markets)?.length === 1;
}
