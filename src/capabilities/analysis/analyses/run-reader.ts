import { createSingleFlightCache } from "../../../lib/single-flight-cache.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { AnalysisRun } from "./model.ts";

/** A run is read from the store at most once in this time, because callers may poll many times a second. */
const READ_EVERY_MS = 50;
const ENTRIES_MAX = 5_000;

/**
 * Creates a function that reads a run by its id. Its callers share reads, so a result is at most 50 ms older than its read.
 *
 * @param read  reads a run from the store; null if there is none
 */
export function createRunReader(
  read: (analysisId: string) => Promise<AnalysisRun | null>,
  clock: Pick<Clock, "monotonic">,
): (analysisId: string) => Promise<AnalysisRun | null> {
  const share = createSingleFlightCache<AnalysisRun | null>({
    maxAgeMsOf: () => READ_EVERY_MS,
    entriesMax: ENTRIES_MAX,
    now: () => clock.monotonic(),
  });
  return (analysisId) => share(analysisId, () => read(analysisId));
}
