import { HOUR_MS } from "../lib/durations.ts";

/** Maximum age of a `stale` analysis. An older analysis is expired and is neither returned nor used. */
export const STALE_ANALYSIS_MS_MAX = 72 * HOUR_MS;
