import { HOUR_MS } from "../lib/durations.ts";
import type { Database } from "../ports/database.ts";
import { toPrice } from "./storable.ts";

/** Figures over all markets, current and one day earlier; null if no bars are stored for that time. */
export interface MarketWideTrend {
  /** USD traded in the last 24 full hours; `volumeBeforeUsd` covers the 24 hours before those. */
  readonly volumeUsd: number | null;
  readonly volumeBeforeUsd: number | null;
  /** Mean bid-ask spread at the ends of the last three full hours; `spreadBefore` covers the same hours yesterday. */
  readonly spread: number | null;
  readonly spreadBefore: number | null;
}

/** Reads the current figures, and the figures of one day earlier, from hourly bars. */
export async function readMarketWideTrend(database: Database, now: number): Promise<MarketWideTrend> {
  const until = Math.floor(now / HOUR_MS) * HOUR_MS;
  const [row] = await database.query<Record<keyof MarketWideTrend, number | null>>(
    `select
       sum(volume_usd) filter (where start_at >= day.half) as "volumeUsd",
       sum(volume_usd) filter (where start_at < day.half) as "volumeBeforeUsd",
       avg(ask_close - bid_close) filter (where start_at >= day.until - interval '3 hours')::float8 as spread,
       avg(ask_close - bid_close) filter (where start_at >= day.half - interval '3 hours' and start_at < day.half)::float8 as "spreadBefore"
     from bars_1h, (select to_timestamp($1::float8 / 1000) as until, to_timestamp($1::float8 / 1000) - interval '24 hours' as half) as day
     where start_at >= day.until - interval '48 hours' and start_at < day.until`,
    [until],
  );
  if (row === undefined) throw new Error("The market trend query returned no row");
  return { ...row, spread: toPrice(row.spread), spreadBefore: toPrice(row.spreadBefore) };
}
