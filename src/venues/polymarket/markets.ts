import type { EventListing, MarketListing, MarketSnapshot } from "../../domain/market.ts";
import { chunksOf } from "../../lib/chunks.ts";
import type { ListingPage } from "../../ports/venue.ts";
import { createBadBodyError, type PolymarketContext } from "./client.ts";
import { hasSingleMarket } from "./listing.ts";
import { parseEvent, parseMarket } from "./parse-market.ts";
import { oracleStateOfRow } from "./parse-resolution.ts";
import { parseList, parseText } from "./parse-values.ts";
import { fetchResolutions } from "./resolutions.ts";
import { type GammaEvent, type GammaMarket, isGammaEvent, isGammaMarket, isMarketsPage } from "./wire.ts";

/** Maximum ids per request, set by the venue. */
const IDS_MAX = 100;
const MARKET_ID_PATTERN = /^[1-9][0-9]{0,18}$/;

interface Row {
  readonly market: GammaMarket;
  readonly event: GammaEvent | null;
  readonly isSole: boolean;
  /** Whether the event comes from the events endpoint and has all its fields. */
  readonly isCompleteEvent: boolean;
}

/** Returns the current state of markets by id. */
export async function getMarkets(
  context: PolymarketContext,
  listings: readonly Pick<MarketListing, "marketId" | "venueKeys">[],
  signal: AbortSignal,
): Promise<ListingPage> {
  const keys = new Map(
    listings
      .filter(({ marketId }) => MARKET_ID_PATTERN.test(marketId))
      .map(({ marketId, venueKeys }) => [marketId, venueKeys]),
  );
  const pages: ListingPage[] = [];
  for (const ids of chunksOf([...keys.keys()], IDS_MAX)) {
    // A request returns either open or closed markets.
    const open = await fetchRows(context, ids, false, signal);
    const openIds = new Set(open.rows.map((row) => String(row.id)));
    const missingIds = ids.filter((id) => !openIds.has(id));
    const closed = missingIds.length === 0 ? null : await fetchRows(context, missingIds, true, signal);
    const rows = [...open.rows, ...(closed?.rows ?? [])].map((market): Row => {
      const short = shortEventOf(market);
      // In this response, the event's tags are on the market row.
      const event = short === null ? null : { ...short, tags: short.tags ?? market.tags };
      return { market, event, isSole: keys.get(String(market.id))?.isSole === "1", isCompleteEvent: false };
    });
    const returnedIds = new Set(rows.map(({ market }) => String(market.id)));
    const absentCount = ids.filter((id) => !returnedIds.has(id)).length;
    if (absentCount > 0) context.countDrop("missing", absentCount);
    pages.push(await toListingPage(context, rows, open.requestedAt, closed?.receivedAt ?? open.receivedAt, signal));
  }
  return {
    markets: pages.flatMap((page) => page.markets),
    events: [...new Map(pages.flatMap((page) => page.events).map((event) => [event.eventId, event])).values()],
    requestedAt: pages[0]?.requestedAt ?? context.clock.now(),
  };
}

export async function findMarket(
  context: PolymarketContext,
  marketId: string,
  signal: AbortSignal,
): Promise<ListingPage | null> {
  if (!MARKET_ID_PATTERN.test(marketId)) return null;
  const call = { query: { include_tag: true }, signal, accept: [404, 422] };
  const response = await context.gamma.fetchJson(`/markets/${encodeURIComponent(marketId)}`, call);
  if (response.status >= 400) return null;
  const market = response.json;
  if (!context.driftDetectors.market.check(market, isGammaMarket) || String(market.id) !== marketId) {
    throw createBadBodyError("the market has an unknown shape or another id");
  }
  const short = shortEventOf(market);
  const complete = short === null ? null : await fetchEvent(context, String(short.id), signal);
  const row: Row = {
    market,
    event: complete ?? short,
    isSole: complete !== null && hasSingleMarket(complete),
    isCompleteEvent: complete !== null,
  };
  const page = await toListingPage(context, [row], response.requestedAt, response.receivedAt, signal);
  return page.markets.length === 0 ? null : page;
}

async function fetchRows(
  { gamma, driftDetectors, countDrop }: PolymarketContext,
  ids: readonly string[],
  closed: boolean,
  signal: AbortSignal,
) {
  const query = { id: ids, closed, include_tag: true, limit: IDS_MAX };
  const { json, requestedAt, receivedAt } = await gamma.fetchJson("/markets/keyset", { query, signal });
  if (!driftDetectors.page.check(json, isMarketsPage))
    throw createBadBodyError("the market listing has an unknown shape");
  const requested = new Set(ids);
  const rows = driftDetectors.market.filter(json.markets, isGammaMarket, () => countDrop("bad_row"));
  return { rows: rows.filter(({ id }) => requested.has(String(id))), requestedAt, receivedAt };
}

/** Returns the event with all its fields, or null if the venue does not have it. */
async function fetchEvent(
  { gamma, driftDetectors }: PolymarketContext,
  eventId: string,
  signal: AbortSignal,
): Promise<GammaEvent | null> {
  const path = `/events/${encodeURIComponent(eventId)}`;
  const { status, json } = await gamma.fetchJson(path, { signal, accept: [404, 422] });
  return status < 400 && driftDetectors.event.check(json, isGammaEvent) ? json : null;
}

async function toListingPage(
  context: PolymarketContext,
  rows: readonly Row[],
  requestedAt: number,
  receivedAt: number,
  signal: AbortSignal,
): Promise<ListingPage> {
  const conditionIds = rows
    .filter(({ market }) => mayBeResolving(market))
    .flatMap(({ market }) => parseText(market.conditionId) ?? []);
  const resolutions = await fetchResolutions(context, conditionIds, signal);
  const markets: MarketSnapshot[] = [];
  const events = new Map<string, EventListing>();
  for (const row of rows) {
    const resolution = resolutions.get(parseText(row.market.conditionId) ?? "") ?? null;
    const related = { event: row.event, isSole: row.isSole, resolution };
    const snapshot = parseMarket(row.market, related, { ...context, receivedAt });
    if (snapshot === null) continue;
    markets.push(snapshot);
    const event = row.event === null ? null : parseEvent(row.event, context.id, row.isCompleteEvent);
    if (event !== null) events.set(event.eventId, event);
  }
  return { markets, events: [...events.values()], requestedAt };
}

function shortEventOf(market: GammaMarket): GammaEvent | null {
  const first = parseList(market.events)?.[0];
  return isGammaEvent(first) ? first : null;
}

/** Returns whether the oracle's feed may have a row for the market. */
function mayBeResolving(market: GammaMarket): boolean {
  return market.closed === true || market.acceptingOrders === false || oracleStateOfRow(market) !== null;
}
