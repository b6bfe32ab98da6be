import { fromMicros } from "../domain/price.ts";
import type { HistoryPoint } from "../domain/trade.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../lib/durations.ts";
import type { Database } from "../ports/database.ts";
import type { HistoryRange } from "../ports/venue.ts";
import { binHistory, createHistoryGrid, createRangeGrid, type HistoryGrid, type PriceSample } from "./history-grid.ts";
import { FIVE_MINUTES_MS, type HistoryPeriod, type MarketHistory } from "./model.ts";
import { findRollUpState } from "./roll-up.ts";
import { toPrice } from "./storable.ts";
import { tickBarsSql } from "./tick-queries.ts";

interface BarRow {
  readonly start_at: Date;
  readonly length_ms: number;
  readonly yes_open: number | null;
  readonly yes_high: number | null;
  readonly yes_low: number | null;
  readonly yes_close: number | null;
  readonly bid_close: number | null;
  readonly ask_close: number | null;
  readonly volume_usd: number | null;
}

const BAR_COLUMNS = "start_at, yes_open, yes_high, yes_low, yes_close, bid_close, ask_close, volume_usd";
const lastBarBeforeSql = (table: string, lengthMs: number) => `
  (select ${lengthMs}::int4 as length_ms, ${BAR_COLUMNS} from ${table}
   where market_key = $1 and yes_close is not null and start_at <= to_timestamp(($2::float8 - ${lengthMs}) / 1000)
   order by start_at desc limit 1)`;
const barsWithinSql = (table: string, lengthMs: number, condition = "") => `
  (select ${lengthMs}::int4 as length_ms, ${BAR_COLUMNS} from ${table} as bar
   where market_key = $1 and start_at > to_timestamp(($2::float8 - ${lengthMs}) / 1000)
     and start_at < to_timestamp($3::float8 / 1000) ${condition})`;

/** Selects hours without an hourly bar. Reading all five-minute bars of a month would be slow. */
const IN_HOUR_WITHOUT_BAR = `
  and not exists (
    select 1 from bars_1h as hour where hour.market_key = $1 and hour.yes_close is not null
      and hour.start_at > to_timestamp(($2::float8 - ${HOUR_MS}) / 1000)
      and hour.start_at < to_timestamp($3::float8 / 1000)
      and hour.start_at = date_bin('1 hour', bar.start_at, timestamptz '1970-01-01 00:00:00+00'))`;

/**
 * Returns SQL for the bars of market $1 that overlap [$2, $3) and for the last bar of each length before that range. If
 * the grid has hourly intervals, five-minute bars are read only for hours without an hourly bar.
 */
const selectBarsSql = (fiveMinuteCondition: string) =>
  [
    lastBarBeforeSql("bars_1h", HOUR_MS),
    lastBarBeforeSql("bars_5m", FIVE_MINUTES_MS),
    barsWithinSql("bars_1h", HOUR_MS),
    barsWithinSql("bars_5m", FIVE_MINUTES_MS, fiveMinuteCondition),
  ].join(" union all ");
const SELECT_BARS = selectBarsSql("");
const SELECT_BARS_BY_HOUR = selectBarsSql(IN_HOUR_WITHOUT_BAR);

function toSample(row: BarRow): PriceSample {
  const startAt = row.start_at.getTime();
  return {
    startAt,
    endAt: startAt + row.length_ms,
    yesPrice: toPrice(row.yes_close),
    open: toPrice(row.yes_open),
    high: toPrice(row.yes_high),
    low: toPrice(row.yes_low),
    bid: toPrice(row.bid_close),
    ask: toPrice(row.ask_close),
    volumeUsd: row.volume_usd,
  };
}

/**
 * Selects the bars used for volume, without overlap. Bins of an hour or more use hourly bars, and five-minute bars only
 * in hours without an hourly bar. Shorter bins use five-minute bars.
 */
function selectVolumeSamples(
  hourlyBars: readonly HistoryPoint[],
  fiveMinuteBars: readonly HistoryPoint[],
  intervalMs: number,
): HistoryPoint[] {
  if (intervalMs < HOUR_MS) return [...fiveMinuteBars];
  const hourStarts = new Set(hourlyBars.map((hour) => hour.startAt));
  return [
    ...hourlyBars,
    ...fiveMinuteBars.filter((bar) => !hourStarts.has(Math.floor(bar.startAt / HOUR_MS) * HOUR_MS)),
  ];
}

/** Combines bars of several lengths, longest first. Of bars with the same end, only the shortest is kept. */
function withoutLongerBars(barsByLength: readonly (readonly PriceSample[])[]): PriceSample[] {
  const barsByEnd = new Map<number, PriceSample>();
  for (const bars of barsByLength) for (const bar of bars) if (bar.yesPrice !== null) barsByEnd.set(bar.endAt, bar);
  return [...barsByEnd.values()];
}

/**
 * Combines stored bars with bars from recent ticks. A recent bar replaces the stored bar of the same interval, but a
 * recent bar that has only trades does not replace a price reported by the venue.
 */
function replaceByRecent(storedBars: readonly BarRow[], recentBars: readonly BarRow[]): BarRow[] {
  const bars = new Map(storedBars.map((bar) => [bar.start_at.getTime(), bar]));
  for (const bar of recentBars) {
    const startAt = bar.start_at.getTime();
    if (bar.yes_close !== null || (bars.get(startAt)?.yes_close ?? null) === null) bars.set(startAt, bar);
  }
  return [...bars.values()];
}

/**
 * Returns the prices of a market over a period that ends now, from bars and from ticks that are not rolled up yet. The
 * result has no points if no price is known.
 *
 * @param maxPoints  10 to 200
 * @param now        Unix milliseconds
 */
export function readHistory(
  database: Database,
  marketKey: number,
  { period, maxPoints, now }: { readonly period: HistoryPeriod; readonly maxPoints: number; readonly now: number },
): Promise<MarketHistory> {
  return readGrid(database, marketKey, createHistoryGrid(period, maxPoints, now));
}

/** Like `readHistory`, for a range. Intervals below five minutes are computed from ticks. */
export function readRange(database: Database, marketKey: number, range: HistoryRange): Promise<MarketHistory> {
  return readGrid(database, marketKey, createRangeGrid(range));
}

async function readGrid(database: Database, marketKey: number, grid: HistoryGrid): Promise<MarketHistory> {
  const toMs = grid.fromMs + grid.count * grid.intervalMs;
  const state = await findRollUpState(database);
  const recentFromMs = state.rolledUpUntil ?? grid.fromMs - DAY_MS;
  const isHourly = grid.intervalMs % HOUR_MS === 0;
  const [bars, recentBars, minutes] = await Promise.all([
    database.query<BarRow>(isHourly ? SELECT_BARS_BY_HOUR : SELECT_BARS, [marketKey, grid.fromMs, toMs], "request"),
    database.query<BarRow>(
      `select ${FIVE_MINUTES_MS}::int4 as length_ms, ${BAR_COLUMNS} from (${tickBarsSql("one")}) as bar`,
      [recentFromMs, Math.max(recentFromMs, toMs), state.observingSince, marketKey],
      "request",
    ),
    grid.intervalMs < FIVE_MINUTES_MS ? readMinutes(database, marketKey, grid.fromMs, toMs) : null,
  ]);
  const hourlyBars = bars.filter((bar) => bar.length_ms === HOUR_MS).map(toSample);
  const fiveMinuteBars = replaceByRecent(
    bars.filter((bar) => bar.length_ms === FIVE_MINUTES_MS),
    recentBars,
  ).map(toSample);
  // If several bars end at the same time, the last one in the list sets the quote. A bar longer than the bins is used
  // only if no shorter bar ends at the same time.
  const samples = isHourly
    ? [...hourlyBars, ...fiveMinuteBars]
    : withoutLongerBars([hourlyBars, fiveMinuteBars, minutes ?? []]);
  const volumeSamples = minutes ?? selectVolumeSamples(hourlyBars, fiveMinuteBars, grid.intervalMs);
  const points = binHistory(grid, samples, volumeSamples);
  return { intervalSeconds: grid.intervalMs / 1_000, points };
}

const LAST_TICK_BEFORE = `
select event_at as start_at, 0 as length_ms, yes_price as yes_open, yes_price as yes_high, yes_price as yes_low,
  yes_price as yes_close, bid as bid_close, ask as ask_close, null::float8 as volume_usd
from ticks where market_key = $2 and event_at <= to_timestamp($1::float8 / 1000) and yes_price is not null
order by event_at desc limit 1`;

/** `volume_grown` is not used: it would assign all trades since the venue's previous report to one minute. */
const MINUTE_BARS = `
select ${MINUTE_MS}::int4 as length_ms, start_at, yes_open, yes_high, yes_low, yes_close, bid_close, ask_close,
  volume_traded_usd as volume_usd
from (${tickBarsSql("one", "1 minute")}) as bar`;

/** Returns the minutes with a tick or a trade in (fromMs, toMs], and the last tick before them. */
async function readMinutes(
  database: Database,
  marketKey: number,
  fromMs: number,
  toMs: number,
): Promise<readonly PriceSample[]> {
  const [before, minutes] = await Promise.all([
    database.query<BarRow>(LAST_TICK_BEFORE, [fromMs, marketKey], "request"),
    database.query<BarRow>(MINUTE_BARS, [fromMs, toMs, 0, marketKey], "request"),
  ]);
  return [...before, ...minutes].map(toSample);
}

/**
 * Returns the prices 24 hours ago by market key: the last known price at or before that time, at most three days older.
 * Markets without such a price are omitted.
 */
export async function priceDayAgo(database: Database, now: number): Promise<Map<number, number>> {
  const rows = await database.query<{ market_key: number; yes_close: number }>(
    `select distinct on (market_key) market_key, yes_close from (
       select market_key, yes_close, start_at + interval '1 hour' as end_at from bars_1h
       where start_at > to_timestamp($1::float8 / 1000) - interval '3 days'
         and start_at <= to_timestamp($1::float8 / 1000) - interval '1 hour' and yes_close is not null
       union all
       select market_key, yes_close, start_at + interval '5 minutes' as end_at from bars_5m
       where start_at > to_timestamp($1::float8 / 1000) - interval '2 hours'
         and start_at <= to_timestamp($1::float8 / 1000) - interval '5 minutes' and yes_close is not null
     ) as bar
     order by market_key, end_at desc`,
    [now - DAY_MS],
  );
  return new Map(rows.map((row) => [row.market_key, fromMicros(row.yes_close)]));
}
