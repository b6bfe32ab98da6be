import { type BoardMarket, eventSlug } from "../board/index.ts";
import { type ListingPage, sweepPauseAfter } from "../ports/venue.ts";
import { applyInSlices, type VenueContext } from "./context.ts";
import type { Pause } from "./loop-runner.ts";
import type { RefreshQueue } from "./refresh-queue.ts";

/** Minimum number of markets in a complete sweep, relative to the previous sweep. */
const SWEEP_SHARE_MIN = 0.5;
/** Minimum number of markets in the previous sweep for `SWEEP_SHARE_MIN` to apply. Smaller ones may shrink by half. */
const SWEEP_ROWS_MIN = 20;
/**
 * Number of consecutive complete sweeps without a market after which the market is read individually. A market can be
 * missing from one sweep because its row moved to another page meanwhile.
 */
const MISSED_SWEEPS_MAX = 2;
/** If the interval between sweeps is above this, a market is read individually after one sweep without it. */
const RARE_SWEEPS_MS_MIN = 5 * 60_000;
/** Minimum pause after a sweep, as a multiple of the time in which the sweep requested pages from the venue. */
const REST_PER_SWEEP = 2;
/** Number of recent complete sweeps. The shortest one estimates the load; longer ones include slow responses. */
const COMPLETE_LOADS_MAX = 5;
/** Pause before the sweep that confirms a suspect board, instead of the usual one. */
const CONFIRM_PAUSE_MS = 1_000;
/** Pause between sweeps for `SUSPECT_MS` after a failure, because failures come in bursts and some cause no error. */
const SUSPECT_PAUSE_MS = 2_500;
const SUSPECT_MS = 30_000;

export type Sweeper = ReturnType<typeof createSweeper>;

/**
 * Repeatedly reads all listed markets of a venue, and detects markets that are no longer listed.
 *
 * @param wake  ends the pause before the next sweep
 */
export function createSweeper(context: VenueContext, refreshQueue: RefreshQueue, wake: () => void) {
  const { venue, clock, health, log, signal, board } = context;
  /** Number of consecutive complete sweeps without a market, by market id. */
  const missedSweeps = new Map<string, number>();
  /** Number of markets in the previous sweep, complete or not. */
  let lastSweepMarkets = 0;
  let lastDurationMs = 0;
  let lastCompleteAt: number | null = null;
  /** Time from the start of the last sweep, complete or not, to its last page. */
  let lastLoadMs = 0;
  let completeLoadsMs: readonly number[] = [];
  /** True if a request failed or a message was lost since the last sweep began, so the board may be stale. */
  let isSuspect = false;
  /** Monotonic time of the last `requestResync`. */
  let suspectedAt = Number.NEGATIVE_INFINITY;
  let isConfirming = false;

  const restMs = () => REST_PER_SWEEP * Math.min(lastLoadMs, ...completeLoadsMs);
  const usualPauseMs = () => Math.max(sweepPauseAfter(venue.profile, lastSweepMarkets), restMs());
  const intervalMs = () => lastDurationMs + usualPauseMs();

  /** Applies every page of the listing. Returns the market ids and the reasons why the listing is incomplete. */
  const readListing = async (isFirst: boolean, startedAt: number) => {
    const seen = new Set<string>();
    const defects = new Set<string>();
    health.sweepStarted();
    isConfirming = isSuspect;
    isSuspect = false;
    lastLoadMs = 0;
    try {
      for await (const page of venue.listOpenMarkets(signal)) {
        for (const { listing } of page.markets) seen.add(listing.marketId);
        await applyInSlices(context, page);
        queueUnlistedChildren(page);
        if (page.incompleteReason != null) defects.add(page.incompleteReason);
        health.sweepRead(page.markets.length, page.totalRows ?? null);
        health.succeeded();
        lastLoadMs = clock.monotonic() - startedAt;
        if (isFirst)
          log.info({ venue: venue.id, markets: seen.size, rows_total: page.totalRows }, "first sweep: page read");
      }
    } finally {
      isConfirming = false;
    }
    return { seen, defects };
  };

  /**
   * Queues open markets that are missing from their events on the page. If an event on the page has a market count, the
   * page contains all its markets, so a missing market has closed. No second sweep is needed to confirm it.
   */
  const queueUnlistedChildren = ({ events, markets }: ListingPage): void => {
    const listed = new Set(markets.map(({ listing }) => listing.marketId));
    for (const { eventId, children } of events) {
      if (children === null) continue;
      for (const market of board.marketsOfEvent(eventSlug(venue.id, eventId)))
        if (isOpen(market) && !listed.has(market.listing.marketId)) refreshQueue.add(market.listing.marketId);
    }
  };

  const countMissed = (market: BoardMarket, isListed: boolean): void => {
    const { marketId } = market.listing;
    if (isListed || !isOpen(market)) {
      missedSweeps.delete(marketId);
      return;
    }
    const missed = (missedSweeps.get(marketId) ?? 0) + 1;
    missedSweeps.set(marketId, missed);
    if (missed >= MISSED_SWEEPS_MAX || intervalMs() >= RARE_SWEEPS_MS_MIN) refreshQueue.add(marketId);
  };

  return {
    /** Usual time from the start of a sweep to the start of the next one. */
    intervalMs,
    /** Start of the last complete sweep, Unix milliseconds; null before the first one is complete. */
    get lastCompleteAt(): number | null {
      return lastCompleteAt;
    },
    /** True during the sweep that confirms a suspect board. Less urgent requests wait until it ends. */
    get isConfirming(): boolean {
      return isConfirming;
    },
    /** Marks the board as possibly stale or wrong, so that the next sweep starts soon. */
    requestResync(): void {
      isSuspect = true;
      suspectedAt = clock.monotonic();
      wake();
    },
    forget: (marketId: string) => missedSweeps.delete(marketId),
    restMs,
    /** Returns the pause after a successful sweep. */
    nextPause(): Pause {
      const leastMs = restMs();
      const usualMs = usualPauseMs();
      const minMs = Math.min(usualMs, Math.max(CONFIRM_PAUSE_MS, leastMs));
      if (isSuspect) return { minMs, ms: minMs };
      const wasSuspectRecently = clock.monotonic() - suspectedAt < SUSPECT_MS;
      return { minMs, ms: wasSuspectRecently ? Math.min(usualMs, Math.max(SUSPECT_PAUSE_MS, leastMs)) : usualMs };
    },
    async sweep(): Promise<void> {
      const startedAtUnix = clock.now();
      const isFirst = health.report(0).sweep.completed === 0;
      const startedAt = clock.monotonic();
      const { seen, defects } = await readListing(isFirst, startedAt);
      if (lastSweepMarkets >= SWEEP_ROWS_MIN && seen.size < lastSweepMarkets * SWEEP_SHARE_MIN) {
        health.drop("sweep_shrunk");
        defects.add("sweep_shrunk");
      }
      lastSweepMarkets = seen.size;
      if (defects.size > 0) {
        health.sweepIncomplete();
        log.warn(
          { venue: venue.id, markets: seen.size, defects: [...defects] },
          "incomplete sweep: markets missing from it are not treated as delisted",
        );
      } else {
        health.sweepCompleted();
        lastCompleteAt = startedAtUnix;
        completeLoadsMs = [...completeLoadsMs, lastLoadMs].slice(-COMPLETE_LOADS_MAX);
        if (isFirst) log.info({ venue: venue.id, markets: seen.size }, "first sweep completed");
        for (const market of board.markets()) {
          if (market.listing.venue === venue.id) countMissed(market, seen.has(market.listing.marketId));
        }
      }
      lastDurationMs = clock.monotonic() - startedAt;
    },
  };
}

const isOpen = ({ listing: { status } }: BoardMarket): boolean => status === "active" || status === "pending";
