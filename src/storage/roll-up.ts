import type { Database, Transaction } from "../ports/database.ts";
import { findRollUpState } from "./meta-queries.ts";
import { FIVE_MINUTES_MS, HOUR_MS, META_ROLLED_UP_UNTIL } from "./model.ts";
import { tickPartitionName } from "./tick-partitions.ts";
import { tickBarsSql } from "./tick-queries.ts";

/** A closed interval rests this long before it is rolled up: its last ticks are still on their way to the store. */
const GRACE_MS = 30_000;
/** Intervals this far back are made again: ticks and trades may arrive ten minutes late. */
const LOOKBACK_MS = 3 * FIVE_MINUTES_MS;
/** The embedded store must not be busy for seconds at a stretch, so a transaction covers one interval of late… */
const CHUNK_MS = FIVE_MINUTES_MS;
/** …and an hour of what is longer past: after an absence little is there, and many transactions would take their time. */
const OLD_CHUNK_MS = HOUR_MS;

const PRICES = ["yes_open", "yes_high", "yes_low", "yes_close", "bid_close", "ask_close"];
const replacePrices = PRICES.map((column) => `${column} = excluded.${column}`).join(", ");
const columnsOf = (row: string, table: string) =>
  [...PRICES, "source"].map((column) => `${row === "" ? table : row}.${column}`).join(", ");

/**
 * Volumes only grow: what an earlier look, or the venue, has seen of the same interval is a lower bound too. A row that
 * would not change is left alone, because rewriting it costs space.
 */
const ROLL_UP_TICKS = `
insert into bars_5m (market_key, start_at, ${PRICES.join(", ")}, volume_usd, source)
select market_key, start_at, ${PRICES.join(", ")}, volume_usd, 'ticks' from (${tickBarsSql(false)}) as bar
on conflict (market_key, start_at) do update set
  ${replacePrices}, volume_usd = greatest(bars_5m.volume_usd, excluded.volume_usd), source = 'ticks'
where (bars_5m.source = 'ticks' or excluded.yes_close is not null)
  and (${columnsOf("", "bars_5m")}, bars_5m.volume_usd) is distinct from
      (${columnsOf("excluded", "")}, greatest(bars_5m.volume_usd, excluded.volume_usd))`;

/**
 * Hours from the five-minute bars of [$1, $2), for all markets or for the one of $3. The hour's volume is known only when
 * every bar's in it is. An hour seen by us replaces a fetched one, never the other way round.
 */
const HOURS_FROM_FIVE_MINUTES = `
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
  ${replacePrices}, volume_usd = greatest(bars_1h.volume_usd, excluded.volume_usd), source = excluded.source
where (bars_1h.source = 'venue' or excluded.source = 'ticks') and excluded.yes_close is not null
  and (${columnsOf("", "bars_1h")}, bars_1h.volume_usd) is distinct from
      (${columnsOf("excluded", "")}, greatest(bars_1h.volume_usd, excluded.volume_usd))`;

const SAVE_WATERMARK = `
insert into meta (key, value) values ('${META_ROLLED_UP_UNTIL}', $1)
on conflict (key) do update set value = greatest(meta.value::int8, excluded.value::int8)::text`;

/** Runs a statement that writes rows and returns how many it wrote. */
async function countWritten(transaction: Transaction, text: string, parameters: readonly unknown[]): Promise<number> {
  const [row] = await transaction.query<{ count: number }>(
    `with written as (${text} returning 1) select count(*) as count from written`,
    parameters,
  );
  return row?.count ?? 0;
}

/** Makes the hours that lie wholly inside [fromMs, toMs) again, from the five-minute bars of the whole hours touched. */
export async function deriveHours(
  transaction: Transaction,
  fromMs: number,
  toMs: number,
  marketKey: number | null,
): Promise<number> {
  const from = Math.floor(fromMs / HOUR_MS) * HOUR_MS;
  const to = Math.floor(toMs / HOUR_MS) * HOUR_MS;
  return to <= from ? 0 : countWritten(transaction, HOURS_FROM_FIVE_MINUTES, [from, to, marketKey]);
}

/** New pages of these days are told to the index by time; by itself it learns of them only where a daemon vacuums. */
const SUMMARISE_TICKS = `
select brin_summarize_new_values(inhrelid::regclass) from pg_inherits join pg_index on indexrelid = inhrelid
where inhparent = 'ticks_by_time'::regclass
  and indrelid = any(array(select to_regclass(name) from unnest($1::text[]) as day (name)))`;

/**
 * Turns ticks into five-minute and hourly bars up to the last closed interval; nothing is to be done until another has
 * closed. Running it twice, or on two nodes at once, leaves the same bars. Gives how many bars were made or changed.
 *
 * @param now  Unix milliseconds
 */
export async function rollUp(database: Database, now: number): Promise<{ bars5m: number; bars1h: number }> {
  const until = Math.floor((now - GRACE_MS) / FIVE_MINUTES_MS) * FIVE_MINUTES_MS;
  const state = await findRollUpState(database);
  let from: number;
  if (state.rolledUpUntil !== null) from = state.rolledUpUntil - LOOKBACK_MS;
  else {
    const [first] = await database.query<{ at: Date | null }>("select min(event_at) as at from ticks");
    if (first?.at == null) return { bars5m: 0, bars1h: 0 };
    from = Math.floor((first.at.getTime() - 1) / FIVE_MINUTES_MS) * FIVE_MINUTES_MS;
  }
  const made = { bars5m: 0, bars1h: 0 };
  if (until <= (state.rolledUpUntil ?? from)) return made;
  await database.query(SUMMARISE_TICKS, [[from, until].map(tickPartitionName)]);
  while (from < until) {
    const to = Math.min(until, from + (until - from > 2 * OLD_CHUNK_MS ? OLD_CHUNK_MS : CHUNK_MS));
    await database.transaction(async (transaction) => {
      made.bars5m += await countWritten(transaction, ROLL_UP_TICKS, [from, to, state.observingSince]);
      made.bars1h += await deriveHours(transaction, from, to, null);
      await transaction.query(SAVE_WATERMARK, [String(to)]);
    });
    from = to;
  }
  return made;
}
