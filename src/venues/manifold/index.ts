/**
 * Manifold Markets: play money, used as a reference price only. An automated market maker without an order book: the
 * quote is its probability. `README.md` lists the endpoints and quirks.
 */
import type { VenueAdapter, VenueProfile } from "../../ports/venue.ts";
import { limitsFor } from "../shared/venue-client.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import { ContractCache, LIMITS, ManifoldClient, type ManifoldContext } from "./client.ts";
import { getHistory } from "./history.ts";
import { findMarket, getMarkets, listChangedMarkets, listOpenMarkets } from "./listing.ts";
import { openStream } from "./stream.ts";
import { listMissedBets, listTrades } from "./trades.ts";
import { detectManifoldDrift } from "./wire.ts";

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
  const { id, clock, countDrop, wsUrl } = options;
  const driftDetectors = detectManifoldDrift(options.drift);
  const client = new ManifoldClient(options);
  const context: ManifoldContext = { client, cache: new ContractCache(), venue: id, clock, countDrop, driftDetectors };
  return {
    id,
    playMoney: options.playMoney,
    profile: { ...PROFILE, requestsPerSecond: limitsFor(options, LIMITS).perSecond },
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
        ports: { ...options, driftDetectors },
        wsUrl,
        handlers,
        marketsMax: PROFILE.streamMarketsMax,
        fetchBetsSince(sinceMs, signal) {
          return listMissedBets(context, Math.max(sinceMs - 1, clock.now() - BACKFILL_MS_MAX), signal);
        },
      }),
  };
}
