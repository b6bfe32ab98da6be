import type { BoardChange, BoardMarket, MarketBoard } from "../board/index.ts";
import type { EventListing, MarketSnapshot, MarketStatus, VenueId } from "../domain/market.ts";
import type { Trade } from "../domain/trade.ts";
import { chunksOf } from "../lib/chunks.ts";
import { PeriodicJob } from "../lib/periodic-job.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { ChangeStore, CurrentQuote, MarketStore, TickWriter, VenueFence } from "../storage/index.ts";

/** Maximum number of rows per statement, because preparing a statement blocks the event loop. */
const BATCH_ROWS_MAX = 250;
const FLUSH_EVERY_MS = 1_000;
/** Maximum number of market rows per timed flush, of changed listings and of changed quotes each. `flushMarket` waits for at most one timed flush. */
const FLUSH_ROWS_MAX = 4_000;
/** Maximum number of market rows per timed flush during a first sweep, which needs the CPU. */
const FIRST_SWEEP_FLUSH_ROWS_MAX = 200;
/**
 * Time between two writes of quotes to market rows. Ticks already contain the quotes, and a restart reads the venues
 * within seconds, so this is not urgent. Under load it is the largest work of the embedded store.
 */
const QUOTE_FLUSH_EVERY_MS = 30_000;
const TRADES_QUEUED_MAX = 50_000;
const STATUS_CHANGES_QUEUED_MAX = 50_000;

/** Shortest time until an unchanged quote is written again; longer if `QUOTES_CONFIRMED_PER_SECOND_MAX` requires it. */
const CONFIRM_EVERY_MS_MIN = 60_000;
const QUOTES_CONFIRMED_PER_SECOND_MAX = 1_000;

/** Dependencies for writing to a store that other nodes also write to. */
export interface SharedStoreDependencies {
  /** Returns this node's fence for a venue, or null if this node does not hold the venue's lease. */
  fenceOf(venue: VenueId): VenueFence | null;
  readonly changes: Pick<ChangeStore, "saveQuotes">;
  /** Called after each flush that stored changes, to wake the nodes that follow them. */
  announce(): void;
}

export interface StoreWriterOptions {
  readonly board: MarketBoard;
  readonly store: MarketStore;
  readonly ticks: TickWriter;
  readonly clock: Clock;
  readonly log: Log;
  /** Set if other nodes write to the same store. */
  readonly shared?: SharedStoreDependencies;
  /** Returns whether a first sweep is running; always false by default. */
  readonly isFirstSweep?: () => boolean;
}

/** The counters of a writer that has written nothing. */
export const NO_STORE_COUNTERS: StoreWriter["counters"] = {
  ticks: { written: 0, queued: 0, dropped: 0 },
  markets: { queued: 0 },
  trades: { queued: 0, dropped: 0 },
  statusChanges: { dropped: 0 },
};

/** Queues board changes and writes them to the store in batches in the background. */
export class StoreWriter {
  readonly #options: StoreWriterOptions;
  /** Rows whose listing differs from the stored listing, or that are not stored yet. */
  readonly #changed = new Set<BoardMarket["row"]>();
  /** Rows whose quote or figures differ from the stored values. */
  readonly #repriced = new Set<BoardMarket["row"]>();
  /** Monotonic time at which each row's quote was last queued, by row; used only with `shared`. */
  readonly #quotedAt: number[] = [];
  readonly #events = new Map<string, EventListing>();
  #statusChanges: { market: BoardMarket; from: MarketStatus; at: number }[] = [];
  #trades: { market: BoardMarket; trade: Trade }[] = [];
  #tradesDropped = 0;
  #statusChangesDropped = 0;
  #quotesFlushedAt = 0;
  readonly #job: PeriodicJob;
  #flushing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: StoreWriterOptions) {
    this.#options = options;
    this.#job = new PeriodicJob({
      clock: options.clock,
      delayMs: FLUSH_EVERY_MS,
      intervalMs: FLUSH_EVERY_MS,
      run: () => this.#afterCurrentFlush(() => this.#flushQueued(this.#flushRowsMax())),
    });
  }

  start(): void {
    this.#job.start();
  }

  /** Returns the row limit of a timed flush. Unlimited if there are other nodes, because they read only stored rows. */
  #flushRowsMax(): number {
    if (this.#options.shared !== undefined) return Number.POSITIVE_INFINITY;
    return this.#options.isFirstSweep?.() ? FIRST_SWEEP_FLUSH_ROWS_MAX : FLUSH_ROWS_MAX;
  }

  /** Row counts: `written` and `dropped` since the start, `queued` currently. */
  get counters() {
    return {
      ticks: this.#options.ticks.counters,
      markets: { queued: this.#changed.size + this.#repriced.size },
      trades: { queued: this.#trades.length, dropped: this.#tradesDropped },
      statusChanges: { dropped: this.#statusChangesDropped },
    };
  }

  queueEvent(event: EventListing): void {
    if (!this.#isOurs(event.venue)) return;
    this.#events.set(`${event.venue}/${event.eventId}`, event);
  }

  queueChange(change: BoardChange): void {
    const { market } = change;
    if (!this.#isOurs(market.listing.venue)) {
      // Another node writes this venue. A market that was looked up here and is not stored yet is stored for all nodes.
      if (market.storeKey === null) this.#changed.add(market.row);
      return;
    }
    if (change.listingChanged || market.storeKey === null) this.#changed.add(market.row);
    if (change.quoteChanged) {
      this.#queueQuote(market);
      this.#writeTick(market);
    } else if (this.#options.shared !== undefined && this.#isConfirmationDue(market)) this.#queueQuote(market);
    const previousStatus = change.previous?.listing.status ?? market.listing.status;
    if (previousStatus !== market.listing.status) {
      if (this.#statusChanges.length >= STATUS_CHANGES_QUEUED_MAX) this.#statusChangesDropped += 1;
      else this.#statusChanges.push({ market, from: previousStatus, at: this.#options.clock.now() });
    }
  }

  /** Queues a change of volume or other figures that are not part of a tick. */
  queueFigures(market: BoardMarket): void {
    if (this.#options.shared !== undefined && this.#isOurs(market.listing.venue)) this.#queueQuote(market);
  }

  queueTrades(market: BoardMarket, trades: readonly Trade[]): void {
    if (!this.#isOurs(market.listing.venue)) return;
    for (const trade of trades) {
      if (this.#trades.length >= TRADES_QUEUED_MAX) this.#tradesDropped += 1;
      else this.#trades.push({ market, trade });
    }
  }

  /**
   * Writes all queued rows, after the current flush, but quotes only if they are due. Never rejects: after a failure the rows stay queued for the next
   * flush.
   */
  flush(): Promise<void> {
    return this.#afterCurrentFlush(() => this.#flushQueued(Number.POSITIVE_INFINITY));
  }

  /** Writes one queued market after the current flush, before the other markets. If this fails, it stays queued. */
  flushMarket({ row }: BoardMarket): Promise<void> {
    return this.#afterCurrentFlush(async () => {
      if (this.#changed.has(row)) await this.#flushMarkets(this.#changed, [row]);
    });
  }

  #afterCurrentFlush(write: () => Promise<void>): Promise<void> {
    this.#flushing = this.#flushing.then(write).catch((error: unknown) => {
      this.#options.log.warn({ err: error }, "writing to the store failed; the rows stay queued and are retried");
    });
    return this.#flushing;
  }

  async #flushQueued(rowsMax: number): Promise<void> {
    const now = this.#options.clock.now();
    const hasChanges = this.#events.size + this.#changed.size + this.#repriced.size > 0;
    if (this.#events.size > 0) {
      const events = [...this.#events.entries().take(rowsMax)];
      await this.#options.store.upsertEvents(
        events.map(([, event]) => event),
        this.#fencesOf(events.map(([, { venue }]) => venue)),
      );
      for (const [key, event] of events) if (this.#events.get(key) === event) this.#events.delete(key);
    }
    await this.#flushMarkets(this.#changed, this.#changed.values().take(rowsMax));
    if (this.#options.shared !== undefined) await this.#flushQuotes(this.#options.shared);
    else if (this.#isClosed || now - this.#quotesFlushedAt >= QUOTE_FLUSH_EVERY_MS) {
      const isLast = this.#repriced.size <= rowsMax;
      await this.#flushMarkets(this.#repriced, this.#repriced.values().take(rowsMax));
      // The rest, or rows that could not be written, follow with the next flush.
      if (isLast) this.#quotesFlushedAt = now;
    }
    if (hasChanges) this.#options.shared?.announce();
    await this.#flushStatusChanges();
    await this.#flushTrades();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#job.stop();
    await this.flush();
    await this.#options.ticks.close();
  }

  #writeTick(market: BoardMarket): void {
    if (market.storeKey === null) return;
    const { quote } = market;
    const fence = this.#options.shared?.fenceOf(market.listing.venue);
    if (fence === null) return;
    this.#options.ticks.write({
      marketKey: market.storeKey,
      eventAt: market.updatedAt,
      receivedAt: quote.receivedAt,
      bid: quote.bid,
      ask: quote.ask,
      lastPrice: quote.lastPrice,
      yesPrice: market.yesPrice,
      volumeUsd: market.activity.volumeTotalUsd,
      fence,
    });
  }

  #isOurs(venue: VenueId): boolean {
    return this.#options.shared === undefined || this.#options.shared.fenceOf(venue) !== null;
  }

  /** Returns the fences of the venues that this node may write, or undefined if there are no other nodes. */
  #fencesOf(venues: readonly VenueId[]): VenueFence[] | undefined {
    const { shared } = this.#options;
    return shared === undefined ? undefined : [...new Set(venues)].flatMap((venue) => shared.fenceOf(venue) ?? []);
  }

  #queueQuote(market: BoardMarket): void {
    // Without other nodes, writing a changed row includes its price.
    if (this.#options.shared !== undefined || !this.#changed.has(market.row)) this.#repriced.add(market.row);
    this.#quotedAt[market.row] = this.#options.clock.monotonic();
  }

  #isConfirmationDue({ row }: BoardMarket): boolean {
    const everyMs = Math.max(
      CONFIRM_EVERY_MS_MIN,
      (this.#options.board.size / QUOTES_CONFIRMED_PER_SECOND_MAX) * 1_000,
    );
    return this.#options.clock.monotonic() - (this.#quotedAt[row] ?? Number.NEGATIVE_INFINITY) >= everyMs;
  }

  async #flushQuotes({ fenceOf, changes }: SharedStoreDependencies): Promise<void> {
    const markets = [...this.#options.board.rows(this.#repriced)];
    this.#repriced.clear();
    const quotes: CurrentQuote[] = [];
    for (const { row, storeKey, listing, quote, activity, updatedAt } of markets) {
      if (fenceOf(listing.venue) === null) continue;
      if (storeKey !== null) quotes.push({ marketKey: storeKey, venue: listing.venue, quote, activity, updatedAt });
      else if (this.#changed.has(row)) this.#repriced.add(row);
    }
    if (quotes.length === 0) return;
    try {
      await changes.saveQuotes(quotes, this.#fencesOf(quotes.map(({ venue }) => venue)) ?? []);
    } catch (error) {
      for (const { row } of markets) this.#repriced.add(row);
      throw error;
    }
  }

  /** Rows leave the queue before they are written, so a change during the write queues them again. */
  async #flushMarkets(queue: Set<number>, selected: Iterable<number>): Promise<void> {
    const rows = [...selected];
    const markets = [...this.#options.board.rows(rows)];
    for (const row of rows) {
      queue.delete(row);
      // Writing a row includes its price.
      if (this.#options.shared === undefined) this.#repriced.delete(row);
    }
    for (let start = 0; start < markets.length; start += BATCH_ROWS_MAX) {
      const batch = markets.slice(start, start + BATCH_ROWS_MAX);
      try {
        const keys = await this.#write(batch);
        batch.forEach((market, index) => {
          const storeKey = keys[index];
          if (market.storeKey !== null || storeKey === null || storeKey === undefined) return;
          this.#writeTick(this.#options.board.annotate(market, { storeKey }));
        });
      } catch (error) {
        for (const { row } of markets.slice(start)) queue.add(row);
        throw error;
      }
    }
  }

  /** Writes the markets of venues that this node may write. Of others, inserts only markets that are not stored. */
  async #write(markets: readonly BoardMarket[]): Promise<(number | null)[]> {
    const fences = this.#fencesOf(markets.map(({ listing }) => listing.venue));
    if (fences === undefined) return this.#options.store.upsertMarkets(markets.map(snapshotOf));
    const ours = new Set(fences.map(({ venue }) => venue));
    const isOurs = ({ listing }: BoardMarket) => ours.has(listing.venue);
    const written = await this.#options.store.upsertMarkets(markets.filter(isOurs).map(snapshotOf), fences);
    const inserted = await this.#options.store.insertUnknownMarkets(
      markets.filter((market) => !isOurs(market) && market.storeKey === null).map(snapshotOf),
    );
    const next = { written: written.values(), inserted: inserted.values() };
    return markets.map((market) => {
      if (isOurs(market)) return next.written.next().value ?? null;
      return market.storeKey === null ? (next.inserted.next().value ?? null) : market.storeKey;
    });
  }

  async #flushStatusChanges(): Promise<void> {
    const changes = this.#statusChanges;
    const waiting: typeof changes = [];
    this.#statusChanges = [];
    try {
      for (const change of changes) {
        const { market, from, at } = change;
        const marketKey = this.#keyOf(market);
        if (marketKey === null) {
          if (this.#changed.has(market.row)) waiting.push(change);
          continue;
        }
        const { status: to, outcome } = market.listing;
        const fence = this.#options.shared?.fenceOf(market.listing.venue);
        if (fence === null) continue;
        await this.#options.store.recordStatusChange({ marketKey, from, to, outcome, changedAt: at }, fence);
      }
      this.#statusChanges = [...waiting, ...this.#statusChanges];
    } catch (error) {
      // Changes that were already written are written again, which has no effect.
      const queued = [...changes, ...this.#statusChanges];
      this.#statusChanges = queued.slice(0, STATUS_CHANGES_QUEUED_MAX);
      this.#statusChangesDropped += queued.length - this.#statusChanges.length;
      throw error;
    }
  }

  async #flushTrades(): Promise<void> {
    const queued = this.#trades;
    const waiting: typeof queued = [];
    this.#trades = [];
    try {
      const rows = queued.flatMap((entry) => {
        const marketKey = this.#keyOf(entry.market);
        if (marketKey === null && this.#changed.has(entry.market.row)) waiting.push(entry);
        return marketKey === null ? [] : [{ marketKey, trade: entry.trade }];
      });
      for (const batch of chunksOf(rows, BATCH_ROWS_MAX)) await this.#options.store.insertTrades(batch);
      this.#trades = [...waiting, ...this.#trades];
    } catch (error) {
      const requeued = [...queued, ...this.#trades];
      this.#trades = requeued.slice(0, TRADES_QUEUED_MAX);
      this.#tradesDropped += requeued.length - this.#trades.length;
      throw error;
    }
  }

  /** Returns the market's key in the store, or null if the market is not stored. */
  #keyOf({ listing }: BoardMarket): number | null {
    return this.#options.board.find(listing.venue, listing.marketId)?.storeKey ?? null;
  }
}

function snapshotOf(market: BoardMarket): MarketSnapshot {
  return { listing: market.listing, quote: market.quote, activity: market.activity };
}
