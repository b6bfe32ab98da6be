import { type BoardMarket, eventSlug } from "../board/index.ts";
import { type ListingPage, sweepPauseAfter } from "../ports/venue.ts";
import { applyInSlices, type VenueContext } from "./context.ts";
import type { Pause } from "./loop-runner.ts";
import type { RefreshQueue } from "./refresh-queue.ts";

/** Share of the previous sweep's markets below which a sweep counts as incomplete. */
const SWEEP_SHARE_MIN = 0.5;
/** Number of markets from which `SWEEP_SHARE_MIN` applies: smaller listings may shrink by half. */
const SWEEP_ROWS_MIN = 20;
/**
 * Number of consecutive complete sweeps without a market after which the market is read individually. A market can be
 * missing from one sweep because its row moved to another page meanwhile.
 */
const MISSED_SWEEPS_MAX = 2;
/** Interval between sweeps above which a market is read individually after the first sweep without it. */
const RARE_SWEEPS_MS_MIN = 5 * 60_000;
/** Shortest pause after a sweep, as a multiple of the sweep's load on the venue in milliseconds. */
const REST_PER_SWEEP = 2;
/** Number of complete sweeps whose shortest estimates the load. Longer sweeps include waits for slow responses. */
const COMPLETE_LOADS_MAX = 5;
/** Pause before the sweep that confirms a suspect board, instead of the usual one. */
const CONFIRM_PAUSE_MS = 1_000;
/** Pause between sweeps for `SUSPECT_MS` after a failure, because failures come in bursts and some cause no error. */
const SUSPECT_PAUSE_MS = 2_500;
const SUSPECT_MS = 30_000;

/** Reads a venue's whole listing repeatedly and detects markets that are no longer listed. */
export class Sweeper {
  readonly #context: VenueContext;
  readonly #refreshQueue: RefreshQueue;
  readonly #wake: () => void;
  /** Number of consecutive complete sweeps without a market, by market id. */
  readonly #missedSweeps = new Map<string, number>();
  /** Number of markets in the previous sweep, complete or not. */
  #lastSweepMarkets = 0;
  #lastDurationMs = 0;
  #lastCompleteAt: number | null = null;
  /** Time from the start of the last sweep, complete or not, to its last page. */
  #lastLoadMs = 0;
  #completeLoadsMs: readonly number[] = [];
  /** True if a request failed or a message was lost since the last sweep began, so the board may be stale. */
  #isSuspect = false;
  /** Monotonic time of the last `requestResync`. */
  #suspectedAt = Number.NEGATIVE_INFINITY;
  #isConfirming = false;

  /** @param wake  ends the pause before the next sweep */
  constructor(context: VenueContext, refreshQueue: RefreshQueue, wake: () => void) {
    this.#context = context;
    this.#refreshQueue = refreshQueue;
    this.#wake = wake;
  }

  /** Usual time from the start of a sweep to the start of the next one. */
  get intervalMs(): number {
    return this.#lastDurationMs + this.#usualPauseMs();
  }

  /** Start of the last complete sweep, Unix milliseconds; null before the first one is complete. */
  get lastCompleteAt(): number | null {
    return this.#lastCompleteAt;
  }

  /** True while a sweep that confirms a suspect board runs; less urgent requests wait for its end. */
  get isConfirming(): boolean {
    return this.#isConfirming;
  }

  /** Marks the board as possibly stale or wrong, so that the next sweep starts soon. */
  requestResync(): void {
    this.#isSuspect = true;
    this.#suspectedAt = this.#context.clock.monotonic();
    this.#wake();
  }

  forget(marketId: string): void {
    this.#missedSweeps.delete(marketId);
  }

  restMs(): number {
    return REST_PER_SWEEP * Math.min(this.#lastLoadMs, ...this.#completeLoadsMs);
  }

  /** Returns the pause after a successful sweep. */
  nextPause(): Pause {
    const { clock } = this.#context;
    const restMs = this.restMs();
    const usualMs = this.#usualPauseMs();
    const minMs = Math.min(usualMs, Math.max(CONFIRM_PAUSE_MS, restMs));
    if (this.#isSuspect) return { minMs, ms: minMs };
    const wasSuspectRecently = clock.monotonic() - this.#suspectedAt < SUSPECT_MS;
    return { minMs, ms: wasSuspectRecently ? Math.min(usualMs, Math.max(SUSPECT_PAUSE_MS, restMs)) : usualMs };
  }

  #usualPauseMs(): number {
    return Math.max(sweepPauseAfter(this.#context.venue.profile, this.#lastSweepMarkets), this.restMs());
  }

  async sweep(): Promise<void> {
    const { board, clock, health, log, venue } = this.#context;
    const startedAtUnix = clock.now();
    const isFirst = health.report(0).sweep.completed === 0;
    const startedAt = clock.monotonic();
    const { seen, defects } = await this.#readListing(isFirst, startedAt);
    if (this.#lastSweepMarkets >= SWEEP_ROWS_MIN && seen.size < this.#lastSweepMarkets * SWEEP_SHARE_MIN) {
      health.drop("sweep_shrunk");
      defects.add("sweep_shrunk");
    }
    this.#lastSweepMarkets = seen.size;
    if (defects.size > 0) {
      health.sweepIncomplete();
      log.warn(
        { venue: venue.id, markets: seen.size, defects: [...defects] },
        "incomplete sweep: markets missing from it are not treated as delisted",
      );
    } else {
      health.sweepCompleted();
      this.#lastCompleteAt = startedAtUnix;
      this.#completeLoadsMs = [...this.#completeLoadsMs, this.#lastLoadMs].slice(-COMPLETE_LOADS_MAX);
      if (isFirst) log.info({ venue: venue.id, markets: seen.size }, "first sweep completed");
      for (const market of board.markets()) {
        if (market.listing.venue === venue.id) this.#countMissed(market, seen.has(market.listing.marketId));
      }
    }
    this.#lastDurationMs = clock.monotonic() - startedAt;
  }

  /** Applies every page of the listing. Returns the market ids and the reasons why the listing is incomplete. */
  async #readListing(isFirst: boolean, startedAt: number) {
    const { venue, clock, health, log, signal } = this.#context;
    const seen = new Set<string>();
    const defects = new Set<string>();
    health.sweepStarted();
    this.#isConfirming = this.#isSuspect;
    this.#isSuspect = false;
    this.#lastLoadMs = 0;
    try {
      for await (const page of venue.listOpenMarkets(signal)) {
        for (const { listing } of page.markets) seen.add(listing.marketId);
        await applyInSlices(this.#context, page);
        this.#queueUnlistedChildren(page);
        if (page.incompleteReason != null) defects.add(page.incompleteReason);
        health.sweepRead(page.markets.length, page.totalRows ?? null);
        health.succeeded();
        this.#lastLoadMs = clock.monotonic() - startedAt;
        if (isFirst)
          log.info({ venue: venue.id, markets: seen.size, rows_total: page.totalRows }, "first sweep: page read");
      }
    } finally {
      this.#isConfirming = false;
    }
    return { seen, defects };
  }

  /**
   * Queues the open markets of the page's events that the events no longer have. A page that counts the markets of an
   * event has all of them, so that these markets have closed and no second sweep is needed.
   */
  #queueUnlistedChildren({ events, markets }: ListingPage): void {
    const listed = new Set(markets.map(({ listing }) => listing.marketId));
    for (const { venue, eventId, children } of events) {
      if (children === null) continue;
      for (const market of this.#context.board.marketsOfEvent(eventSlug(venue, eventId)))
        if (isOpen(market) && !listed.has(market.listing.marketId)) this.#refreshQueue.add(market.listing.marketId);
    }
  }

  #countMissed(market: BoardMarket, isListed: boolean): void {
    const { marketId } = market.listing;
    if (isListed || !isOpen(market)) {
      this.#missedSweeps.delete(marketId);
      return;
    }
    const missed = (this.#missedSweeps.get(marketId) ?? 0) + 1;
    this.#missedSweeps.set(marketId, missed);
    if (missed >= MISSED_SWEEPS_MAX || this.intervalMs >= RARE_SWEEPS_MS_MIN) this.#refreshQueue.add(marketId);
  }
}

const isOpen = ({ listing: { status } }: BoardMarket): boolean => status === "active" || status === "pending";
