import { HOUR_MS, MINUTE_MS } from "../../lib/durations.ts";
import type { Database } from "../../ports/database.ts";
import { findRollUpState } from "../roll-up.ts";
import { toPrice } from "../storable.ts";

/** Price and volume of the last hour; null if unknown. */
export interface LastHour {
  /** Last price at or before an hour ago, at most a day older. */
  readonly yesPriceBefore: number | null;
  /** USD traded in the last full hour that is rolled up. */
  readonly volumeUsd: number | null;
}

/** Maximum age of the last roll-up. If it is older, the last hour's volume is unknown. */
const ROLL_UP_AGE_MS_MAX = 15 * MINUTE_MS;

/**
 * Reads the last hour of markets $1. $2 is the time one hour ago and $3 the end of the roll-up, in Unix milliseconds.
 * $4 is true if all ticks of the hour before $3 are recorded; a market without bars was then not traded. Each market
 * needs three primary-key look-ups.
 */
const SELECT_LAST_HOUR = `
select key as "marketKey", price.yes_close as "yesPriceBefore",
  case when volume.bars = 0 and $4::boolean then 0 else volume.usd end as "volumeUsd"
from unnest($1::int4[]) as market (key)
left join lateral (
  select yes_close from (
    (select yes_close, start_at + interval '5 minutes' as end_at from bars_5m
     where market_key = key and yes_close is not null
       and start_at > to_timestamp($2::float8 / 1000) - interval '2 hours'
       and start_at <= to_timestamp($2::float8 / 1000) - interval '5 minutes'
     order by start_at desc limit 1)
    union all
    (select yes_close, start_at + interval '1 hour' from bars_1h
     where market_key = key and yes_close is not null
       and start_at > to_timestamp($2::float8 / 1000) - interval '1 day'
       and start_at <= to_timestamp($2::float8 / 1000) - interval '1 hour'
     order by start_at desc limit 1)
  ) as bar order by end_at desc limit 1
) as price on true
cross join lateral (
  select count(*)::int4 as bars, case when bool_and(volume_usd is not null) then sum(volume_usd) end as usd
  from bars_5m
  where market_key = key and start_at >= to_timestamp($3::float8 / 1000) - interval '1 hour'
    and start_at < to_timestamp($3::float8 / 1000)
) as volume`;

/**
 * Returns the last hour of these markets by market key, from stored bars.
 *
 * @param marketKeys  at most a few thousand, because the statement occupies the store for about 20 µs per market
 * @param now  Unix milliseconds
 */
export async function readLastHour(
  database: Database,
  marketKeys: readonly number[],
  now: number,
): Promise<Map<number, LastHour>> {
  const { rolledUpUntil, observingSince } = await findRollUpState(database);
  const until = rolledUpUntil ?? 0;
  const isRolledUp = now - until <= ROLL_UP_AGE_MS_MAX;
  const isObserved = isRolledUp && observingSince > 0 && observingSince <= until - HOUR_MS;
  const rows = await database.query<{
    marketKey: number;
    yesPriceBefore: number | null;
    volumeUsd: number | null;
  }>(SELECT_LAST_HOUR, [marketKeys, now - HOUR_MS, until, isObserved]);
  return new Map(
    rows.map(({ marketKey, yesPriceBefore, volumeUsd }) => [
      marketKey,
      { yesPriceBefore: toPrice(yesPriceBefore), volumeUsd: isRolledUp ? volumeUsd : null },
    ]),
  );
}
