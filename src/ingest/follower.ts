import type { VenueId } from "../domain/market.ts";
import type { ChangeCursor, ChangeStore } from "../storage/index.ts";
import type { IngestContext } from "./context.ts";

const POLL_PAUSE_MS = 500;
const START: ChangeCursor = { events: 0, markets: 0, quotes: 0 };

/** Applies stored changes of the venues that other nodes read to the board, twice a second and when woken. */
export class Follower {
  readonly #context: IngestContext;
  readonly #isFollowed: (venue: VenueId) => boolean;
  readonly #cursors = new Map<VenueId, ChangeCursor>();
  readonly #stop = new AbortController();
  #wake = new AbortController();
  #reading: Promise<void> = Promise.resolve();
  #loop: Promise<void> = Promise.resolve();
  #failures = 0;

  /** @param isFollowed  whether another node reads this venue, so that its markets come from the store */
  constructor(context: IngestContext, isFollowed: (venue: VenueId) => boolean) {
    this.#context = context;
    this.#isFollowed = isFollowed;
    for (const venue of context.venues.keys()) this.#cursors.set(venue, START);
  }

  /** Skips all changes stored so far; the caller loads them by other means afterwards. */
  async skipToPresent(): Promise<void> {
    const { changes, venues } = this.#context;
    for (const [venue, cursor] of await changes.latestCursors([...venues.keys()])) this.#cursors.set(venue, cursor);
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** Reads immediately, or again after the current read. */
  wake(): void {
    this.#wake.abort();
  }

  /** Reads everything stored for a venue so far, after the current read. Throws if the store does not respond. */
  catchUp(venue: VenueId): Promise<void> {
    return this.#read(() => [venue]);
  }

  /** Reads a venue again from the start, because its markets on the board may be wrong. */
  forget(venue: VenueId): void {
    this.#cursors.set(venue, START);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.wake();
    await this.#loop;
    await this.#reading.catch(() => {});
  }

  async #run(): Promise<void> {
    const { clock, log, venues } = this.#context;
    while (!this.#stop.signal.aborted) {
      this.#wake = new AbortController();
      try {
        await this.#read(() => [...venues.keys()].filter(this.#isFollowed));
        this.#failures = 0;
      } catch (error) {
        this.#failures += 1;
        if (this.#failures === 1) log.warn({ err: error }, "reading changes from the store failed; retrying");
      }
      if (!this.#stop.signal.aborted) await clock.sleep(POLL_PAUSE_MS, this.#wake.signal).catch(() => {});
    }
  }

  /** Reads one after the other, so that an older result is never applied after a newer one. */
  #read(listVenues: () => readonly VenueId[]): Promise<void> {
    const reading = this.#reading.catch(() => {}).then(() => this.#readAll(listVenues()));
    this.#reading = reading;
    return reading;
  }

  async #readAll(venues: readonly VenueId[]): Promise<void> {
    const { changes, finalizedSinceMs } = this.#context;
    for (let hasMore = venues.length > 0; hasMore && !this.#stop.signal.aborted; ) {
      const before = new Map(venues.map((venue) => [venue, this.#cursors.get(venue) ?? START]));
      const read = await changes.read(before, finalizedSinceMs());
      this.#apply(read);
      for (const [venue, cursor] of read.cursors) {
        // Unless `forget` has reset the cursor during the read.
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
      // The store takes precedence, also over a newer quote on the board.
      if (market !== null) board.apply({ listing: market.listing, quote, activity }, Number.POSITIVE_INFINITY);
    }
    for (const { key, snapshot } of markets) {
      const { market } = board.apply(snapshot, Number.POSITIVE_INFINITY);
      if (market.storeKey === null) board.annotate(market, { storeKey: key });
    }
  }
}
