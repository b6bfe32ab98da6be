import { HOUR_MS } from "../lib/durations.ts";

/** An analysis is `stale` up to this age. An older estimate has expired: it is neither shown nor used. */
export const STALE_MS_MAX = 72 * HOUR_MS;
