import type { Database, Transaction } from "../ports/database.ts";
import { findRollUpState } from "./meta-queries.ts";
import { FIVE_MINUTES_MS, HOUR_MS, META_ROLLED_UP_UNTIL } from "./model.ts";
import { tickPartitionName } from "./tick-partitions.ts";
import { tickBarsSql } from "./tick-queries.ts";

/** Delay between the end of an interval and its roll-up, because its last ticks may still be queued for writing. */
const GRACE_MS = 30_000;
/** Intervals this recent are recomputed, because ticks and trades may arrive up to ten minutes late. */
const LOOKBACK_MS = 3 * FIVE_MINUTES_MS;
/** Time covered by one transaction: short, because a long transaction would block the embedded database for seconds. */
const CHUNK_MS = FIVE_MINUTES_MS;
/** The same for a backlog of more than two hours, which holds few ticks after downtime: fewer transactions. */
const BACKLOG_CHUNK_MS = HOUR_MS;

const PRICES = ["yes_open", "yes_high", "yes_low", "yes_close", "bid_close", "ask_close"];
const SET_PRICES = PRICES.map((column) => `${column} = excluded.${column}`).join(", ");
const pricesAndSource = (row: string) => [...PRICES, "source"].map((column) => `${row}.${column}`).join(", ");
const COUNT_CHANGED = "returning 1) select count(*)::int4 as count from changed";

/**
 * The volume of an interval only grows, so the larger of the stored and the computed volume is stored. Rows that would
 * not change are not updated, because each update writes a new row version.
 */
const ROLL_UP_TICKS = `
with changed as (
insert into bars_5m (market_key, start_at, ${PRICES.join(", ")}, volume_usd, source)
select market_key, start_at, ${PRICES.join(", ")}, volume_usd, 'ticks' from (${tickBarsSql(false)}) as bar
on conflict (market_key, start_at) do update set
  ${SET_PRICES}, volume_usd = greatest(bars_5m.volume_usd, excluded.volume_usd), source = 'ticks'
where (bars_5m.source = 'ticks' or excluded.yes_close is not null)
  and (${pricesAndSource("bars_5m")}, bars_5m.volume_usd) is distinct from
      (${pricesAndSource("excluded")}, greatest(bars_5m.volume_usd, excluded.volume_usd))
${COUNT_CHANGED}`;

/**
 * Hourly bars from the five-minute bars of [$1, $2), for all markets or for market $3. An hour's volume is null if the
 * volume of one of its bars is null. A bar made from our ticks replaces one fetched from the venue, never the reverse.
 */
const HOURS_FROM_FIVE_MINUTES = `
with changed as (
insert into bars_1h (market_key, start_at, ${PRICES.join(", ")}, volume_usd, source)
select market_key, date_bin('1 hour', start_at, timestamptz '1970-01-01 00:00:00+00'),
  (array_agg(yes_open order by start_at) filter (where yes_open is not null))[1],
  max(yes_high), min(yes_low),
  (array_agg(yes_close order by start_at desc) filter (where yes_close is not null))[1],
  (array_agg(bid_close order by start_at desc))[1],
  (array_agg(ask_close order by start_at desc))[1],
  case when bool_and(volume_usd is not null) then sum(volume_usd) end,
  case when bool_or(source = 'ticks') then 'ticks' else 'venue' end
from bars_5m
where start_at >= to_timestamp($1::float8 / 1000) and start_at < to_timestamp($2::float8 / 1000)
  and ($3::int4 is null or market_key = $3::int4)
group by 1, 2
on conflict (market_key, start_at) do update set
  ${SET_PRICES}, volume_usd = greatest(bars_1h.volume_usd, excluded.volume_usd), source = excluded.source
where (bars_1h.source = 'venue' or excluded.source = 'ticks') and excluded.yes_close is not null
  and (${pricesAndSource("bars_1h")}, bars_1h.volume_usd) is distinct from
      (${pricesAndSource("excluded")}, greatest(bars_1h.volume_usd, excluded.volume_usd))
${COUNT_CHANGED}`;

const SAVE_WATERMARK = `
insert into meta (key, value) values ('${META_ROLLED_UP_UNTIL}', $1)
on conflict (key) do update set value = greatest(meta.value::int8, excluded.value::int8)::text`;

async function countChanged(transaction: Transaction, text: string, parameters: readonly unknown[]): Promise<number> {
  const [row] = await transaction.query<{ count: number }>(text, parameters);
  return row?.count ?? 0;
}

/** Recomputes the hourly bars from the hour of `fromMs` to the last hour that ends by `toMs`; returns how many changed. */
export async function deriveHours(
  transaction: Transaction,
  fromMs: number,
  toMs: number,
  marketKey: number | null,
): Promise<number> {
  const from = Math.floor(fromMs / HOUR_MS) * HOUR_MS;
  const to = Math.floor(toMs / HOUR_MS) * HOUR_MS;
  return to <= from ? 0 : countChanged(transaction, HOURS_FROM_FIVE_MINUTES, [from, to, marketKey]);
}

/** Adds the new pages of these days to the BRIN index on time; without this call only autovacuum would add them. */
const SUMMARISE_TICKS = `
select brin_summarize_new_values(inhrelid::regclass) from pg_inherits join pg_index on indexrelid = inhrelid
where inhparent = 'ticks_by_time'::regclass
  and indrelid = any(array(select to_regclass(name) from unnest($1::text[]) as day (name)))`;

/**
 * Makes five-minute and hourly bars from ticks, up to the last closed interval. Does nothing until another interval has
 * closed. Run it about once a minute. Idempotent, also if two nodes run it simultaneously.
 *
 * @param now  Unix milliseconds
 * @returns how many bars were created or changed
 */
export async function rollUp(database: Database, now: number): Promise<{ bars5m: number; bars1h: number }> {
  const until = Math.floor((now - GRACE_MS) / FIVE_MINUTES_MS) * FIVE_MINUTES_MS;
  const state = await findRollUpState(database);
  const changed = { bars5m: 0, bars1h: 0 };
  let from: number;
  if (state.rolledUpUntil !== null) from = state.rolledUpUntil - LOOKBACK_MS;
  else {
    const [first] = await database.query<{ at: Date | null }>("select min(event_at) as at from ticks");
    if (first?.at == null) return changed;
    from = Math.floor((first.at.getTime() - 1) / FIVE_MINUTES_MS) * FIVE_MINUTES_MS;
  }
  if (until <= (state.rolledUpUntil ?? from)) return changed;
  await database.query(SUMMARISE_TICKS, [[from, until].map(tickPartitionName)]);
  while (from < until) {
    const to = Math.min(until, from + (until - from > 2 * BACKLOG_CHUNK_MS ? BACKLOG_CHUNK_MS : CHUNK_MS));
    await database.transaction(async (transaction) => {
      changed.bars5m += await countChanged(transaction, ROLL_UP_TICKS, [from, to, state.observingSince]);
      changed.bars1h += await deriveHours(transaction, from, to, null);
      await transaction.query(SAVE_WATERMARK, [String(to)]);
    });
    from = to;
  }
  return changed;
}
