import { VenueError } from "../domain/errors.ts";
import type { MarketListing } from "../domain/market.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { ListingPage, VenueAdapter } from "../ports/venue.ts";

/** Markets remembered of a venue; one that is met beyond it is recorded when listed and not looked after. */
const MARKETS_MAX = 500_000;
/** Books and tapes are read of so many of the most traded markets, one after the other. */
const DEEP_MARKETS_MAX = 100;
const DEEP_PAUSE_MS = 500;
const TAPE_LIMIT = 1_000;
/** The tape of a market just met is read this far back. */
const TAPE_PAST_MS = 15 * 60_000;
const FOLLOW_EVERY_MS = 5_000;
const REFRESH_EVERY_MS = 1_000;
const REFRESH_BATCH_MAX = 100;
const ERROR_PAUSE_MS_MIN = 1_000;
const ERROR_PAUSE_MS_MAX = 30_000;

interface Followed {
  listing: MarketListing;
  volume: number;
  tapeReadAt: number | null;
}

export interface RecordVenuesOptions {
  /** As `recordVenue` gives them. */
  readonly venues: readonly VenueAdapter[];
  /** Resolves when the disk has caught up: whoever can wait does. */
  readonly ready: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the recording. */
  readonly signal: AbortSignal;
}

/**
 * Reads the venues until the signal aborts: sweeps, streams, books and tapes of the most traded markets, and single
 * markets that fell out of the listing, for their results. What it reads is recorded by the adapters themselves.
 */
export async function recordVenues(options: RecordVenuesOptions): Promise<void> {
  await Promise.all(options.venues.map((venue) => recordOne(venue, options)));
}

async function recordOne(venue: VenueAdapter, options: RecordVenuesOptions): Promise<void> {
  const { clock, signal, ready } = options;
  const markets = new Map<string, Followed>();
  const due = new Set<string>();

  const take = (page: ListingPage) => {
    for (const { listing, activity } of page.markets) {
      const known = markets.get(listing.marketId);
      if (listing.status === "finalized") {
        markets.delete(listing.marketId);
        due.delete(listing.marketId);
      } else if (known !== undefined || markets.size < MARKETS_MAX) {
        const volume = activity.volume24hUsd ?? activity.volumeTotalUsd ?? 0;
        markets.set(listing.marketId, { listing, volume, tapeReadAt: known?.tapeReadAt ?? null });
      }
    }
  };
  const mostTraded = (count: number): Followed[] =>
    [...markets.values()]
      .filter(({ listing }) => listing.status === "active")
      .sort((a, b) => b.volume - a.volume)
      .slice(0, count);

  const sweep = async () => {
    const seen = new Set<string>();
    for await (const page of venue.listOpenMarkets(signal)) {
      for (const { listing } of page.markets) seen.add(listing.marketId);
      take(page);
      await ready();
    }
    // What a whole sweep does not show has closed or is settled: it is asked for by name.
    for (const marketId of markets.keys()) if (!seen.has(marketId)) due.add(marketId);
  };
  const refresh = async () => {
    const wanted = [...due].slice(0, REFRESH_BATCH_MAX);
    if (wanted.length === 0) return;
    for (const marketId of wanted) due.delete(marketId);
    take(
      await venue.getMarkets(
        wanted.flatMap((marketId) => markets.get(marketId)?.listing ?? []),
        signal,
      ),
    );
    await ready();
  };
  let turn = 0;
  const readDeep = async () => {
    const deep = mostTraded(DEEP_MARKETS_MAX);
    const market = deep[turn++ % Math.max(1, deep.length)];
    if (market === undefined) return;
    await venue.getBook(market.listing, signal);
    const now = clock.now();
    await venue.listTrades(market.listing, market.tapeReadAt ?? now - TAPE_PAST_MS, TAPE_LIMIT, signal);
    // The next reading overlaps a little: a venue may show a trade late.
    const known = markets.get(market.listing.marketId);
    if (known !== undefined) known.tapeReadAt = now - REFRESH_EVERY_MS;
    await ready();
  };

  const stream = venue.openStream({
    onUp() {},
    onDown: (reason) => options.log.info({ venue: venue.id, reason }, "stream is down and will reconnect"),
    onMessage(message) {
      if (message.kind === "changed" && markets.has(message.marketId)) due.add(message.marketId);
      if (message.kind !== "listed" || markets.has(message.marketId)) return;
      venue.findMarket(message.marketId, signal).then(
        (page) => page !== null && take(page),
        // The next sweep shows it.
        () => {},
      );
    },
  });
  const follow = async () => stream?.follow(mostTraded(venue.profile.streamMarketsMax).map(({ listing }) => listing));

  try {
    await Promise.all([
      loop(venue, options, "sweep", venue.profile.sweepPauseMs, sweep),
      loop(venue, options, "refresh", REFRESH_EVERY_MS, refresh),
      loop(venue, options, "deep", DEEP_PAUSE_MS, readDeep),
      ...(stream === null ? [] : [loop(venue, options, "follow", FOLLOW_EVERY_MS, follow)]),
    ]);
  } finally {
    stream?.close();
  }
}

/** Runs `step` until the signal aborts; after a failure of the venue it waits, ever longer. */
async function loop(
  venue: VenueAdapter,
  { clock, log, signal }: RecordVenuesOptions,
  name: string,
  pauseMs: number,
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
      log.warn({ venue: venue.id, loop: name, reason: error.message }, "the venue gave no usable answer");
    }
    const errorPauseMs = failures === 0 ? 0 : Math.min(ERROR_PAUSE_MS_MAX, ERROR_PAUSE_MS_MIN * 2 ** (failures - 1));
    await clock.sleep(Math.max(pauseMs, errorPauseMs), signal).catch(() => {});
  }
}
