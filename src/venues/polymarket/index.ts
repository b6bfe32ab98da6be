/**
 * Polymarket's public market data in our words: the catalogue from Gamma, books and price history from the CLOB, trades
 * and resolutions from the Data API, live books from the market stream. `README.md` has the endpoints and the oddities.
 */
import { VenueError } from "../../domain/errors.ts";
import type { VenueAdapter, VenueProfile } from "../../ports/venue.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import { createPolymarketClients, type PolymarketUrls, urlOf } from "./client.ts";
import type { PolymarketPorts } from "./context.ts";
import { fetchHistory } from "./history.ts";
import { listOpenEvents } from "./listing.ts";
import { parseBook } from "./parse-book.ts";
import { createResolutionReader } from "./resolutions.ts";
import { createSnapshotReader } from "./snapshots.ts";
import { openMarketStream, STREAM_MARKETS_MAX } from "./stream.ts";
import { createTapeReader } from "./trades.ts";
import { detectPolymarketDrift, isBook } from "./wire.ts";

export { POLYMARKET_LIVE_URLS, type PolymarketUrls } from "./client.ts";

const PROFILE: VenueProfile = {
  sweepPauseMs: 30_000,
  activePollMs: null,
  streamMarketsMax: STREAM_MARKETS_MAX,
  staleAfterMs: 120_000,
  volumeFromTrades: false,
};

/** An adapter for one Polymarket, live or simulated. */
export function createPolymarketVenue(options: VenuePorts & PolymarketUrls): VenueAdapter {
  const clients = createPolymarketClients(options);
  const ports: PolymarketPorts = { ...options, detectors: detectPolymarketDrift(options.drift) };
  const context = { ports, urls: options, clients };
  const resolutions = createResolutionReader(context);
  const snapshots = createSnapshotReader(context, resolutions);
  const tape = createTapeReader(context);

  return {
    id: options.id,
    playMoney: options.playMoney,
    profile: PROFILE,
    listOpenMarkets: (signal) => listOpenEvents(context, signal),
    getMarkets: (listings, signal) => snapshots.getMarkets(listings, signal),
    findMarket: (marketId, signal) => snapshots.findMarket(marketId, signal),
    async getBook(listing, signal) {
      const token = listing.venueKeys.tokenYes;
      if (token === undefined) return null;
      const url = urlOf(options.clobUrl, "/book", { token_id: token });
      const { status, json, receivedAt } = await clients.clob.fetchJson(url, { signal, accept: [404] });
      if (status === 404) return null;
      if (!ports.detectors.book.check(json, isBook) || json.asset_id !== token) {
        throw new VenueError("bad_body", "the order book is not of the shape or token asked for", { retryable: false });
      }
      return parseBook(json, receivedAt, options.drop);
    },
    listTrades: (listing, sinceMs, limit, signal) => tape.listTrades(listing, sinceMs, limit, signal),
    getHistory: (listing, range, signal) => fetchHistory(context, listing, range, signal),
    openStream: (handlers) => openMarketStream({ ports, wsUrl: options.wsUrl, handlers }),
  };
}
