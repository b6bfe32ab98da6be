import type { VenueId } from "../domain/market.ts";
import { PeriodicJob } from "../lib/periodic-job.ts";
import type { ChangeCursor, ChangeStore } from "../storage/index.ts";
import type { IngestContext } from "./context.ts";

const POLL_PAUSE_MS = 500;
const START_CURSOR: ChangeCursor = { events: 0, markets: 0, quotes: 0 };

export type Follower = ReturnType<typeof createFollower>;

/**
 * Applies the stored changes of the venues that other nodes read to the board, twice a second and when woken.
 *
 * @param isFollowed  returns whether another node reads the venue, so that its markets are loaded from the store
 */
export function createFollower(context: IngestContext, isFollowed: (venue: VenueId) => boolean) {
  const { changes, finalizedSinceMs, board, clock, log, venues } = context;
  const cursors = new Map<VenueId, ChangeCursor>([...venues.keys()].map((venue) => [venue, START_CURSOR]));
  const stopping = new AbortController();
  let reading: Promise<void> = Promise.resolve();

  /** Runs reads one at a time, so that an older result is never applied after a newer result. */
  const read = (listVenues: () => readonly VenueId[]): Promise<void> => {
    reading = reading.catch(() => {}).then(() => readAll(listVenues()));
    return reading;
  };

  const readAll = async (ids: readonly VenueId[]): Promise<void> => {
    for (let hasMore = ids.length > 0; hasMore && !stopping.signal.aborted; ) {
      const before = new Map(ids.map((venue) => [venue, cursors.get(venue) ?? START_CURSOR]));
      const page = await changes.read(before, finalizedSinceMs());
      apply(page);
      for (const [venue, cursor] of page.cursors) {
        // If `reset` has reset the cursor during the read, the cursor stays reset.
        if (cursors.get(venue) === before.get(venue)) cursors.set(venue, cursor);
      }
      hasMore = page.hasMore;
    }
  };

  const apply = ({ events, quotes, markets }: Awaited<ReturnType<ChangeStore["read"]>>): void => {
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
  };

  const job = new PeriodicJob({
    clock,
    intervalMs: POLL_PAUSE_MS,
    run: () => read(() => [...venues.keys()].filter(isFollowed)),
    onFailure(error, failures) {
      if (failures === 1) log.warn({ err: error }, "reading changes from the store failed; retrying");
    },
  });

  return {
    /** Skips the changes stored so far. The caller must load the board after this call. */
    async skipToPresent(): Promise<void> {
      for (const [venue, cursor] of await changes.latestCursors([...venues.keys()])) cursors.set(venue, cursor);
    },
    start: () => job.start(),
    /** Reads changes immediately, or after the current read if one is running. */
    wake: () => job.wake(),
    /** Reads all changes stored for a venue so far, after the current read. Throws if the store does not respond. */
    catchUp: (venue: VenueId) => read(() => [venue]),
    /** Resets the venue's cursor, so that all its markets are read again. Used when the board may be wrong. */
    reset: (venue: VenueId) => void cursors.set(venue, START_CURSOR),
    async stop(): Promise<void> {
      stopping.abort();
      await job.stop();
      await reading.catch(() => {});
    },
  };
}
