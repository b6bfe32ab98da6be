import { VenueError } from "../domain/errors.ts";
import type { MarketListing } from "../domain/market.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import { type ListingPage, sweepPauseAfter, type VenueAdapter } from "../ports/venue.ts";

/**
 * Maximum number of tracked markets per venue. For further markets, only the listing is recorded, but no order books,
 * trades or result.
 */
const MARKETS_MAX = 500_000;
/** Number of most traded markets whose books and trades are read, one market at a time. */
const DETAIL_MARKETS_MAX = 100;
const DETAIL_PAUSE_MS = 500;
const TRADES_LIMIT = 1_000;
/** Maximum age of the trades that are read for a new market. */
const TRADES_LOOKBACK_MS = 15 * 60_000;
const FOLLOW_EVERY_MS = 5_000;
const REFRESH_EVERY_MS = 1_000;
const REFRESH_BATCH_MAX = 100;
/** Overlap between consecutive reads of a market's trades, because a venue may publish a trade late. */
const TRADES_OVERLAP_MS = REFRESH_EVERY_MS;
const ERROR_PAUSE_MS_MIN = 1_000;
const ERROR_PAUSE_MS_MAX = 30_000;

interface TrackedMarket {
  listing: MarketListing;
  volume: number;
  tradesReadAt: number | null;
}

export interface RecordVenuesOptions {
  /** Adapters wrapped by `recordVenue`. */
  readonly venues: readonly VenueAdapter[];
  /** Waits until the writer has capacity. */
  readonly ready: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Reads the venues until the signal aborts: sweeps, streams, books and trades of the most traded markets, and the
 * results of markets that are no longer listed. The wrapped adapters record the data.
 */
export async function recordVenues(options: RecordVenuesOptions): Promise<void> {
  await Promise.all(options.venues.map((venue) => readVenue(venue, options)));
}

async function readVenue(venue: VenueAdapter, options: RecordVenuesOptions): Promise<void> {
  const { clock, signal, ready } = options;
  const markets = new Map<string, TrackedMarket>();
  const refreshIds = new Set<string>();

  const track = (page: ListingPage) => {
    for (const { listing, activity } of page.markets) {
      const trackedMarket = markets.get(listing.marketId);
      if (listing.status === "finalized") {
        markets.delete(listing.marketId);
        refreshIds.delete(listing.marketId);
      } else if (trackedMarket !== undefined || markets.size < MARKETS_MAX) {
        const volume = activity.volume24hUsd ?? activity.volumeTotalUsd ?? 0;
        markets.set(listing.marketId, { listing, volume, tradesReadAt: trackedMarket?.tradesReadAt ?? null });
      }
    }
  };
  const findMostTraded = (count: number): TrackedMarket[] =>
    [...markets.values()]
      .filter(({ listing }) => listing.status === "active")
      .sort((a, b) => b.volume - a.volume)
      .slice(0, count);

  let listedCount = 0;
  const sweep = async () => {
    const listedIds = new Set<string>();
    for await (const page of venue.listOpenMarkets(signal)) {
      for (const { listing } of page.markets) listedIds.add(listing.marketId);
      track(page);
      await ready();
    }
    listedCount = listedIds.size;
    // A market that the sweep did not list may have closed or settled.
    for (const marketId of markets.keys()) if (!listedIds.has(marketId)) refreshIds.add(marketId);
  };
  const refresh = async () => {
    const batch = [...refreshIds].slice(0, REFRESH_BATCH_MAX);
    if (batch.length === 0) return;
    for (const marketId of batch) refreshIds.delete(marketId);
    const listings = batch.map((marketId) => markets.get(marketId)?.listing ?? { marketId, venueKeys: {} });
    track(await venue.getMarkets(listings, signal));
    await ready();
  };
  let nextDetailIndex = 0;
  const readDetails = async () => {
    const candidates = findMostTraded(DETAIL_MARKETS_MAX);
    const market = candidates[nextDetailIndex++ % Math.max(1, candidates.length)];
    if (market === undefined) return;
    await venue.getBook(market.listing, signal);
    const now = clock.now();
    await venue.listTrades(market.listing, market.tradesReadAt ?? now - TRADES_LOOKBACK_MS, TRADES_LIMIT, signal);
    const trackedMarket = markets.get(market.listing.marketId);
    if (trackedMarket !== undefined) trackedMarket.tradesReadAt = now - TRADES_OVERLAP_MS;
    await ready();
  };

  const stream = venue.openStream({
    onUp() {},
    onDown: (reason) => options.log.info({ venue: venue.id, reason }, "stream disconnected, reconnecting"),
    onMessage(message) {
      const isKnown = markets.has(message.marketId);
      // An announced market that the venue does not return yet is listed by the next sweep.
      const isDue = message.kind === "changed" ? isKnown : message.kind === "listed" && !isKnown;
      if (isDue && refreshIds.size < MARKETS_MAX) refreshIds.add(message.marketId);
    },
  });
  const follow = async () =>
    stream?.follow(findMostTraded(venue.profile.streamMarketsMax).map(({ listing }) => listing));

  try {
    await Promise.all([
      runLoop(venue, options, "sweep", () => sweepPauseAfter(venue.profile, listedCount), sweep),
      runLoop(venue, options, "refresh", () => REFRESH_EVERY_MS, refresh),
      runLoop(venue, options, "details", () => DETAIL_PAUSE_MS, readDetails),
      ...(stream === null ? [] : [runLoop(venue, options, "follow", () => FOLLOW_EVERY_MS, follow)]),
    ]);
  } finally {
    stream?.close();
  }
}

/** Repeats `step` until the signal aborts. Consecutive venue errors double the pause. */
async function runLoop(
  venue: VenueAdapter,
  { clock, log, signal }: RecordVenuesOptions,
  loopName: string,
  pauseMs: () => number,
  step: () => Promise<unknown>,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      await step();
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof VenueError)) throw error;
      failures += 1;
      log.warn({ venue: venue.id, loop: loopName, reason: error.message }, "could not read from the venue");
    }
    const errorPauseMs = failures === 0 ? 0 : Math.min(ERROR_PAUSE_MS_MAX, ERROR_PAUSE_MS_MIN * 2 ** (failures - 1));
    await clock.sleep(Math.max(pauseMs(), errorPauseMs), signal).catch(() => {});
  }
}
