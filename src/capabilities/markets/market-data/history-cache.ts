import { createSingleFlightCache } from "../../../lib/single-flight-cache.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { PriceHistory } from "../../../storage/index.ts";

/** A history is read from the store at most once in this time, however many clients request it. */
const CACHE_MS = 1_000;
const ENTRIES_MAX = 500;

/** Returns a function that shares the reads of a history for one second. Failed reads are not cached. */
export const createHistoryCache = (clock: Clock) =>
  createSingleFlightCache<PriceHistory>({
    maxAgeMsOf: () => CACHE_MS,
    entriesMax: ENTRIES_MAX,
    now: () => clock.monotonic(),
  });
