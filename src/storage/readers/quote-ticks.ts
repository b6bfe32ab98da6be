import type { Database } from "../../ports/database.ts";
import { toPrice } from "../storable.ts";

/** Best bid and ask of a market from `at` until the next tick; null for a side without a quote. */
export interface QuoteTick {
  /** Unix milliseconds. */
  readonly at: number;
  readonly bid: number | null;
  readonly ask: number | null;
}

/** The quotes of a market over a period. */
export interface QuoteTicks {
  /** Oldest first. The first tick may be from before the period; it is then the quote at the start of the period. */
  readonly ticks: readonly QuoteTick[];
  /** Number of ticks stored in the period. `ticks` contains only the last one of each minute. */
  readonly tickCount: number;
}

/** A quote is assumed to be valid at the start of the period only if it is less than this number of days older. */
const BEFORE_DAYS_MAX = 7;

/**
 * Selects the last tick of market $1 in each minute of ($2, $3], and the last tick at or before $2. Ticks are read in
 * primary-key order. At most one row per minute is returned.
 */
const SELECT_QUOTE_TICKS = `
select * from (
  select distinct on (minute) event_at, bid, ask, count(*) over (partition by minute)::int4 as "tickCount"
  from (
    select event_at, bid, ask, date_bin('1 minute', event_at, timestamptz '1970-01-01 00:00:00+00') as minute
    from ticks
    where market_key = $1::int4 and event_at > to_timestamp($2::float8 / 1000)
      and event_at <= to_timestamp($3::float8 / 1000)
  ) as tick
  order by minute, event_at desc
) as last_of_minute
union all
(select event_at, bid, ask, 0 from ticks
 where market_key = $1::int4 and event_at <= to_timestamp($2::float8 / 1000)
   and event_at > to_timestamp($2::float8 / 1000) - interval '${BEFORE_DAYS_MAX} days'
 order by event_at desc limit 1)
order by event_at`;

interface QuoteTickRow {
  readonly event_at: Date;
  readonly bid: number | null;
  readonly ask: number | null;
  readonly tickCount: number;
}

/**
 * Returns the quotes of a market over a period, from stored ticks.
 *
 * @param period  Unix milliseconds; later ticks are not read
 */
export async function readQuoteTicks(
  database: Database,
  marketKey: number,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<QuoteTicks> {
  const rows = await database.query<QuoteTickRow>(SELECT_QUOTE_TICKS, [marketKey, fromMs, toMs], "request");
  return {
    ticks: rows.map((row) => ({ at: row.event_at.getTime(), bid: toPrice(row.bid), ask: toPrice(row.ask) })),
    tickCount: rows.reduce((sum, row) => sum + row.tickCount, 0),
  };
}
