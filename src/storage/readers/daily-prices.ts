import type { VenueId } from "../../domain/market.ts";
import { columnsOf } from "../../lib/columns-of.ts";
import type { Database } from "../../ports/database.ts";
import { toPrice } from "../storable.ts";

/** A market, and its first and last midnight in Unix milliseconds. The range contains all midnights between them. */
export interface DailyPriceRange {
  readonly venue: VenueId;
  readonly marketId: string;
  readonly firstMidnight: number;
  readonly lastMidnight: number;
}

/** YES price of a market at midnight UTC, from the last hourly bar before midnight. */
interface DailyPrice {
  readonly venue: VenueId;
  readonly marketId: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** In [0, 1]. */
  readonly yesPrice: number;
}

/** Selects the prices with one primary-key look-up in the hourly bars for each market and midnight. */
const SELECT_DAILY_PRICES = `
select wanted.position::int4 as position, extract(epoch from midnight)::float8 * 1000 as at, bar.yes_close as micros
from unnest($1::text[], $2::text[], $3::float8[], $4::float8[])
  with ordinality as wanted (venue, market_id, first_ms, last_ms, position)
join markets on markets.venue = wanted.venue and markets.market_id = wanted.market_id
cross join lateral generate_series(
  to_timestamp(first_ms / 1000), to_timestamp(last_ms / 1000), interval '24 hours') as midnight
cross join lateral (
  select yes_close from bars_1h
  where market_key = markets.key and yes_close is not null
    and start_at >= midnight - interval '24 hours' and start_at <= midnight - interval '1 hour'
  order by start_at desc limit 1
) as bar`;

/**
 * Returns the stored prices of markets at midnights, in no particular order. Midnights without a stored price are left
 * out.
 *
 * @param ranges  at most about 10,000 days in total, because each takes about 10 µs
 */
export async function readDailyPrices(
  database: Pick<Database, "query">,
  ranges: readonly DailyPriceRange[],
): Promise<DailyPrice[]> {
  if (ranges.length === 0) return [];
  const rows = await database.query<{ position: number; at: number; micros: number }>(
    SELECT_DAILY_PRICES,
    columnsOf(ranges, "venue", "marketId", "firstMidnight", "lastMidnight"),
    "request",
  );
  return rows.flatMap(({ position, at, micros }) => {
    const range = ranges[position - 1];
    const yesPrice = toPrice(micros);
    if (range === undefined || yesPrice === null) return [];
    return [{ venue: range.venue, marketId: range.marketId, at, yesPrice }];
  });
}
