import type { Clock } from "../../ports/clock.ts";
import type { HistoryReading } from "../../storage/index.ts";

/** A history is read from the store at most once in this time, however many clients request it. */
const CACHE_MS = 1_000;
const ENTRIES_MAX = 500;

/** Returns a function that shares the reads of a history for one second. Failed reads are not cached. */
export function createHistoryCache(clock: Clock) {
  const histories = new Map<string, { readonly reading: Promise<HistoryReading>; readAt: number | null }>();
  return (id: string, read: () => Promise<HistoryReading>): Promise<HistoryReading> => {
    const cached = histories.get(id);
    if (cached !== undefined && (cached.readAt === null || clock.monotonic() - cached.readAt < CACHE_MS))
      return cached.reading;
    const reading = read();
    const entry = { reading, readAt: null as number | null };
    histories.delete(id);
    histories.set(id, entry);
    for (const oldest of histories.keys()) {
      if (histories.size <= ENTRIES_MAX) break;
      histories.delete(oldest);
    }
    reading.then(
      () => {
        entry.readAt = clock.monotonic();
      },
      () => histories.delete(id),
    );
    return reading;
  };
}
