import type { Clock } from "../../ports/clock.ts";
import type { AnalysisRun } from "./model.ts";

/** Callers may poll many times a second, and polls slow down the store for the runs. */
const READ_EVERY_MS = 50;
const ENTRIES_MAX = 5_000;

/**
 * Creates a function that reads a run by its id. All callers share one read per 50 ms, so a result is at most 50 ms old.
 * A failed read is not reused.
 *
 * @param read  reads a run from the store; null if there is none
 */
export function createRunReader(
  read: (analysisId: string) => Promise<AnalysisRun | null>,
  clock: Pick<Clock, "monotonic">,
): (analysisId: string) => Promise<AnalysisRun | null> {
  const entries = new Map<string, { readonly run: Promise<AnalysisRun | null>; readonly readAt: number }>();
  return (analysisId) => {
    const known = entries.get(analysisId);
    const now = clock.monotonic();
    if (known !== undefined && now - known.readAt < READ_EVERY_MS) return known.run;
    const run = read(analysisId);
    // Deleting the entry first keeps the map in the order of the reads.
    entries.delete(analysisId);
    entries.set(analysisId, { run, readAt: now });
    run.catch(() => entries.delete(analysisId));
    const [oldest] = entries.size > ENTRIES_MAX ? entries.keys() : [];
    if (oldest !== undefined) entries.delete(oldest);
    return run;
  };
}
