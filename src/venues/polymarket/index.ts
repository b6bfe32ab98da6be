/**
 * Polymarket's public market data: markets and events from the Gamma API, books and price history from the CLOB API,
 * trades and resolutions from the Data API, live books from the market stream. `README.md` lists the
 * endpoints and quirks.
 */
import type { VenueAdapter, VenueProfile } from "../../ports/venue.ts";
import { withoutUnknown } from "../shared/parse-values.ts";
import { limitsFor } from "../shared/venue-client.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import { getBook } from "./book.ts";
import { createPolymarketClients, GAMMA_LIMITS, type PolymarketContext, type PolymarketUrls } from "./client.ts";
import { getHistory } from "./history.ts";
import { listOpenMarkets } from "./listing.ts";
import { findMarket, getMarkets } from "./markets.ts";
import { PageSize } from "./page-size.ts";
import { openStream, STREAM_MARKETS_MAX } from "./stream.ts";
import { StreamSettlements } from "./stream-settlements.ts";
import { TradeReader } from "./trades.ts";
import { detectPolymarketDrift } from "./wire.ts";

const PROFILE: Omit<VenueProfile, "requestsPerSecond"> = {
  sweepPauseMs: 30_000,
  /** 220,000 open markets, of about 5 kB each, have a pause of 24 minutes. */
  sweepMarketsPerSecond: 150,
  changesPauseMs: null,
  activePollMs: 10_000,
  streamMarketsMax: STREAM_MARKETS_MAX,
  staleAfterMs: 120_000,
  volumeFromTrades: false,
  takersFromTrades: true,
};

export function createPolymarketVenue(options: VenuePorts & PolymarketUrls): VenueAdapter {
  const context: PolymarketContext = {
    ports: {
      ...options,
      driftDetectors: detectPolymarketDrift(options.drift),
      settlements: new StreamSettlements(options.clock),
    },
    urls: options,
    clients: createPolymarketClients(options),
  };
  const trades = new TradeReader(context);
  const pageSize = new PageSize();

  return {
    id: options.id,
    playMoney: options.playMoney,
    profile: { ...PROFILE, requestsPerSecond: limitsFor(options, GAMMA_LIMITS).perSecond },
    detailsOf: ({ venueKeys: { conditionId, tokenYes, tokenNo, slug } }) => ({
      bookType: "clob",
      ids: withoutUnknown({ condition_id: conditionId, yes_token_id: tokenYes, no_token_id: tokenNo, slug }),
    }),
    listOpenMarkets: (signal) => listOpenMarkets(context, pageSize, signal),
    getMarkets: (listings, signal) => getMarkets(context, listings, signal),
    findMarket: (marketId, signal) => findMarket(context, marketId, signal),
    getBook: (listing, signal) => getBook(context, listing, signal),
    listTrades: (listing, sinceMs, limit, signal) => trades.listTrades(listing, sinceMs, limit, signal),
    getHistory: (listing, range, signal) => getHistory(context, listing, range, signal),
    openStream: (handlers) => openStream({ ports: context.ports, wsUrl: options.wsUrl, handlers }),
  };
}
