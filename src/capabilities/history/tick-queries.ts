import type { Database } from "../../ports/database.ts";

/** A tick as stored: prices in micros, times in Unix milliseconds. */
export interface TickRow {
  readonly marketKey: number;
  readonly eventAt: number;
  readonly receivedAt: number;
  readonly bid: number | null;
  readonly ask: number | null;
  readonly last: number | null;
  readonly yesPrice: number | null;
  readonly volumeTotalUsd: number | null;
}

const INSERT_TICKS = `
insert into ticks (market_key, event_at, received_at, bid, ask, last, yes_price, volume_total_usd)
select market_key, to_timestamp(event_ms / 1000), to_timestamp(received_ms / 1000), bid, ask, last, yes_price, volume
from unnest($1::int4[], $2::float8[], $3::float8[], $4::int4[], $5::int4[], $6::int4[], $7::int4[], $8::float8[])
  as tick (market_key, event_ms, received_ms, bid, ask, last, yes_price, volume)
on conflict (market_key, event_at) do update set
  received_at = excluded.received_at, bid = excluded.bid, ask = excluded.ask, last = excluded.last,
  yes_price = excluded.yes_price, volume_total_usd = excluded.volume_total_usd
where excluded.received_at >= ticks.received_at`;

/** Stores ticks; of two for the same market and instant the one received last stays, within a batch and across batches. */
export async function insertTicks(database: Database, rows: readonly TickRow[]): Promise<void> {
  const unique = new Map<string, TickRow>();
  for (const row of rows) {
    const name = `${row.marketKey} ${row.eventAt}`;
    const other = unique.get(name);
    if (other === undefined || row.receivedAt >= other.receivedAt) unique.set(name, row);
  }
  const kept = [...unique.values()];
  await database.query(INSERT_TICKS, [
    kept.map((row) => row.marketKey),
    kept.map((row) => row.eventAt),
    kept.map((row) => row.receivedAt),
    kept.map((row) => row.bid),
    kept.map((row) => row.ask),
    kept.map((row) => row.last),
    kept.map((row) => row.yesPrice),
    kept.map((row) => row.volumeTotalUsd),
  ]);
}

/**
 * Five-minute bars from ticks and trades in ($1, $2]; parameters: from, to, observing since (all Unix milliseconds), and
 * $4 the market's key where `oneMarket`.
 *
 * Prices hold for (start, end], so that a close is the last price at or before the bar's end. Volume is the sum of the
 * bar's trades where we have them; else the growth of the venue's running total since the last tick before the bar. That
 * difference never reaches across a time in which nobody watched: it would pile a night's volume on one bar.
 */
export function tickBarsSql(oneMarket: boolean): string {
  const market = oneMarket ? "and market_key = $4::int4" : "";
  const epoch = "timestamptz '1970-01-01 00:00:00+00'";
  return `
  with priced as (
    select market_key,
      date_bin('5 minutes', event_at - interval '1 microsecond', ${epoch}) as start_at,
      (array_agg(yes_price order by event_at) filter (where yes_price is not null))[1] as yes_open,
      max(yes_price) as yes_high, min(yes_price) as yes_low,
      (array_agg(yes_price order by event_at desc) filter (where yes_price is not null))[1] as yes_close,
      (array_agg(bid order by event_at desc))[1] as bid_close,
      (array_agg(ask order by event_at desc))[1] as ask_close,
      max(volume_total_usd) as volume_until, max(received_at) as received_at
    from ticks
    where event_at > to_timestamp($1::float8 / 1000) and event_at <= to_timestamp($2::float8 / 1000) ${market}
    group by 1, 2
  ), grown as (
    select priced.*, (
      select case when priced.volume_until >= before.volume_total_usd
                  then priced.volume_until - before.volume_total_usd end
      from ticks before
      where before.market_key = priced.market_key and before.volume_total_usd is not null
        and before.event_at <= priced.start_at and before.event_at > priced.start_at - interval '2 days'
        and (priced.received_at < to_timestamp($3::float8 / 1000) or before.received_at >= to_timestamp($3::float8 / 1000))
      order by before.event_at desc limit 1
    ) as volume_grown
    from priced
  ), tape as (
    select market_key, date_bin('5 minutes', executed_at, ${epoch}) as start_at,
      sum(size * yes_price / 1000000.0) as volume_usd
    from trades
    where executed_at >= to_timestamp($1::float8 / 1000) and executed_at < to_timestamp($2::float8 / 1000) ${market}
    group by 1, 2
  )
  select market_key, start_at, yes_open, yes_high, yes_low, yes_close, bid_close, ask_close,
    coalesce(tape.volume_usd, volume_grown)::float8 as volume_usd
  from grown full outer join tape using (market_key, start_at)`;
}
