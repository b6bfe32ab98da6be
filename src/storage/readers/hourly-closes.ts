import { HOUR_MS } from "../../lib/durations.ts";
import type { Database } from "../../ports/database.ts";
import { toPrice } from "../storable.ts";

/** Selects hourly closing prices, with one primary-key range scan per market. */
const SELECT_HOURLY_CLOSES = `
select market_key as "marketKey", extract(epoch from start_at)::float8 * 1000 as "startAt", yes_close as micros
from bars_1h
where market_key = any($1::int4[]) and yes_close is not null
  and start_at >= to_timestamp($2::float8 / 1000) and start_at <= to_timestamp($3::float8 / 1000) - interval '1 hour'
order by market_key, start_at`;

/** YES price of a market at the end of an hour, Unix milliseconds. */
export interface StoredClose {
  readonly at: number;
  /** In [0, 1]. */
  readonly yesPrice: number;
}

/**
 * Returns the stored hourly closes by market key, oldest first, of the hours from `fromMs` to `toMs`. Hours without a
 * price are left out.
 *
 * @param marketKeys  at most a few hundred: a market has up to 168 rows a week
 */
export async function readHourlyCloses(
  database: Pick<Database, "query">,
  marketKeys: readonly number[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<Map<number, StoredClose[]>> {
  const closes = new Map<number, StoredClose[]>(marketKeys.map((key) => [key, []]));
  if (marketKeys.length === 0) return closes;
  const rows = await database.query<{ marketKey: number; startAt: number; micros: number }>(SELECT_HOURLY_CLOSES, [
    marketKeys,
    fromMs,
    toMs,
  ]);
  for (const { marketKey, startAt, micros } of rows) {
    const yesPrice = toPrice(micros);
    if (yesPrice !== null) closes.get(marketKey)?.push({ at: startAt + HOUR_MS, yesPrice });
  }
  return closes;
}
