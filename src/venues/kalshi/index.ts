/**
 * Kalshi: order books in US dollars, polled over REST. With the operator's key, quotes and trades are also streamed.
 */
import type { VenueAdapter, VenueProfile } from "../../ports/venue.ts";
import { omitUnknownIds } from "../shared/parse-values.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import { createBookReader } from "./book.ts";
import { createClient, type KalshiContext } from "./client.ts";
import { EventCache } from "./event-cache.ts";
import { getHistory } from "./history.ts";
import { findMarket, getMarkets, listChangedMarkets, listOpenMarkets } from "./listing.ts";
import { FEE_ROUNDING } from "./parse-event.ts";
import { createSigner } from "./sign.ts";
import { openStream } from "./stream.ts";
import { createTradeReader } from "./trades.ts";
import { createKalshiDriftDetectors } from "./wire.ts";

export interface KalshiVenueOptions extends VenuePorts {
  /** Base URL of the REST API, including /trade-api/v2. */
  readonly restUrl: string;
  /** URL of the WebSocket, including /trade-api/ws/v2. */
  readonly wsUrl: string;
  readonly keyId?: string;
  /** RSA private key in PEM. Together with `keyId` it enables the stream and the higher request limit. */
  readonly privateKeyPem?: string;
  /** Kind of the operator's membership, which determines how fees are rounded; `other` if omitted. */
  readonly member?: string;
}

const STREAM_MARKETS_MAX = 1_000;
const SWEEP_PAUSE_MS = 1_500;
/** For 190,000 open and unopened markets of about 2 kB each, the pause between sweeps is 11 minutes. */
const SWEEP_MARKETS_PER_SECOND = 300;
const CHANGES_PAUSE_MS = 15_000;
const ACTIVE_POLL_MS = 5_000;
const STALE_AFTER_MS = 60_000;

/**
 * Creates the adapter for Kalshi's public market data. Without a key it only polls.
 * @throws Error if the private key is not an RSA key in PEM
 */
export function createKalshiVenue(options: KalshiVenueOptions): VenueAdapter {
  const { id, playMoney, restUrl, wsUrl, keyId, privateKeyPem } = options;
  const signer = keyId === undefined || privateKeyPem === undefined ? null : createSigner({ keyId, privateKeyPem });
  const client = createClient(options, restUrl, signer);
  const context: KalshiContext = {
    ...options,
    client,
    driftDetectors: createKalshiDriftDetectors(options.drift),
    feeRounding: options.member === "direct" ? FEE_ROUNDING.direct : FEE_ROUNDING.other,
  };
  const listing = { ...context, events: new EventCache(context) };
  const profile: VenueProfile = {
    requestsPerSecond: client.requestsPerSecond,
    sweepPauseMs: SWEEP_PAUSE_MS,
    sweepMarketsPerSecond: SWEEP_MARKETS_PER_SECOND,
    changesPauseMs: CHANGES_PAUSE_MS,
    activePollMs: signer === null ? ACTIVE_POLL_MS : null,
    streamMarketsMax: signer === null ? 0 : STREAM_MARKETS_MAX,
    staleAfterMs: STALE_AFTER_MS,
    volumeFromTrades: false,
    takersFromTrades: false,
  };
  return {
    id,
    playMoney,
    profile,
    detailsOf: ({ eventId, venueKeys: { series } }) => ({
      bookType: "clob",
      ids: omitUnknownIds({ event_ticker: eventId, series_ticker: series }),
    }),
    listOpenMarkets: (signal) => listOpenMarkets(listing, signal),
    listChangedMarkets: (sinceMs, signal) => listChangedMarkets(listing, sinceMs, signal),
    getMarkets: (listings, signal) => getMarkets(listing, listings, signal),
    findMarket: (marketId, signal) => findMarket(listing, marketId, signal),
    getBook: createBookReader(context),
    listTrades: createTradeReader(context),
    getHistory: (market, range, signal) => getHistory(context, market, range, signal),
    openStream: (handlers) =>
      signer === null ? null : openStream({ ports: context, wsUrl, signer, handlers, marketsMax: STREAM_MARKETS_MAX }),
  };
}
