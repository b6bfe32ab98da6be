import { createSingleFlightCache } from "../../../lib/single-flight-cache.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { PriceHistory } from "../../../storage/index.ts";

/** Each history is read from the store at most once in this time. */
const CACHE_MS = 1_000;
const ENTRIES_MAX = 500;

/** Creates a function that caches each history for one second. Failed reads are not cached. */
export const createHistoryCache = (clock: Clock) =>
  createSingleFlightCache<PriceHistory>({
    maxAgeMsOf: () => CACHE_MS,
    entriesMax: ENTRIES_MAX,
    now: () => clock.monotonic(),
  });
