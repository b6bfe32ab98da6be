import type { HistoryPoint } from "../domain/trade.ts";
import { chunksOf } from "../lib/chunks.ts";
import { columnsOf } from "../lib/columns-of.ts";
import { HOUR_MS } from "../lib/durations.ts";
import type { Database, Transaction } from "../ports/database.ts";
import type { HistoryRange } from "../ports/venue.ts";
import { FIVE_MINUTES_MS } from "./model.ts";
import { deriveHourlyBars, PRICE_COLUMNS } from "./roll-up.ts";
import { toStorableAmount, toStorablePrice, toStorableTime } from "./storable.ts";

/** Maximum length of a point that is stored as a five-minute bar. Longer points are stored as hourly bars. */
const SHORT_POINT_MS_MAX = 30 * 60_000;
const ROWS_PER_STATEMENT_MAX = 500;

const setPriceSql = (table: string, column: string) =>
  `${column} = case when ${table}.source = 'venue' or ${table}.yes_close is null then excluded.${column} else ${table}.${column} end`;

/** Returns SQL that inserts bars. In an existing bar made from ticks, only missing prices and volumes are set. */
const insertVenueBarsSql = (table: "bars_5m" | "bars_1h") => `
insert into ${table} (market_key, start_at, yes_open, yes_high, yes_low, yes_close, bid_close, ask_close, volume_usd, source)
select $1::int4, to_timestamp(start_ms / 1000), yes, yes, yes, yes, bid, ask, volume, 'venue'
from unnest($2::float8[], $3::int4[], $4::int4[], $5::int4[], $6::float8[]) as bar (start_ms, yes, bid, ask, volume)
on conflict (market_key, start_at) do update set
  ${PRICE_COLUMNS.map((column) => setPriceSql(table, column)).join(", ")},
  volume_usd = case when ${table}.source = 'venue' then coalesce(excluded.volume_usd, ${table}.volume_usd)
                    else coalesce(${table}.volume_usd, excluded.volume_usd) end`;

interface VenueBar {
  readonly startAt: number;
  readonly yes: number | null;
  readonly bid: number | null;
  readonly ask: number | null;
  readonly volumeUsd: number | null;
}

/**
 * Assigns each point to the bar in which it ends. If a bar has several points, it has the price of the last point and
 * the sum of the volumes.
 */
function toBars(points: readonly HistoryPoint[], lengthMs: number): VenueBar[] {
  const bars = new Map<number, VenueBar>();
  for (const point of points) {
    const startAt = Math.floor((point.endAt - 1) / lengthMs) * lengthMs;
    const previous = bars.get(startAt);
    const volume = toStorableAmount(point.volumeUsd);
    bars.set(startAt, {
      startAt,
      yes: toStorablePrice(point.yesPrice) ?? previous?.yes ?? null,
      bid: toStorablePrice(point.bid),
      ask: toStorablePrice(point.ask),
      volumeUsd:
        previous === undefined
          ? volume
          : volume === null || previous.volumeUsd === null
            ? null
            : previous.volumeUsd + volume,
    });
  }
  return [...bars.values()].filter((bar) => bar.yes !== null || bar.volumeUsd !== null);
}

const MERGE_COVERAGE = `
delete from history_coverage
where market_key = $1 and interval_seconds = $2
  and from_at <= to_timestamp($4::float8 / 1000) and to_at >= to_timestamp($3::float8 / 1000)
returning from_at, to_at`;

const INSERT_COVERAGE = `
insert into history_coverage (market_key, interval_seconds, from_at, to_at)
values ($1, $2, to_timestamp($3::float8 / 1000), to_timestamp($4::float8 / 1000))
on conflict (market_key, interval_seconds, from_at) do update set to_at = excluded.to_at`;

/**
 * Stores price history fetched from the venue and records the range as fetched, in one transaction. Prices made from
 * ticks are not changed. Points are ignored if they end outside the range or have no valid time.
 *
 * @param intervalMs  interval requested from the venue; points may be shorter
 * @param range       the requested range, even if the venue has no points for part of it; `toMs` at most now
 */
export async function saveVenueHistory(
  database: Database,
  marketKey: number,
  intervalMs: number,
  points: readonly HistoryPoint[],
  range: { readonly fromMs: number; readonly toMs: number },
): Promise<void> {
  const { fromMs, toMs } = range;
  if (!(fromMs < toMs)) return;
  const usablePoints = points
    .filter((point) => toStorableTime(point.endAt) !== null && point.endAt >= point.startAt)
    .filter((point) => point.endAt > fromMs && point.endAt <= toMs)
    .sort((a, b) => a.endAt - b.endAt);
  const isShort = (point: HistoryPoint) => point.endAt - point.startAt <= SHORT_POINT_MS_MAX;
  const fiveMinutes = toBars(usablePoints.filter(isShort), FIVE_MINUTES_MS);
  const hours = toBars(
    usablePoints.filter((point) => !isShort(point)),
    HOUR_MS,
  );

  await database.transaction(async (transaction) => {
    await insertBars(transaction, "bars_5m", marketKey, fiveMinutes);
    await insertBars(transaction, "bars_1h", marketKey, hours);
    const firstStartAt = fiveMinutes[0]?.startAt;
    if (firstStartAt !== undefined) await deriveHourlyBars(transaction, firstStartAt, toMs, marketKey);

    // Adjoining ranges are merged, so repeated requests do not add rows.
    const series = [marketKey, Math.round(intervalMs / 1_000)];
    const merged = await transaction.query<{ from_at: Date; to_at: Date }>(MERGE_COVERAGE, [...series, fromMs, toMs]);
    await transaction.query(INSERT_COVERAGE, [
      ...series,
      Math.min(fromMs, ...merged.map((row) => row.from_at.getTime())),
      Math.max(toMs, ...merged.map((row) => row.to_at.getTime())),
    ]);
  });
}

async function insertBars(
  transaction: Transaction,
  table: "bars_5m" | "bars_1h",
  marketKey: number,
  bars: readonly VenueBar[],
): Promise<void> {
  for (const rows of chunksOf(bars, ROWS_PER_STATEMENT_MAX)) {
    const columns = columnsOf(rows, "startAt", "yes", "bid", "ask", "volumeUsd");
    await transaction.query(insertVenueBarsSql(table), [marketKey, ...columns]);
  }
}

/** Returns the ranges fetched from the venue, oldest first. Ranges of the same interval never overlap or adjoin. */
export async function readCoverage(database: Database, marketKey: number): Promise<HistoryRange[]> {
  const rows = await database.query<{ interval_seconds: number; from_at: Date; to_at: Date }>(
    "select interval_seconds, from_at, to_at from history_coverage where market_key = $1 order by interval_seconds, from_at",
    [marketKey],
  );
  return rows.map((row) => ({
    intervalMs: row.interval_seconds * 1_000,
    fromMs: row.from_at.getTime(),
    toMs: row.to_at.getTime(),
  }));
}
