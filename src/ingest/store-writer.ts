import type { BoardChange, BoardMarket, MarketBoard } from "../board/index.ts";
import type { EventListing, MarketSnapshot, MarketStatus, VenueId } from "../domain/market.ts";
import type { Trade } from "../domain/trade.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { ChangeStore, CurrentQuote, MarketStore, TickWriter, VenueFence } from "../storage/index.ts";

/** Rows that are made ready for the store at once: while they are, nobody else has a turn. */
const BATCH_ROWS_MAX = 250;
const FLUSH_EVERY_MS = 1_000;
/** Market rows that one turn of the timer writes: whoever waits for a market to be stored waits for one turn at most. */
const TURN_ROWS_MAX = 4_000;
/**
 * The same while a first sweep goes on: the board has what it reads, and the processor time that storing costs is better
 * spent on reading. A sweep that never ends still comes to be stored.
 */
const FIRST_SWEEP_TURN_ROWS_MAX = 200;
/** A change of price alone is written to the market's own row this often: the ticks have it already. */
const QUOTE_FLUSH_TURNS = 10;
const QUOTE_FLUSH_EVERY_MS = QUOTE_FLUSH_TURNS * FLUSH_EVERY_MS;
const TRADES_QUEUED_MAX = 50_000;
const STATUS_CHANGES_QUEUED_MAX = 50_000;

/** A quote that was only confirmed is written again after this long, or later: at most so many a second. */
const CONFIRM_EVERY_MS_MIN = 60_000;
const CONFIRMED_PER_SECOND_MAX = 1_000;

/** Where several nodes write: which venues are ours at this moment, and where their present quotes go. */
export interface SharedWriting {
  /** The claim to a venue whose lease is ours right now, else null. */
  claim(venue: VenueId): VenueFence | null;
  readonly changes: Pick<ChangeStore, "saveQuotes">;
  /** Called after each round of writing, for those who follow what is stored. */
  announce(): void;
}

/** Writes what the board learns to the store, in batches, in the background. Nothing waits for it. */
export class StoreWriter {
  readonly #board: MarketBoard;
  readonly #store: MarketStore;
  readonly #ticks: TickWriter;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Rows whose listing is not stored as it is now. */
  readonly #changed = new Set<BoardMarket["row"]>();
  readonly #repriced = new Set<BoardMarket["row"]>();
  readonly #shared: SharedWriting | null;
  readonly #isFirstSweep: () => boolean;
  /** Where shared: when each row's quote was last queued for the store. */
  readonly #quotedAt: number[] = [];
  readonly #events = new Map<string, EventListing>();
  #statusChanges: { market: BoardMarket; from: MarketStatus; at: number }[] = [];
  #trades: { market: BoardMarket; trade: Trade }[] = [];
  #tradesDropped = 0;
  #statusChangesDropped = 0;
  #quotesFlushedAt = 0;
  #cancelTimer: () => void = () => {};
  #flushing: Promise<void> = Promise.resolve();
  #isClosed = false;

  /**
   * @param options.shared  left out where no other node can write
   * @param options.isFirstSweep  whether what is on the board is still coming in for the first time
   */
  constructor(options: {
    board: MarketBoard;
    store: MarketStore;
    ticks: TickWriter;
    clock: Clock;
    log: Log;
    shared?: SharedWriting;
    isFirstSweep?: () => boolean;
  }) {
    this.#shared = options.shared ?? null;
    this.#isFirstSweep = options.isFirstSweep ?? (() => false);
    this.#board = options.board;
    this.#store = options.store;
    this.#ticks = options.ticks;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  start(): void {
    this.#cancelTimer = this.#clock.setTimeout(() => {
      this.#inTurn(() => this.#flushQueued(this.#turnRows())).then(() => {
        if (!this.#isClosed) this.start();
      });
    }, FLUSH_EVERY_MS);
  }

  /** Other nodes see of a venue only what is stored, so where there are some nothing is put off. */
  #turnRows(): number {
    if (this.#shared !== null) return Number.POSITIVE_INFINITY;
    return this.#isFirstSweep() ? FIRST_SWEEP_TURN_ROWS_MAX : TURN_ROWS_MAX;
  }

  get counters(): Readonly<
    Record<"marketsQueued" | "tradesQueued" | "tradesDropped" | "statusChangesDropped", number>
  > {
    return {
      marketsQueued: this.#changed.size + this.#repriced.size,
      tradesQueued: this.#trades.length,
      tradesDropped: this.#tradesDropped,
      statusChangesDropped: this.#statusChangesDropped,
    };
  }

  noteEvent(event: EventListing): void {
    if (!this.#isOurs(event.venue)) return;
    this.#events.set(`${event.venue}/${event.eventId}`, event);
  }

  note(change: BoardChange): void {
    const { market } = change;
    if (!this.#isOurs(market.listing.venue)) {
      // Another node keeps this venue. What was asked for by name and is not in the store yet is stored for all.
      if (market.storeKey === null) this.#changed.add(market.row);
      return;
    }
    if (change.listingChanged || market.storeKey === null) this.#changed.add(market.row);
    if (change.quoteChanged) {
      this.#requote(market);
      this.#tick(market);
    } else if (this.#shared !== null && this.#isConfirmationDue(market)) this.#requote(market);
    if (change.previousStatus !== null && change.previousStatus !== market.listing.status) {
      if (this.#statusChanges.length >= STATUS_CHANGES_QUEUED_MAX) this.#statusChangesDropped += 1;
      else this.#statusChanges.push({ market, from: change.previousStatus, at: this.#clock.now() });
    }
  }

  /** A figure changed that makes no tick. */
  noteFigures(market: BoardMarket): void {
    if (this.#shared !== null && this.#isOurs(market.listing.venue)) this.#requote(market);
  }

  noteTrades(market: BoardMarket, trades: readonly Trade[]): void {
    if (!this.#isOurs(market.listing.venue)) return;
    for (const trade of trades) {
      if (this.#trades.length >= TRADES_QUEUED_MAX) this.#tradesDropped += 1;
      else this.#trades.push({ market, trade });
    }
  }

  /**
   * Writes all that is queued, after any flush under way; on failure everything stays queued and the next flush tries
   * again.
   */
  flush(): Promise<void> {
    return this.#inTurn(() => this.#flushQueued(Number.POSITIVE_INFINITY));
  }

  /** Writes one market before all that is queued; a failure leaves it queued. */
  flushMarket({ row }: BoardMarket): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#changed.has(row)) await this.#flushMarkets(this.#changed, [row]);
    });
  }

  #inTurn(write: () => Promise<void>): Promise<void> {
    this.#flushing = this.#flushing.then(write).catch((error: unknown) => {
      this.#log.warn({ err: error }, "the store takes no writes at the moment; they are kept and tried again");
    });
    return this.#flushing;
  }

  async #flushQueued(rowsMax: number): Promise<void> {
    const now = this.#clock.now();
    const isNews = this.#events.size + this.#changed.size + this.#repriced.size > 0;
    if (this.#events.size > 0) {
      const events = [...this.#events.entries().take(rowsMax)];
      await this.#store.upsertEvents(
        events.map(([, event]) => event),
        this.#claims(events.map(([, { venue }]) => venue)),
      );
      for (const [key, event] of events) if (this.#events.get(key) === event) this.#events.delete(key);
    }
    await this.#flushMarkets(this.#changed, this.#changed.values().take(rowsMax));
    if (this.#shared !== null) await this.#flushQuotes(this.#shared);
    else if (this.#isClosed || now - this.#quotesFlushedAt >= QUOTE_FLUSH_EVERY_MS) {
      this.#quotesFlushedAt = now;
      await this.#flushMarkets(this.#repriced, this.#repriced.values().take(rowsMax * QUOTE_FLUSH_TURNS));
    }
    if (isNews) this.#shared?.announce();
    await this.#flushStatusChanges();
    await this.#flushTrades();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer();
    await this.flush();
    await this.#ticks.close();
  }

  #tick(market: BoardMarket): void {
    if (market.storeKey === null) return;
    const { quote } = market;
    const claim = this.#shared?.claim(market.listing.venue);
    if (claim === null) return;
    this.#ticks.write({
      marketKey: market.storeKey,
      eventAt: market.updatedAt,
      receivedAt: quote.receivedAt,
      bid: quote.bid,
      ask: quote.ask,
      lastPrice: quote.lastPrice,
      yesPrice: market.yesPrice,
      volumeUsd: market.activity.volumeTotalUsd,
      ...(claim === undefined ? {} : { fence: claim }),
    });
  }

  #isOurs(venue: VenueId): boolean {
    return this.#shared === null || this.#shared.claim(venue) !== null;
  }

  /** What is needed to write for these markets' venues; undefined where no other node can write. */
  #claims(venues: readonly VenueId[]): VenueFence[] | undefined {
    const shared = this.#shared;
    return shared === null ? undefined : [...new Set(venues)].flatMap((venue) => shared.claim(venue) ?? []);
  }

  #requote(market: BoardMarket): void {
    // Alone, a row that is to be written whole takes its price along.
    if (this.#shared !== null || !this.#changed.has(market.row)) this.#repriced.add(market.row);
    this.#quotedAt[market.row] = this.#clock.monotonic();
  }

  #isConfirmationDue({ row }: BoardMarket): boolean {
    const everyMs = Math.max(CONFIRM_EVERY_MS_MIN, (this.#board.size / CONFIRMED_PER_SECOND_MAX) * 1_000);
    return this.#clock.monotonic() - (this.#quotedAt[row] ?? Number.NEGATIVE_INFINITY) >= everyMs;
  }

  async #flushQuotes({ claim, changes }: SharedWriting): Promise<void> {
    const markets = [...this.#board.rows(this.#repriced)];
    this.#repriced.clear();
    const quotes: CurrentQuote[] = [];
    for (const { row, storeKey, listing, quote, activity, updatedAt } of markets) {
      if (claim(listing.venue) === null) continue;
      if (storeKey !== null) quotes.push({ marketKey: storeKey, venue: listing.venue, quote, activity, updatedAt });
      else if (this.#changed.has(row)) this.#repriced.add(row);
    }
    if (quotes.length === 0) return;
    try {
      await changes.saveQuotes(quotes, this.#claims(quotes.map(({ venue }) => venue)) ?? []);
    } catch (error) {
      for (const { row } of markets) this.#repriced.add(row);
      throw error;
    }
  }

  /** What changes while the store writes is queued anew, so a row leaves the queue before it is written. */
  async #flushMarkets(queue: Set<number>, due: Iterable<number>): Promise<void> {
    const rows = [...due];
    const markets = [...this.#board.rows(rows)];
    for (const row of rows) {
      queue.delete(row);
      // A row is written whole, with its price.
      if (this.#shared === null) this.#repriced.delete(row);
    }
    for (let start = 0; start < markets.length; start += BATCH_ROWS_MAX) {
      const batch = markets.slice(start, start + BATCH_ROWS_MAX);
      try {
        const keys = await this.#write(batch);
        batch.forEach((market, index) => {
          const storeKey = keys[index];
          if (market.storeKey !== null || storeKey === null || storeKey === undefined) return;
          this.#tick(this.#board.annotate(market, { storeKey }));
        });
      } catch (error) {
        for (const { row } of markets.slice(start)) queue.add(row);
        throw error;
      }
    }
  }

  /** Markets of venues that are ours are written as they are; of the others only those that the store lacks. */
  async #write(markets: readonly BoardMarket[]): Promise<(number | null)[]> {
    const claims = this.#claims(markets.map(({ listing }) => listing.venue));
    if (claims === undefined) return this.#store.upsertMarkets(markets.map(snapshotOf));
    const ours = new Set(claims.map(({ venue }) => venue));
    const isOurs = ({ listing }: BoardMarket) => ours.has(listing.venue);
    const written = await this.#store.upsertMarkets(markets.filter(isOurs).map(snapshotOf), claims);
    const found = await this.#store.insertUnknownMarkets(
      markets.filter((market) => !isOurs(market) && market.storeKey === null).map(snapshotOf),
    );
    const next = { written: written.values(), found: found.values() };
    return markets.map((market) => {
      if (isOurs(market)) return next.written.next().value ?? null;
      return market.storeKey === null ? (next.found.next().value ?? null) : market.storeKey;
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
        const claim = this.#shared?.claim(market.listing.venue);
        if (claim === null) continue;
        await this.#store.recordStatusChange({ marketKey, from, to, outcome, changedAt: at }, claim);
      }
      this.#statusChanges = [...waiting, ...this.#statusChanges];
    } catch (error) {
      this.#statusChanges = [...changes, ...this.#statusChanges];
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
      for (let start = 0; start < rows.length; start += BATCH_ROWS_MAX)
        await this.#store.insertTrades(rows.slice(start, start + BATCH_ROWS_MAX));
      this.#trades = [...waiting, ...this.#trades];
    } catch (error) {
      this.#trades = [...queued, ...this.#trades].slice(0, TRADES_QUEUED_MAX);
      throw error;
    }
  }

  /** The market's key in the store; one that is still queued has none yet. */
  #keyOf({ listing }: BoardMarket): number | null {
    return this.#board.find(listing.venue, listing.marketId)?.storeKey ?? null;
  }
}

function snapshotOf(market: BoardMarket): MarketSnapshot {
  return { listing: market.listing, quote: market.quote, activity: market.activity };
}
