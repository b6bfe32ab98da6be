import { deleteOldest } from "./delete-oldest.ts";

/**
 * Returns a function that shares reads among its callers. Concurrent calls with the same id share one read, and later
 * calls reuse its result until the maximum age. A failed read is not reused.
 *
 * @param maxAgeMsOf  how long a result is reused after the end of its read, in milliseconds
 * @param entriesMax  maximum number of cached results; the oldest is removed first
 * @param now  monotonic time in milliseconds
 */
export function createSingleFlightCache<Value>({
  maxAgeMsOf,
  entriesMax,
  now,
}: {
  readonly maxAgeMsOf: (value: Value) => number;
  readonly entriesMax: number;
  readonly now: () => number;
}) {
  const entries = new Map<string, { readonly reading: Promise<Value>; endsAt: number | null }>();
  return (id: string, read: () => Promise<Value>): Promise<Value> => {
    const cached = entries.get(id);
    if (cached !== undefined && (cached.endsAt === null || now() < cached.endsAt)) return cached.reading;
    const reading = read();
    const entry = { reading, endsAt: null as number | null };
    entries.delete(id);
    entries.set(id, entry);
    deleteOldest(entries, entriesMax);
    reading.then(
      (value) => {
        entry.endsAt = now() + maxAgeMsOf(value);
      },
      () => {
        // A later read may have replaced this one.
        if (entries.get(id) === entry) entries.delete(id);
      },
    );
    return reading;
  };
}
