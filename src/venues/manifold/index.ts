/**
 * Manifold Markets: play money, used as a reference price only. An automated market maker without an order book: the
 * quote is its probability. `README.md` lists the endpoints and quirks.
 */
import type { VenueAdapter, VenueProfile } from "../../ports/venue.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import { ContractCache, createManifoldClient, type ManifoldContext } from "./client.ts";
import { getHistory } from "./history.ts";
import { findMarket, getMarkets, listChangedMarkets, listOpenMarkets } from "./listing.ts";
import { openStream } from "./stream.ts";
import { listMissedBets, listTrades } from "./trades.ts";
import { createManifoldDriftDetectors } from "./wire.ts";

export type ManifoldVenueOptions = VenuePorts & {
  /** Base URL including `/v0`. */
  readonly restUrl: string;
  readonly wsUrl: string;
};

const BACKFILL_MS_MAX = 60 * 60_000;

const PROFILE: Omit<VenueProfile, "requestsPerSecond"> = {
  sweepPauseMs: 20_000,
  sweepMarketsPerSecond: 50,
  changesPauseMs: 30_000,
  activePollMs: null,
  streamMarketsMax: 50_000,
  staleAfterMs: 120_000,
  volumeFromTrades: false,
  takersFromTrades: false,
};

export function createManifoldVenue(options: ManifoldVenueOptions): VenueAdapter {
  const { id, playMoney, clock, restUrl, wsUrl } = options;
  const driftDetectors = createManifoldDriftDetectors(options.drift);
  const client = createManifoldClient({ ...options, baseUrl: restUrl });
  const context: ManifoldContext = { ...options, client, cache: new ContractCache(), driftDetectors };
  return {
    id,
    playMoney,
    profile: { ...PROFILE, requestsPerSecond: client.requestsPerSecond },
    detailsOf: () => ({ bookType: "amm", ids: {} }),
    listOpenMarkets: (signal) => listOpenMarkets(context, signal),
    listChangedMarkets: (sinceMs, signal) => listChangedMarkets(context, sinceMs, signal),
    getMarkets: (listings, signal) => getMarkets(context, listings, signal),
    findMarket: (marketId, signal) => findMarket(context, marketId, signal),
    /** A market maker has no order book. The open limit orders alone would look like a one-sided book. */
    async getBook() {
      return null;
    },
    listTrades: (listing, sinceMs, limit, signal) => listTrades(context, listing, sinceMs, limit, signal),
    getHistory: (listing, range, signal) => getHistory(context, listing, range, signal),
    openStream: (handlers) =>
      openStream({
        ports: context,
        wsUrl,
        handlers,
        marketsMax: PROFILE.streamMarketsMax,
        fetchBetsSince(sinceMs, signal) {
          return listMissedBets(context, Math.max(sinceMs - 1, clock.now() - BACKFILL_MS_MAX), signal);
        },
      }),
  };
}
