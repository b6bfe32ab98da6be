import type { VenueId } from "../../domain/market.ts";
import { columnsOf } from "../../lib/columns-of.ts";
import type { Database } from "../../ports/database.ts";
import { toPrice } from "../storable.ts";

const lastBarSql = (table: string, length: string) => `
  (select yes_close as yes_price, start_at + interval '${length}' as priced_at from ${table}
   where market_key = markets.key and yes_close is not null
     and start_at <= to_timestamp($3::float8 / 1000) - interval '${length}'
   order by start_at desc limit 1)`;

const SELECT_PRICES_AT = `
select wanted.position::int4 as position, price.yes_price as "yesPrice"
from unnest($1::text[], $2::text[]) with ordinality as wanted (venue, market_id, position)
join markets using (venue, market_id)
cross join lateral (
  select yes_price from (
    (select yes_price, event_at as priced_at from ticks
     where market_key = markets.key and yes_price is not null and event_at <= to_timestamp($3::float8 / 1000)
     order by event_at desc limit 1)
    union all ${lastBarSql("bars_5m", "5 minutes")}
    union all ${lastBarSql("bars_1h", "1 hour")}
  ) as stored order by priced_at desc limit 1
) as price`;

/**
 * Returns the last stored YES price of each market at or before a time, from ticks and bars.
 *
 * @param markets  at most a few hundred
 * @param at  Unix milliseconds
 * @returns in the order of `markets`: a price in [0, 1], or null if none is stored
 */
export async function readPricesAt(
  database: Database,
  markets: readonly { readonly venue: VenueId; readonly marketId: string }[],
  at: number,
): Promise<(number | null)[]> {
  const rows = await database.query<{ position: number; yesPrice: number }>(SELECT_PRICES_AT, [
    ...columnsOf(markets, "venue", "marketId"),
    at,
  ]);
  const prices = new Map(rows.map(({ position, yesPrice }) => [position, toPrice(yesPrice)]));
  return markets.map((_, index) => prices.get(index + 1) ?? null);
}
