import { HOUR_MS } from "../lib/durations.ts";
import type { Database, Transaction } from "../ports/database.ts";
import { FIVE_MINUTES_MS, OBSERVING_SINCE_META_KEY } from "./model.ts";
import { tickPartitionName } from "./tick-partitions.ts";
import { tickBarsSql } from "./tick-queries.ts";

/** Delay between the end of an interval and its roll-up, because its last ticks may still be queued for writing. */
const ROLL_UP_DELAY_MS = 30_000;
/** Time before the last roll-up that is computed again, because ticks and trades may be ten minutes late. */
const LOOKBACK_MS = 3 * FIVE_MINUTES_MS;
/** Length of the interval that is rolled up at once. */
const CHUNK_MS = FIVE_MINUTES_MS;
/** Length of that interval if the backlog exceeds two hours, because most of a backlog after downtime has no ticks. */
const BACKLOG_CHUNK_MS = HOUR_MS;
/** Approximate number of ticks per statement. More would block the embedded database for seconds. */
const TICKS_PER_STATEMENT = 200_000;

/** The largest int4. No market has this key. */
const MARKET_KEY_MAX = 2 ** 31 - 1;

/** Key in the table `meta`. */
const META_ROLLED_UP_UNTIL = "ticks_rolled_up_until";

/** Price columns of the bar tables. */
export const PRICE_COLUMNS = ["yes_open", "yes_high", "yes_low", "yes_close", "bid_close", "ask_close"];
const SET_PRICES = PRICE_COLUMNS.map((column) => `${column} = excluded.${column}`).join(", ");
const pricesAndSourceSql = (row: string) => [...PRICE_COLUMNS, "source"].map((column) => `${row}.${column}`).join(", ");
const COUNT_CHANGED = "returning 1) select count(*)::int4 as count from changed";

/**
 * Creates five-minute bars from ticks and trades. A bar that has only trades does not replace a price. The volume of a
 * bar never decreases, so the larger of the stored and the computed volume is stored. Unchanged rows are not updated,
 * because each update writes a new row version.
 */
const ROLL_UP_TICKS = `
with changed as (
insert into bars_5m (market_key, start_at, ${PRICE_COLUMNS.join(", ")}, volume_usd, source)
select market_key, start_at, ${PRICE_COLUMNS.join(", ")}, volume_usd, 'ticks' from (${tickBarsSql("range")}) as bar
on conflict (market_key, start_at) do update set
  ${SET_PRICES}, volume_usd = greatest(bars_5m.volume_usd, excluded.volume_usd), source = 'ticks'
where (bars_5m.yes_close is null or excluded.yes_close is not null)
  and (${pricesAndSourceSql("bars_5m")}, bars_5m.volume_usd) is distinct from
      (${pricesAndSourceSql("excluded")}, greatest(bars_5m.volume_usd, excluded.volume_usd))
${COUNT_CHANGED}`;

/**
 * Creates hourly bars from the five-minute bars of [$1, $2), for all markets or for market $3. The hourly volume is
 * null if any of the five-minute volumes is null. A bar made from ticks is never replaced by one fetched from the
 * venue.
 */
const HOURS_FROM_FIVE_MINUTES = `
with changed as (
insert into bars_1h (market_key, start_at, ${PRICE_COLUMNS.join(", ")}, volume_usd, source)
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
  and (${pricesAndSourceSql("bars_1h")}, bars_1h.volume_usd) is distinct from
      (${pricesAndSourceSql("excluded")}, greatest(bars_1h.volume_usd, excluded.volume_usd))
${COUNT_CHANGED}`;

const SAVE_WATERMARK = `
insert into meta (key, value) values ('${META_ROLLED_UP_UNTIL}', $1)
on conflict (key) do update set value = greatest(meta.value::int8, excluded.value::int8)::text`;

/** Returns timestamps in Unix milliseconds. */
export async function findRollUpState(database: Database) {
  const rows = await database.query<{ key: string; value: string }>(
    "select key, value from meta where key = any($1::text[])",
    [[META_ROLLED_UP_UNTIL, OBSERVING_SINCE_META_KEY]],
    "request",
  );
  const find = (key: string) => {
    const value = Number(rows.find((row) => row.key === key)?.value ?? Number.NaN);
    return Number.isFinite(value) ? value : null;
  };
  return {
    /** End of the last interval rolled up; null before the first roll-up. */
    rolledUpUntil: find(META_ROLLED_UP_UNTIL),
    /** Start of the current tick recording; 0 before the first tick is written. */
    observingSince: find(OBSERVING_SINCE_META_KEY) ?? 0,
  };
}

async function countChanged(
  database: Pick<Transaction, "query">,
  text: string,
  parameters: readonly unknown[],
): Promise<number> {
  const [row] = await database.query<{ count: number }>(text, parameters);
  return row?.count ?? 0;
}

const SELECT_RANGE_STARTS = `
select min(market_key) as key from (
  select market_key, (sum(count(*)) over (order by market_key) - count(*))::int8 / $3::int8 as range_number from ticks
  where event_at > to_timestamp($1::float8 / 1000) and event_at <= to_timestamp($2::float8 / 1000)
  group by market_key
) as market
group by range_number order by 1`;

/** Divides all market keys into ranges with about `ticksPerRange` ticks each in (fromMs, toMs]. */
async function findMarketRanges(
  database: Database,
  fromMs: number,
  toMs: number,
  ticksPerRange: number,
): Promise<readonly (readonly [from: number, to: number])[]> {
  const rows = await database.query<{ key: number }>(SELECT_RANGE_STARTS, [fromMs, toMs, ticksPerRange]);
  // Markets without ticks can have trades.
  const starts = [0, ...rows.slice(1).map(({ key }) => key)];
  return starts.map((start, index) => [start, starts[index + 1] ?? MARKET_KEY_MAX]);
}

/** Recomputes hourly bars from the hour of `fromMs` to the last hour that ends by `toMs`. Returns the change count. */
export async function deriveHourlyBars(
  transaction: Transaction,
  fromMs: number,
  toMs: number,
  marketKey: number | null,
): Promise<number> {
  const startMs = Math.floor(fromMs / HOUR_MS) * HOUR_MS;
  const endMs = Math.floor(toMs / HOUR_MS) * HOUR_MS;
  return endMs <= startMs ? 0 : countChanged(transaction, HOURS_FROM_FIVE_MINUTES, [startMs, endMs, marketKey]);
}

/** Adds the new pages of partitions $1 to the BRIN index on time. Otherwise only autovacuum adds them. */
const SUMMARISE_TICKS = `
select brin_summarize_new_values(inhrelid::regclass) from pg_inherits join pg_index on indexrelid = inhrelid
where inhparent = 'ticks_by_time'::regclass
  and indrelid = any(array(select to_regclass(name) from unnest($1::text[]) as day (name)))`;

/**
 * Creates five-minute and hourly bars from ticks, up to the last closed interval. Does nothing if no interval has
 * closed since the last run. Run it about once a minute. Idempotent, even if two nodes run it simultaneously or one of
 * them stops before the end: readers compute the bars after the last complete roll-up from ticks.
 *
 * @param now  Unix milliseconds
 * @param ticksPerStatement  approximate number of ticks that are rolled up per statement
 * @returns how many bars were created or changed
 */
export async function rollUp(
  database: Database,
  now: number,
  ticksPerStatement = TICKS_PER_STATEMENT,
): Promise<{ bars5m: number; bars1h: number }> {
  const untilMs = Math.floor((now - ROLL_UP_DELAY_MS) / FIVE_MINUTES_MS) * FIVE_MINUTES_MS;
  const state = await findRollUpState(database);
  const changedCounts = { bars5m: 0, bars1h: 0 };
  let startMs: number;
  if (state.rolledUpUntil !== null) startMs = state.rolledUpUntil - LOOKBACK_MS;
  else {
    const [firstTick] = await database.query<{ at: Date | null }>("select min(event_at) as at from ticks");
    if (firstTick?.at == null) return changedCounts;
    startMs = Math.floor((firstTick.at.getTime() - 1) / FIVE_MINUTES_MS) * FIVE_MINUTES_MS;
  }
  if (untilMs <= (state.rolledUpUntil ?? startMs)) return changedCounts;
  const partitionNames = [startMs, untilMs].flatMap((at) => [tickPartitionName(at), tickPartitionName(at, HOUR_MS)]);
  await database.query(SUMMARISE_TICKS, [partitionNames]);
  while (startMs < untilMs) {
    const endMs = Math.min(untilMs, startMs + (untilMs - startMs > 2 * BACKLOG_CHUNK_MS ? BACKLOG_CHUNK_MS : CHUNK_MS));
    for (const range of await findMarketRanges(database, startMs, endMs, ticksPerStatement)) {
      const parameters = [startMs, endMs, state.observingSince, ...range];
      changedCounts.bars5m += await countChanged(database, ROLL_UP_TICKS, parameters);
    }
    await database.transaction(async (transaction) => {
      changedCounts.bars1h += await deriveHourlyBars(transaction, startMs, endMs, null);
      await transaction.query(SAVE_WATERMARK, [String(endMs)]);
    });
    startMs = endMs;
  }
  return changedCounts;
}
