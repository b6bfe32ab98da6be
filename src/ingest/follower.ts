import type { VenueId } from "../domain/market.ts";
import { PeriodicJob } from "../lib/periodic-job.ts";
import type { ChangeCursor, ChangeStore } from "../storage/index.ts";
import type { IngestContext } from "./context.ts";

const POLL_PAUSE_MS = 500;
const START_CURSOR: ChangeCursor = { events: 0, markets: 0, quotes: 0 };

/** Applies the stored changes of the venues that other nodes read to the board, twice a second and when woken. */
export class Follower {
  readonly #context: IngestContext;
  readonly #cursors = new Map<VenueId, ChangeCursor>();
  readonly #stop = new AbortController();
  readonly #job: PeriodicJob;
  #reading: Promise<void> = Promise.resolve();

  /** @param isFollowed  returns whether another node reads the venue, so that its markets are loaded from the store */
  constructor(context: IngestContext, isFollowed: (venue: VenueId) => boolean) {
    this.#context = context;
    const { clock, log, venues } = context;
    for (const venue of venues.keys()) this.#cursors.set(venue, START_CURSOR);
    this.#job = new PeriodicJob({
      clock,
      intervalMs: POLL_PAUSE_MS,
      run: () => this.#read(() => [...venues.keys()].filter(isFollowed)),
      onFailure(error, failures) {
        if (failures === 1) log.warn({ err: error }, "reading changes from the store failed; retrying");
      },
    });
  }

  /** Skips the changes stored so far. The caller must load the board after this call. */
  async skipToPresent(): Promise<void> {
    const { changes, venues } = this.#context;
    for (const [venue, cursor] of await changes.latestCursors([...venues.keys()])) this.#cursors.set(venue, cursor);
  }

  start(): void {
    this.#job.start();
  }

  /** Reads changes immediately, or after the current read if one is running. */
  wake(): void {
    this.#job.wake();
  }

  /** Reads all changes stored for a venue so far, after the current read. Throws if the store does not respond. */
  catchUp(venue: VenueId): Promise<void> {
    return this.#read(() => [venue]);
  }

  /** Resets the venue's cursor, so that all its markets are read again. For a board that may be wrong. */
  forget(venue: VenueId): void {
    this.#cursors.set(venue, START_CURSOR);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#job.stop();
    await this.#reading.catch(() => {});
  }

  /** Runs reads one at a time, so that an older result is never applied after a newer result. */
  #read(listVenues: () => readonly VenueId[]): Promise<void> {
    const reading = this.#reading.catch(() => {}).then(() => this.#readAll(listVenues()));
    this.#reading = reading;
    return reading;
  }

  async #readAll(venues: readonly VenueId[]): Promise<void> {
    const { changes, finalizedSinceMs } = this.#context;
    for (let hasMore = venues.length > 0; hasMore && !this.#stop.signal.aborted; ) {
      const before = new Map(venues.map((venue) => [venue, this.#cursors.get(venue) ?? START_CURSOR]));
      const read = await changes.read(before, finalizedSinceMs());
      this.#apply(read);
      for (const [venue, cursor] of read.cursors) {
        // If `forget` has reset the cursor during the read, the cursor stays reset.
        if (this.#cursors.get(venue) === before.get(venue)) this.#cursors.set(venue, cursor);
      }
      hasMore = read.hasMore;
    }
  }

  #apply({ events, quotes, markets }: Awaited<ReturnType<ChangeStore["read"]>>): void {
    const { board } = this.#context;
    for (const event of events) board.applyEvent(event);
    for (const { venue, marketId, quote, activity } of quotes) {
      const market = board.find(venue, marketId);
      // The stored quote takes precedence, even over a newer quote on the board.
      if (market !== null) board.apply({ listing: market.listing, quote, activity }, Number.POSITIVE_INFINITY);
    }
    for (const { key, snapshot } of markets) {
      const { market } = board.apply(snapshot, Number.POSITIVE_INFINITY);
      if (market.storeKey === null) board.annotate(market, { storeKey: key });
    }
  }
}
