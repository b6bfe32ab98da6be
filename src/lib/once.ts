const KEPT_MS = 60_000;
const KEPT_MAX = 1_000;

/** The part of a clock that forgetting needs. */
interface Timer {
  setTimeout(run: () => void, milliseconds: number): () => void;
}

/** Work that is done once for each id, however often it is asked for within a minute. */
export interface Once<Result> {
  /** Does the work, or gives what it gave or is about to give. What failed is done anew. */
  run(id: string, work: () => Promise<Result>): Promise<Result>;
  /** Forgets all results. */
  clear(): void;
}

/** Results are in this process's memory only, and for no longer than a minute: they may be what is shown only once. */
export function createOnce<Result>(clock: Timer): Once<Result> {
  const results = new Map<string, { readonly result: Promise<Result>; readonly cancel: () => void }>();
  const forget = (id: string) => {
    results.get(id)?.cancel();
    results.delete(id);
  };
  return {
    run(id, work) {
      const known = results.get(id);
      if (known !== undefined) return known.result;
      const [oldest] = results.keys();
      if (oldest !== undefined && results.size >= KEPT_MAX) forget(oldest);
      const result = work();
      results.set(id, { result, cancel: clock.setTimeout(() => results.delete(id), KEPT_MS) });
      result.catch(() => forget(id));
      return result;
    },
    clear() {
      for (const id of [...results.keys()]) forget(id);
    },
  };
}
