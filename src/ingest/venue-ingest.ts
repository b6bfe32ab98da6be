import type { BoardMarket } from "../board/index.ts";
import { VenueError } from "../domain/errors.ts";
import type { VenueId } from "../domain/market.ts";
import type { OrderBook } from "../domain/order-book.ts";
import { PeriodicJob } from "../lib/periodic-job.ts";
import type { ListingPage } from "../ports/venue.ts";
import { type AnnouncedMarkets, createAnnouncedMarkets } from "./announced-markets.ts";
import { createBackfill } from "./backfill.ts";
import { createChangesReader } from "./changes-reader.ts";
import { type IngestContext, listMostTraded, type VenueContext } from "./context.ts";
import { createLoopRunner, type LoopRunner } from "./loop-runner.ts";
import { createRefreshQueue, type RefreshQueue } from "./refresh-queue.ts";
import { createStreamReader, type StreamReader } from "./stream-reader.ts";
import { createSweeper, type Sweeper } from "./sweeper.ts";
import { createTradesReader, type TradesReader } from "./trades-reader.ts";

const REFRESH_EVERY_MS = 1_000;
const ANNOUNCED_EVERY_MS = 1_000;
const TRADES_PAUSE_MS = 250;
const BACKFILL_PAUSE_MS = 200;
const SUBSCRIBE_EVERY_MS = 5_000;
/** Maximum number of markets per poll. One or two requests are enough for them. */
const POLLED_MARKETS_MAX = 200;
/** Interval at which the venue is probed while sweeps fail. */
const PROBE_EVERY_MS = 1_000;

export interface VenueIngestOptions extends Omit<VenueContext, "signal" | "applyPage"> {
  /** Returns whether the first sweep of every venue has completed or failed. */
  readonly areFirstSweepsOver: () => boolean;
}

/** Keeps the board up to date for one venue: sweeps, changes, stream, individual reads, trades and backfill. */
export class VenueIngest {
  readonly #areFirstSweepsOver: () => boolean;
  readonly #stop = new AbortController();
  readonly #context: VenueContext;
  readonly #loops: LoopRunner;
  readonly #refreshQueue: RefreshQueue;
  readonly #announced: AnnouncedMarkets;
  readonly #sweeper: Sweeper;
  readonly #readChanges: (sweptAt: number | null) => Promise<void>;
  readonly #trades: TradesReader;
  readonly #fetchNextHistory: () => Promise<void>;
  readonly #stream: StreamReader;
  readonly #probing: PeriodicJob;
  #running: Promise<void>[] = [];

  constructor({ areFirstSweepsOver, ...options }: VenueIngestOptions) {
    this.#areFirstSweepsOver = areFirstSweepsOver;
    this.#context = { ...options, signal: this.#stop.signal, applyPage: (page) => this.applyPage(page) };
    const requestResync = () => this.#sweeper.requestResync();
    this.#loops = createLoopRunner(this.#context, (loop, hasRecovered) => {
      // Responses from the time of the failure may be wrong. A sweep that recovers has already replaced them.
      if (!(hasRecovered && loop === "sweep")) requestResync();
    });
    this.#refreshQueue = createRefreshQueue(this.#context);
    this.#announced = createAnnouncedMarkets(this.#context);
    this.#sweeper = createSweeper(this.#context, this.#refreshQueue, () => this.#loops.wake("sweep"));
    this.#readChanges = createChangesReader(this.#context);
    this.#trades = createTradesReader(this.#context, (marketId) => this.#refreshQueue.add(marketId));
    this.#fetchNextHistory = createBackfill(this.#context);
    this.#stream = createStreamReader(this.#context, this.#refreshQueue, this.#announced, requestResync);
    const { clock, health } = options;
    this.#probing = new PeriodicJob({
      clock,
      delayMs: PROBE_EVERY_MS,
      intervalMs: PROBE_EVERY_MS,
      run: () => this.#probe(),
      onFailure(error) {
        // The failing loops log the outage.
        if (error instanceof VenueError) health.drop(`failed_${error.failure}`);
      },
    });
  }

  start(): void {
    const { venue, board, live } = this.#context;
    const { sweepPauseMs, changesPauseMs, activePollMs } = venue.profile;
    // Restored markets that await a result must be scheduled here, because sweeps do not return them.
    for (const market of board.markets()) if (market.listing.venue === venue.id) this.#schedule(market);
    live.start(venue.id);
    const hasStream = this.#stream.open();
    const run = (name: string, pauseMs: number, step: () => Promise<unknown>) =>
      this.#loops.run({ name, pauseMs, step });
    this.#running = [
      this.#loops.run({
        name: "sweep",
        pauseMs: sweepPauseMs,
        step: () => this.#sweeper.sweep(),
        restMs: () => this.#sweeper.restMs(),
        nextPause: () => this.#sweeper.nextPause(),
      }),
      run("refresh", REFRESH_EVERY_MS, () => this.#refreshQueue.refreshDue()),
      run("announced", ANNOUNCED_EVERY_MS, () => this.#announced.readDue()),
      run("trades", TRADES_PAUSE_MS, () => this.#unlessSweepHasPriority(() => this.#trades.readNext())),
      run("backfill", BACKFILL_PAUSE_MS, () => this.#unlessSweepHasPriority(() => this.#fetchHistory())),
    ];
    if (changesPauseMs !== null)
      this.#running.push(
        run("changes", changesPauseMs, () =>
          this.#unlessSweepHasPriority(() => this.#readChanges(this.#sweeper.lastCompleteAt)),
        ),
      );
    if (activePollMs !== null) this.#running.push(run("active", activePollMs, () => this.#pollActive(activePollMs)));
    this.#probing.start();
    if (hasStream) this.#running.push(run("follow", SUBSCRIBE_EVERY_MS, async () => this.#stream.follow()));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#stream.close();
    await Promise.allSettled([this.#probing.stop(), ...this.#running]);
  }

  /** Returns the order book tracked by the venue's stream; null if the stream has no current order book. */
  bookOf(marketId: string): OrderBook | null {
    return this.#stream.bookOf(marketId);
  }

  /** Requests the takers of a market's latest trades. */
  requestTakers(marketId: string): void {
    this.#trades.requestTakers(marketId);
  }

  /** Applies a page of listed markets, or a market that was looked up, to the board and the store. */
  applyPage(page: ListingPage): void {
    const { board, storeWriter, live } = this.#context;
    applyEvents(page, this.#context);
    for (const snapshot of page.markets) {
      const change = board.apply(snapshot, page.requestedAt);
      storeWriter.queueChange(change);
      this.#schedule(change.market, change.previous);
      if (live.reportPrice(change)) this.#refreshQueue.add(snapshot.listing.marketId);
    }
  }

  #schedule(market: BoardMarket, previous: BoardMarket | null = null): void {
    const { marketId, status } = market.listing;
    this.#announced.remove(marketId);
    this.#refreshQueue.schedule(market, previous);
    if (status !== "finalized") return;
    this.#sweeper.forget(marketId);
    this.#trades.forget(marketId);
  }

  /** Skips the step during first sweeps and confirming sweeps, which need the venue's whole request budget. */
  async #unlessSweepHasPriority(step: () => Promise<unknown>): Promise<void> {
    if (this.#areFirstSweepsOver() && !this.#sweeper.isConfirming) await step();
  }

  /** Backfills the next market. If volumes are summed from trades, waits for them, because they determine the order. */
  async #fetchHistory(): Promise<void> {
    if (this.#context.venue.profile.volumeFromTrades && !this.#trades.hasReadAll) return;
    await this.#fetchNextHistory();
  }

  /** Refreshes the most traded markets if the stream is not up and sweeps are less frequent than polls. */
  async #pollActive(activePollMs: number): Promise<void> {
    const { venue, board, health, signal } = this.#context;
    if (this.#stream.isUp || !health.isSettled || this.#sweeper.intervalMs() <= activePollMs) return;
    const listings = listMostTraded(board, [venue.id], POLLED_MARKETS_MAX).map(({ listing }) => listing);
    if (listings.length === 0) return;
    this.applyPage(await venue.getMarkets(listings, signal));
    health.succeeded();
  }

  /**
   * While sweeps fail, requests one known market once a second. A response ends the error pauses of all loops, so
   * that a venue that recovers is read immediately.
   */
  async #probe(): Promise<void> {
    const { venue, board, signal } = this.#context;
    if (!this.#loops.isFailing("sweep")) return;
    const market = board.markets().find(({ listing }) => listing.venue === venue.id);
    if (market === undefined) return;
    const page = await venue.findMarket(market.listing.marketId, signal);
    if (page !== null) this.applyPage(page);
    this.#loops.wakeFailing();
  }
}

function applyEvents(
  { events }: ListingPage,
  { board, storeWriter }: Pick<VenueContext, "board" | "storeWriter">,
): void {
  for (const event of events) {
    const changed = board.applyEvent(event);
    if (changed !== null) storeWriter.queueEvent(changed);
  }
}

/** The venues that this process currently reads. */
export class VenueReaders {
  readonly #context: IngestContext;
  readonly #readers = new Map<VenueId, VenueIngest>();

  constructor(context: IngestContext) {
    this.#context = context;
  }

  has(venue: VenueId): boolean {
    return this.#readers.has(venue);
  }

  /** Returns whether the first sweep of every venue that this process reads has completed or failed. */
  areFirstSweepsOver(): boolean {
    const { venues } = this.#context;
    return [...this.#readers.keys()].every((venue) => venues.get(venue)?.health.isSettled === true);
  }

  start(id: VenueId): void {
    const { adapter: venue, health } = this.#context.venues.get(id) ?? {};
    if (venue === undefined || health === undefined) return;
    const areFirstSweepsOver = () => this.areFirstSweepsOver();
    const reader = new VenueIngest({ ...this.#context, venue, health, areFirstSweepsOver });
    this.#readers.set(id, reader);
    reader.start();
  }

  /** Stops reading a venue. `has` returns true until `finish`, which stores the queued rows, has resolved. */
  async stop(venue: VenueId, finish: () => Promise<void>): Promise<void> {
    const reader = this.#readers.get(venue);
    await reader?.stop();
    await finish();
    if (this.#readers.get(venue) === reader) this.#readers.delete(venue);
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#readers.values()].map((reader) => reader.stop()));
  }

  /** Returns the reader of a venue; null if another node reads it. */
  find(venue: VenueId): VenueIngest | null {
    return this.#readers.get(venue) ?? null;
  }

  /** Applies a market that was looked up to the board. */
  applyPage(venue: VenueId, page: ListingPage): void {
    const reader = this.#readers.get(venue);
    if (reader !== undefined) {
      reader.applyPage(page);
      return;
    }
    // Another node reads this venue and its data takes precedence, so only markets that are not on the board are added.
    const { board, storeWriter } = this.#context;
    applyEvents(page, this.#context);
    for (const snapshot of page.markets) {
      const { listing } = snapshot;
      if (board.find(listing.venue, listing.marketId) === null)
        storeWriter.queueChange(board.apply(snapshot, page.requestedAt));
    }
  }
}
