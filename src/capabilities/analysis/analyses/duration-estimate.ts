import type { Clock } from "../../../ports/clock.ts";
import type { Database } from "../../../ports/database.ts";
import type { AnalysisType } from "./model.ts";
import { selectDurations } from "./run-queries.ts";

/** Used while no analysis of the type has ended. */
const SECONDS_DEFAULT = 60;
const RUNS_MAX = 200;
const CACHE_MS = 10_000;

/**
 * Returns a function that estimates the seconds from the request of an analysis to its result: the 80% quantile of the last
 * runs of its type.
 */
export function createDurationEstimate(database: Database, clock: Clock): (type: AnalysisType) => Promise<number> {
  let cached: { readonly readAt: number; readonly seconds: Promise<ReadonlyMap<AnalysisType, number>> } | null = null;
  const read = async () =>
    new Map((await selectDurations(database, RUNS_MAX)).map(({ type, seconds }) => [type, seconds]));
  return async (type) => {
    const now = clock.monotonic();
    if (cached === null || now - cached.readAt > CACHE_MS) {
      const seconds = read();
      cached = { readAt: now, seconds };
      seconds.catch(() => {
        cached = null;
      });
    }
    return (await cached.seconds).get(type) ?? SECONDS_DEFAULT;
  };
}
