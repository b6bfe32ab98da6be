import { VenueError } from "../../domain/errors.ts";
import type { EventListing, MarketListing, MarketSnapshot } from "../../domain/market.ts";
import type { ListingPage } from "../../ports/venue.ts";
import { urlOf } from "./client.ts";
import type { PolymarketContext } from "./context.ts";
import { isSoleMarket } from "./listing.ts";
import { type MarketSurroundings, type ParseContext, parseEvent, parseMarket } from "./parse-market.ts";
import { listOf, textOf } from "./parse-values.ts";
import type { ResolutionReader } from "./resolutions.ts";
import { type GammaEvent, type GammaMarket, isGammaEvent, isGammaMarket, isMarketsPage } from "./wire.ts";

/** Ids of one request; the page cap of the listing. */
const IDS_MAX = 100;
const MARKET_ID = /^[1-9][0-9]{0,18}$/;

interface Row {
  readonly market: GammaMarket;
  readonly event: GammaEvent | null;
  readonly isSole: boolean;
  /** The event came with everything the events endpoint says. */
  readonly isWholeEvent: boolean;
}

export interface SnapshotReader {
  getMarkets(
    listings: readonly Pick<MarketListing, "marketId" | "venueKeys">[],
    signal: AbortSignal,
  ): Promise<ListingPage>;
  findMarket(marketId: string, signal: AbortSignal): Promise<ListingPage | null>;
}

/** Present state of markets by id, whether they trade, wait or are settled. */
export function createSnapshotReader(context: PolymarketContext, resolutions: ResolutionReader): SnapshotReader {
  const { ports, urls, clients } = context;

  /** The keyset listing shows open or closed markets, so what the first does not have is asked of the second. */
  const fetchRows = async (ids: readonly string[], closed: boolean, signal: AbortSignal) => {
    const query = { id: ids, closed, include_tag: true, limit: IDS_MAX };
    const answer = await clients.gamma.fetchJson(urlOf(urls.gammaUrl, "/markets/keyset", query), { signal });
    if (!ports.detectors.page.check(answer.json, isMarketsPage))
      throw new VenueError("bad_body", "the market listing is not of the known shape", { retryable: false });
    const wanted = new Set(ids);
    const rows = answer.json.markets.filter((row): row is GammaMarket => {
      const fits = ports.detectors.market.check(row, isGammaMarket);
      if (!fits) ports.drop("bad_row");
      return fits && wanted.has(String(row.id));
    });
    return { rows, requestedAt: answer.requestedAt, receivedAt: answer.receivedAt };
  };

  const snapshotsOf = async (
    rows: readonly Row[],
    requestedAt: number,
    receivedAt: number,
    signal: AbortSignal,
  ): Promise<ListingPage> => {
    const parse: ParseContext = { venue: ports.id, receivedAt, drop: ports.drop, detectors: ports.detectors };
    const asked = rows
      .filter(({ market }) => mayBeResolving(market))
      .flatMap(({ market }) => textOf(market.conditionId) ?? []);
    const facts = await resolutions.fetchByCondition(asked, signal);
    const markets: MarketSnapshot[] = [];
    const events = new Map<string, EventListing>();
    for (const row of rows) {
      const resolution = facts.get(textOf(row.market.conditionId) ?? "") ?? null;
      const around: MarketSurroundings = { event: row.event, isSole: row.isSole, resolution };
      const snapshot = parseMarket(row.market, around, parse);
      if (snapshot === null) continue;
      markets.push(snapshot);
      const event = row.event === null ? null : parseEvent(row.event, ports.id, row.isWholeEvent);
      if (event !== null) events.set(event.eventId, event);
    }
    return { markets, events: [...events.values()], totalRows: null, requestedAt };
  };

  /** The event with all that groups its markets, or null when the venue does not know it. */
  const fetchEvent = async (eventId: string, signal: AbortSignal): Promise<GammaEvent | null> => {
    const url = urlOf(urls.gammaUrl, `/events/${encodeURIComponent(eventId)}`);
    const { status, json } = await clients.gamma.fetchJson(url, { signal, accept: [404, 422] });
    return status < 400 && ports.detectors.event.check(json, isGammaEvent) ? json : null;
  };

  return {
    async getMarkets(listings, signal) {
      const keys = new Map(
        listings.filter(({ marketId }) => MARKET_ID.test(marketId)).map((each) => [each.marketId, each.venueKeys]),
      );
      const pages: ListingPage[] = [];
      const ids = [...keys.keys()];
      for (let start = 0; start < ids.length; start += IDS_MAX) {
        const chunk = ids.slice(start, start + IDS_MAX);
        const open = await fetchRows(chunk, false, signal);
        const found = new Set(open.rows.map((row) => String(row.id)));
        const missing = chunk.filter((id) => !found.has(id));
        const closed = missing.length === 0 ? null : await fetchRows(missing, true, signal);
        const rows = [...open.rows, ...(closed?.rows ?? [])].map((market): Row => {
          const event = shortEventOf(market);
          // Event tags come on the market itself here; the event inside it has none.
          const tagged = event === null ? null : { ...event, tags: event.tags ?? market.tags };
          return { market, event: tagged, isSole: keys.get(String(market.id))?.isSole === "1", isWholeEvent: false };
        });
        pages.push(await snapshotsOf(rows, open.requestedAt, closed?.receivedAt ?? open.receivedAt, signal));
      }
      return {
        markets: pages.flatMap((page) => page.markets),
        events: [...new Map(pages.flatMap((page) => page.events).map((event) => [event.eventId, event])).values()],
        totalRows: null,
        requestedAt: pages[0]?.requestedAt ?? ports.clock.now(),
      };
    },

    async findMarket(marketId, signal) {
      if (!MARKET_ID.test(marketId)) return null;
      const accept = [404, 422];
      const url = urlOf(urls.gammaUrl, `/markets/${encodeURIComponent(marketId)}`, { include_tag: true });
      const answer = await clients.gamma.fetchJson(url, { signal, accept });
      const market = answer.json;
      if (answer.status >= 400) return null;
      if (!ports.detectors.market.check(market, isGammaMarket) || String(market.id) !== marketId) {
        throw new VenueError("bad_body", "the market is not of the known shape or not the one asked for", {
          retryable: false,
        });
      }
      const short = shortEventOf(market);
      const whole = short === null ? null : await fetchEvent(String(short.id), signal);
      const row: Row = {
        market,
        event: whole ?? short,
        isSole: whole !== null && isSoleMarket(whole),
        isWholeEvent: whole !== null,
      };
      const page = await snapshotsOf([row], answer.requestedAt, answer.receivedAt, signal);
      return page.markets.length === 0 ? null : page;
    },
  };
}

function shortEventOf(market: GammaMarket): GammaEvent | null {
  const first = listOf(market.events)?.[0];
  return isGammaEvent(first) ? first : null;
}

/** Asked of the oracle only where it can have something to say. */
function mayBeResolving(market: GammaMarket): boolean {
  return market.closed === true || textOf(market.umaResolutionStatus) !== null;
}
