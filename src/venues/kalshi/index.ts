/** Kalshi: order books in dollars, polled over REST, streamed where the operator has a key. */
import type { VenueAdapter, VenueProfile } from "../../ports/venue.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import { BookReader } from "./book.ts";
import type { KalshiPorts } from "./client.ts";
import { KalshiClient } from "./client.ts";
import { EventCache } from "./event-cache.ts";
import { fetchHistory } from "./history.ts";
import { findMarket, getMarkets, listOpenMarkets } from "./markets.ts";
import { createSigner } from "./sign.ts";
import { openKalshiStream } from "./stream.ts";
import { TapeReader } from "./tape.ts";
import { detectKalshiDrift } from "./wire.ts";

export { KALSHI_LIVE_URLS } from "./client.ts";

export interface KalshiVenueOptions extends VenuePorts {
  /** Base of REST, with /trade-api/v2. */
  readonly restUrl: string;
  /** Address of the WebSocket, with /trade-api/ws/v2. */
  readonly wsUrl: string;
  readonly keyId?: string;
  /** RSA private key, PEM. Together with `keyId` it opens the stream and the higher request limit. */
  readonly privateKeyPem?: string;
}

const STREAM_MARKETS_MAX = 1_000;
const SWEEP_PAUSE_MS = 1_500;
const ACTIVE_POLL_MS = 2_000;
const STALE_AFTER_MS = 60_000;

/**
 * Kalshi's public market data in our words. Without a key it polls.
 * @throws Error when the private key is not an RSA key in PEM
 */
export function createKalshiVenue(options: KalshiVenueOptions): VenueAdapter {
  const { id, playMoney, restUrl, wsUrl, keyId, privateKeyPem } = options;
  const ports: KalshiPorts = { ...options, detectors: detectKalshiDrift(options.drift) };
  const signer = keyId === undefined || privateKeyPem === undefined ? null : createSigner({ keyId, privateKeyPem });
  const client = new KalshiClient({ ...ports, restUrl, signer });
  const events = new EventCache(client, ports);
  const books = new BookReader(client, ports);
  const tape = new TapeReader(client, ports);
  const markets = { client, events, ports };
  const profile: VenueProfile = {
    sweepPauseMs: SWEEP_PAUSE_MS,
    activePollMs: signer === null ? ACTIVE_POLL_MS : null,
    streamMarketsMax: signer === null ? 0 : STREAM_MARKETS_MAX,
    staleAfterMs: STALE_AFTER_MS,
    volumeFromTrades: false,
  };
  return {
    id,
    playMoney,
    profile,
    listOpenMarkets: (signal) => listOpenMarkets(markets, signal),
    getMarkets: (listings, signal) => getMarkets(markets, listings, signal),
    findMarket: (marketId, signal) => findMarket(markets, marketId, signal),
    getBook: (listing, signal) => books.get(listing, signal),
    listTrades: (listing, sinceMs, limit, signal) => tape.list(listing.marketId, sinceMs, limit, signal),
    getHistory: (listing, range, signal) => fetchHistory(client, ports, listing, range, signal),
    openStream: (handlers) =>
      signer === null ? null : openKalshiStream({ ports, wsUrl, signer, handlers, marketsMax: STREAM_MARKETS_MAX }),
  };
}
