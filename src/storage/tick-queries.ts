import { columnsOf } from "../lib/columns-of.ts";
import type { Database } from "../ports/database.ts";
import { fenceParameters, heldFencesSql } from "./lease-fence.ts";
import type { Tick, VenueFence } from "./model.ts";

/** A tick as it is stored: prices in micros, and a time even if the venue reports none. */
export interface TickRow extends Tick {
  readonly eventAt: number;
}

const TICK_COLUMNS = "market_key, event_at, received_at, bid, ask, last, yes_price, volume_total_usd";
const TICK_VALUES =
  "market_key, to_timestamp(event_ms / 1000), to_timestamp(received_ms / 1000), bid, ask, last, yes_price, volume";
const TICK_ARRAYS =
  "$1::int4[], $2::float8[], $3::float8[], $4::int4[], $5::int4[], $6::int4[], $7::int4[], $8::float8[]";
const TICK_NAMES = "market_key, event_ms, received_ms, bid, ask, last, yes_price, volume";
const ON_SAME_TIMESTAMP = `
on conflict (market_key, event_at) do update set
  received_at = excluded.received_at, bid = excluded.bid, ask = excluded.ask, last = excluded.last,
  yes_price = excluded.yes_price, volume_total_usd = excluded.volume_total_usd
where excluded.received_at >= ticks.received_at`;

const INSERT_TICKS = `
insert into ticks (${TICK_COLUMNS})
select ${TICK_VALUES} from unnest(${TICK_ARRAYS}) as tick (${TICK_NAMES}) ${ON_SAME_TIMESTAMP}`;

/** `fence_number` is the position of the row's fence, or 0 for none. Rows with an outdated fence are skipped. */
const INSERT_FENCED_TICKS = `
with held as materialized (${heldFencesSql("$9", "$10")}), added as (
  insert into ticks (${TICK_COLUMNS})
  select ${TICK_VALUES} from unnest(${TICK_ARRAYS}, $11::int4[]) as tick (${TICK_NAMES}, fence_number)
  where fence_number = 0 or fence_number in (select number from held) ${ON_SAME_TIMESTAMP}
)
select number from held`;

/**
 * Returns the row received last per market and timestamp, sorted by primary key. Sorted rows are adjacent in the index,
 * and two nodes that write the same rows lock them in the same order.
 */
function deduplicate(rows: readonly TickRow[]): TickRow[] {
  const sorted = rows.toSorted(
    (a, b) => a.marketKey - b.marketKey || a.eventAt - b.eventAt || a.receivedAt - b.receivedAt,
  );
  return sorted.filter((row, index) => {
    const next = sorted[index + 1];
    return next === undefined || next.marketKey !== row.marketKey || next.eventAt !== row.eventAt;
  });
}

/**
 * Stores ticks. If several ticks have the same market and timestamp, the one received last is stored, within a batch
 * and across batches.
 *
 * @returns how many ticks were rejected because their venue lease has been taken over
 */
export async function insertTicks(database: Database, rows: readonly TickRow[]): Promise<number> {
  const uniqueRows = deduplicate(rows);
  const times = columnsOf(uniqueRows, "marketKey", "eventAt", "receivedAt");
  const columns = [...times, ...columnsOf(uniqueRows, "bid", "ask", "lastPrice", "yesPrice", "volumeUsd")];
  const fences = new Map<string, { readonly fence: VenueFence; readonly number: number }>();
  const fenceNumbers = uniqueRows.map(({ fence }) => {
    if (fence === undefined) return 0;
    const name = `${fence.fence} ${fence.venue}`;
    const entry = fences.get(name) ?? { fence, number: fences.size + 1 };
    fences.set(name, entry);
    return entry.number;
  });
  if (fences.size === 0) {
    await database.query(INSERT_TICKS, columns);
    return 0;
  }
  const heldFences = await database.query<{ number: number }>(INSERT_FENCED_TICKS, [
    ...columns,
    ...fenceParameters([...fences.values()].map(({ fence }) => fence)),
    fenceNumbers,
  ]);
  const acceptedNumbers = new Set([0, ...heldFences.map(({ number }) => number)]);
  return fenceNumbers.filter((number) => !acceptedNumbers.has(number)).length;
}

const MARKET_CONDITIONS = {
  one: "and market_key = $4::int4",
  range: "and market_key >= $4::int4 and market_key < $5::int4",
};

export type TickBarLength = "1 minute" | "5 minutes";

/**
 * Returns SQL for bars from ticks and trades in ($1, $2]. Parameters: $1 from, $2 to, $3 observing since
 * (all Unix milliseconds). `markets` adds the condition on the market: "one" $4 its key, "range" the keys from $4
 * (inclusive) to $5 (exclusive).
 *
 * A bar covers (start, end], so its close is the last price at or before its end. Its volume is the sum of its trades
 * if there are any, else the increase of the venue's total volume since the last tick before the bar. After a recording
 * gap the increase is null, because one bar would otherwise include the volume of the whole gap. `volume_traded_usd` is
 * the sum of the bar's trades only; null if there are none.
 *
 * Open and close prices are looked up by timestamp, which is three times as fast as sorting all ticks of the bar.
 */
export function tickBarsSql(markets: keyof typeof MARKET_CONDITIONS, length: TickBarLength = "5 minutes"): string {
  const market = MARKET_CONDITIONS[markets];
  const epoch = "timestamptz '1970-01-01 00:00:00+00'";
  return `
  with spans as (
    select market_key,
      date_bin('${length}', event_at - interval '1 microsecond', ${epoch}) as start_at,
      max(yes_price) as yes_high, min(yes_price) as yes_low,
      min(event_at) filter (where yes_price is not null) as open_at,
      max(event_at) filter (where yes_price is not null) as close_at,
      max(event_at) as last_at, max(volume_total_usd) as volume_until, max(received_at) as received_at
    from ticks
    where event_at > to_timestamp($1::float8 / 1000) and event_at <= to_timestamp($2::float8 / 1000) ${market}
    group by 1, 2
  ), priced as (
    select spans.market_key, start_at, yes_high, yes_low, volume_until, spans.received_at,
      (select yes_price from ticks where (market_key, event_at) = (spans.market_key, open_at)) as yes_open,
      (select yes_price from ticks where (market_key, event_at) = (spans.market_key, close_at)) as yes_close,
      last.bid as bid_close, last.ask as ask_close
    from spans cross join lateral (
      select bid, ask from ticks where (market_key, event_at) = (spans.market_key, last_at) limit 1
    ) as last
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
  ), traded as (
    select market_key, date_bin('${length}', executed_at, ${epoch}) as start_at,
      sum(size * yes_price / 1000000.0) as volume_usd
    from trades
    where executed_at >= to_timestamp($1::float8 / 1000) and executed_at < to_timestamp($2::float8 / 1000) ${market}
    group by 1, 2
  )
  select market_key, start_at, yes_open, yes_high, yes_low, yes_close, bid_close, ask_close,
    coalesce(traded.volume_usd, volume_grown)::float8 as volume_usd, traded.volume_usd::float8 as volume_traded_usd
  from grown full outer join traded using (market_key, start_at)`;
}
