/**
 * Polymarket's public market data: markets and events from the Gamma API, books and price history from the CLOB API,
 * trades and resolutions from the Data API, live books from the market stream. `README.md` lists the
 * endpoints and quirks.
 */
import type { VenueAdapter, VenueProfile } from "../../ports/venue.ts";
import { omitUnknownIds } from "../shared/parse-values.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import { getBook } from "./book.ts";
import { createClients, type PolymarketContext, type PolymarketUrls } from "./client.ts";
import { getHistory } from "./history.ts";
import { listOpenMarkets } from "./listing.ts";
import { findMarket, getMarkets } from "./markets.ts";
import { PageSize } from "./page-size.ts";
import { openStream, STREAM_MARKETS_MAX } from "./stream.ts";
import { StreamSettlements } from "./stream-settlements.ts";
import { createTradeReader } from "./trades.ts";
import { createPolymarketDriftDetectors } from "./wire.ts";

const PROFILE: Omit<VenueProfile, "requestsPerSecond"> = {
  sweepPauseMs: 30_000,
  /** For 220,000 open markets of about 5 kB each, the pause between sweeps is 24 minutes. */
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
    ...options,
    ...createClients(options),
    driftDetectors: createPolymarketDriftDetectors(options.drift),
    settlements: new StreamSettlements(options.clock),
  };
  const pageSize = new PageSize();

  return {
    id: options.id,
    playMoney: options.playMoney,
    profile: { ...PROFILE, requestsPerSecond: context.gamma.requestsPerSecond },
    detailsOf: ({ venueKeys: { conditionId, tokenYes, tokenNo, slug } }) => ({
      bookType: "clob",
      ids: omitUnknownIds({ condition_id: conditionId, yes_token_id: tokenYes, no_token_id: tokenNo, slug }),
    }),
    listOpenMarkets: (signal) => listOpenMarkets(context, pageSize, signal),
    getMarkets: (listings, signal) => getMarkets(context, listings, signal),
    findMarket: (marketId, signal) => findMarket(context, marketId, signal),
    getBook: (listing, signal) => getBook(context, listing, signal),
    listTrades: createTradeReader(context),
    getHistory: (listing, range, signal) => getHistory(context, listing, range, signal),
    openStream: (handlers) => openStream({ ports: context, wsUrl: options.wsUrl, handlers }),
  };
}
