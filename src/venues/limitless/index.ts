/**
 * Limitless Exchange: order-book and AMM markets on Base, settled in USDC. Public data needs no key. `README.md` lists
 * the endpoints and quirks.
 */
import type { SocketIoOut } from "../../ports/socket-io-out.ts";
import type { VenueAdapter, VenueProfile } from "../../ports/venue.ts";
import { omitUnknownIds } from "../shared/parse-values.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import { getBook } from "./book.ts";
import { createLimitlessClient } from "./client.ts";
import { getHistory } from "./history.ts";
import { isAmm } from "./ids.ts";
import { findMarket, getMarkets, listOpenMarkets } from "./listing.ts";
import { openStream } from "./stream.ts";
import { listTrades } from "./trades.ts";
import { createLimitlessDriftDetectors } from "./wire.ts";

export type LimitlessOptions = VenuePorts & {
  readonly restUrl: string;
  readonly wsUrl: string;
  readonly socketIo: SocketIoOut;
};

const PROFILE: Omit<VenueProfile, "requestsPerSecond"> = {
  sweepPauseMs: 15_000,
  /** For 850 markets of about 3.5 kB each, the pause between sweeps is 85 seconds. */
  sweepMarketsPerSecond: 10,
  changesPauseMs: null,
  activePollMs: null,
  streamMarketsMax: 1_000,
  staleAfterMs: 90_000,
  volumeFromTrades: true,
  takersFromTrades: false,
};

export function createLimitlessVenue(options: LimitlessOptions): VenueAdapter {
  const { id, playMoney, restUrl } = options;
  const client = createLimitlessClient({ ...options, baseUrl: restUrl });
  const context = { ...options, client, driftDetectors: createLimitlessDriftDetectors(options.drift) };
  return {
    id,
    playMoney,
    profile: { ...PROFILE, requestsPerSecond: client.requestsPerSecond },
    detailsOf: (listing) => ({
      bookType: isAmm(listing) ? "amm" : "clob",
      ids: omitUnknownIds({
        address: isAmm(listing) ? listing.marketId : null,
        slug: listing.venueKeys.slug,
      }),
    }),
    listOpenMarkets: (signal) => listOpenMarkets(context, signal),
    getMarkets: (listings, signal) => getMarkets(context, listings, signal),
    findMarket: (marketId, signal) => findMarket(context, marketId, signal),
    getBook: (listing, signal) => getBook(context, listing, signal),
    listTrades: (listing, sinceMs, limit, signal) => listTrades(context, listing, sinceMs, limit, signal),
    getHistory: (listing, range, signal) => getHistory(context, listing, range, signal),
    openStream: (handlers) => openStream({ ...context, marketsMax: PROFILE.streamMarketsMax }, handlers),
  };
}
