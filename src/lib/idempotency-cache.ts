import type { Timer } from "./async-event.ts";

const RESULT_TTL_MS = 60_000;
const RESULTS_MAX = 1_000;

/** Runs work once per id within a minute. Results are kept only in memory, because they may contain secrets. */
export function createIdempotencyCache<Result>(clock: Timer) {
  const results = new Map<string, { readonly result: Promise<Result>; readonly cancel: () => void }>();
  const remove = (id: string) => {
    results.get(id)?.cancel();
    results.delete(id);
  };
  return {
    /** Runs the work, or returns the result of an earlier call with the same id. A failed result is not kept. */
    run(id: string, work: () => Promise<Result>): Promise<Result> {
      const existing = results.get(id);
      if (existing !== undefined) return existing.result;
      const [oldest] = results.keys();
      if (oldest !== undefined && results.size >= RESULTS_MAX) remove(oldest);
      const result = work();
      results.set(id, { result, cancel: clock.setTimeout(() => results.delete(id), RESULT_TTL_MS) });
      result.catch(() => remove(id));
      return result;
    },
    clear(): void {
      for (const id of [...results.keys()]) remove(id);
    },
  };
}
