import type { MarketBoard } from "../board/index.ts";
import type { VenueId } from "../domain/market.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { ChangeCursor, ChangeStore } from "../storage/index.ts";

const EVERY_MS = 500;
const FROM_THE_BEGINNING: ChangeCursor = { events: 0, markets: 0, quotes: 0 };

export interface FollowerOptions {
  readonly venues: readonly VenueId[];
  /** Another node reads this venue, so its markets come from the store. */
  readonly isFollowed: (venue: VenueId) => boolean;
  readonly board: MarketBoard;
  readonly changes: Pick<ChangeStore, "latest" | "read">;
  /** Markets finalized and last seen before this are not wanted, Unix milliseconds. */
  readonly finalizedSinceMs: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Keeps the board true to the store for the venues that other nodes read, twice a second or when woken. */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #cursors = new Map<VenueId, ChangeCursor>();
  readonly #stop = new AbortController();
  #wake = new AbortController();
  #reading: Promise<void> = Promise.resolve();
  #loop: Promise<void> = Promise.resolve();
  #failures = 0;

  constructor(options: FollowerOptions) {
    this.#options = options;
    for (const venue of options.venues) this.#cursors.set(venue, FROM_THE_BEGINNING);
  }

  /** What was written up to now is about to be loaded by other means; only what comes after is read. */
  async skipToPresent(): Promise<void> {
    const { changes, venues } = this.#options;
    for (const [venue, cursor] of await changes.latest(venues)) this.#cursors.set(venue, cursor);
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** Reads at once instead of at the next turn, and once more where a read is under way: the bus tells of changes. */
  wake(): void {
    this.#wake.abort();
  }

  /** Reads everything written about a venue so far, after any read under way. Throws when the store gives no answer. */
  catchUp(venue: VenueId): Promise<void> {
    return this.#read(() => [venue]);
  }

  /** What the board has of this venue may be wrong: all of it is read again. */
  forget(venue: VenueId): void {
    this.#cursors.set(venue, FROM_THE_BEGINNING);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.wake();
    await this.#loop;
    await this.#reading.catch(() => {});
  }

  async #run(): Promise<void> {
    const { clock, log, venues, isFollowed } = this.#options;
    while (!this.#stop.signal.aborted) {
      this.#wake = new AbortController();
      try {
        await this.#read(() => venues.filter(isFollowed));
        this.#failures = 0;
      } catch (error) {
        this.#failures += 1;
        if (this.#failures === 1) log.warn({ err: error }, "the store cannot be followed at the moment");
      }
      if (!this.#stop.signal.aborted) await clock.sleep(EVERY_MS, this.#wake.signal).catch(() => {});
    }
  }

  /** One read after the other, so that an older answer is never applied after a newer one. */
  #read(venuesNow: () => readonly VenueId[]): Promise<void> {
    const reading = this.#reading.catch(() => {}).then(() => this.#readAll(venuesNow()));
    this.#reading = reading;
    return reading;
  }

  async #readAll(venues: readonly VenueId[]): Promise<void> {
    const { changes, finalizedSinceMs } = this.#options;
    for (let isMore = venues.length > 0; isMore && !this.#stop.signal.aborted; ) {
      const before = new Map(venues.map((venue) => [venue, this.#cursors.get(venue) ?? FROM_THE_BEGINNING]));
      const read = await changes.read(before, finalizedSinceMs());
      this.#apply(read);
      for (const [venue, cursor] of read.cursors) {
        // One that was forgotten meanwhile begins anew.
        if (this.#cursors.get(venue) === before.get(venue)) this.#cursors.set(venue, cursor);
      }
      isMore = read.isMore;
    }
  }

  #apply({ events, quotes, markets }: Awaited<ReturnType<ChangeStore["read"]>>): void {
    const { board } = this.#options;
    for (const event of events) board.applyEvent(event);
    for (const { venue, marketId, quote, activity } of quotes) {
      const known = board.find(venue, marketId);
      // The store is right, however fresh the board's own quote is.
      if (known !== null) board.apply({ listing: known.listing, quote, activity }, Number.POSITIVE_INFINITY);
    }
    for (const { key, snapshot } of markets) {
      const { market } = board.apply(snapshot, Number.POSITIVE_INFINITY);
      if (market.storeKey === null) board.annotate(market, { storeKey: key });
    }
  }
}
