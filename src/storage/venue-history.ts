import type { HistoryPoint } from "../domain/trade.ts";
import type { Database } from "../ports/database.ts";
import { type CoveredRange, FIVE_MINUTES_MS, HOUR_MS } from "./model.ts";
import { deriveHours } from "./roll-up.ts";
import { storableAmount, storablePrice, storableTime } from "./storable.ts";

/** Points of at most this length are kept as five-minute bars at their end; longer ones as hours. */
const SHORT_POINT_MS_MAX = 30 * 60_000;
const ROWS_PER_STATEMENT_MAX = 500;

/** A bar that we saw ourselves stays as it is; only a volume it does not know is filled in. */
const insertVenueBars = (table: "bars_5m" | "bars_1h") => `
insert into ${table} (market_key, start_at, yes_open, yes_high, yes_low, yes_close, bid_close, ask_close, volume_usd, source)
select $1::int4, to_timestamp(start_ms / 1000), yes, yes, yes, yes, bid, ask, volume, 'venue'
from unnest($2::float8[], $3::int4[], $4::int4[], $5::int4[], $6::float8[]) as bar (start_ms, yes, bid, ask, volume)
on conflict (market_key, start_at) do update set
  yes_open = case when ${table}.source = 'venue' then excluded.yes_open else ${table}.yes_open end,
  yes_high = case when ${table}.source = 'venue' then excluded.yes_high else ${table}.yes_high end,
  yes_low = case when ${table}.source = 'venue' then excluded.yes_low else ${table}.yes_low end,
  yes_close = case when ${table}.source = 'venue' then excluded.yes_close else ${table}.yes_close end,
  bid_close = case when ${table}.source = 'venue' then excluded.bid_close else ${table}.bid_close end,
  ask_close = case when ${table}.source = 'venue' then excluded.ask_close else ${table}.ask_close end,
  volume_usd = case when ${table}.source = 'venue' then coalesce(excluded.volume_usd, ${table}.volume_usd)
                    else coalesce(${table}.volume_usd, excluded.volume_usd) end`;

interface VenueBar {
  readonly startAt: number;
  readonly yes: number | null;
  readonly bid: number | null;
  readonly ask: number | null;
  readonly volumeUsd: number | null;
}

/** Points on our grid: each goes to the bar in which it ends; of several the last gives the price and volumes add up. */
function toBars(points: readonly HistoryPoint[], lengthMs: number): VenueBar[] {
  const bars = new Map<number, VenueBar>();
  for (const point of points) {
    const startAt = Math.floor((point.endAt - 1) / lengthMs) * lengthMs;
    const other = bars.get(startAt);
    const volume = storableAmount(point.volumeUsd);
    bars.set(startAt, {
      startAt,
      yes: storablePrice(point.yesPrice) ?? other?.yes ?? null,
      bid: storablePrice(point.bid),
      ask: storablePrice(point.ask),
      volumeUsd:
        other === undefined ? volume : volume === null || other.volumeUsd === null ? null : other.volumeUsd + volume,
    });
  }
  return [...bars.values()].filter((bar) => bar.yes !== null || bar.volumeUsd !== null);
}

/**
 * Fills bars with what the venue itself remembers and notes the span as fetched, in one transaction. Bars made from our
 * own ticks are never overwritten. Points outside the range, not over at its end or without a valid time are left out.
 *
 * @param intervalMs  what was asked of the venue; the points may be finer
 * @param range       the whole span that was asked for, also where the venue had nothing; toMs at most now
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
  const usable = points
    .filter((point) => storableTime(point.endAt) !== null && point.endAt >= point.startAt)
    .filter((point) => point.endAt > fromMs && point.endAt <= toMs)
    .sort((a, b) => a.endAt - b.endAt);
  const isShort = (point: HistoryPoint) => point.endAt - point.startAt <= SHORT_POINT_MS_MAX;
  const fiveMinutes = toBars(usable.filter(isShort), FIVE_MINUTES_MS);
  const hours = toBars(
    usable.filter((point) => !isShort(point)),
    HOUR_MS,
  );

  await database.transaction(async (transaction) => {
    const insert = async (table: "bars_5m" | "bars_1h", bars: readonly VenueBar[]) => {
      for (let start = 0; start < bars.length; start += ROWS_PER_STATEMENT_MAX) {
        const rows = bars.slice(start, start + ROWS_PER_STATEMENT_MAX);
        await transaction.query(insertVenueBars(table), [
          marketKey,
          rows.map((bar) => bar.startAt),
          rows.map((bar) => bar.yes),
          rows.map((bar) => bar.bid),
          rows.map((bar) => bar.ask),
          rows.map((bar) => bar.volumeUsd),
        ]);
      }
    };
    await insert("bars_5m", fiveMinutes);
    await insert("bars_1h", hours);
    const first = fiveMinutes[0]?.startAt;
    if (first !== undefined) await deriveHours(transaction, first, toMs, marketKey);

    // Spans that touch become one, so that the table holds a handful of rows per market however often it is asked.
    const intervalSeconds = Math.round(intervalMs / 1_000);
    const merged = await transaction.query<{ from_at: Date; to_at: Date }>(
      `delete from history_coverage
       where market_key = $1 and interval_seconds = $2 and from_at <= $3 and to_at >= $4
       returning from_at, to_at`,
      [marketKey, intervalSeconds, new Date(toMs), new Date(fromMs)],
    );
    await transaction.query(
      `insert into history_coverage (market_key, interval_seconds, from_at, to_at) values ($1, $2, $3, $4)
       on conflict (market_key, interval_seconds, from_at) do update set to_at = excluded.to_at`,
      [
        marketKey,
        intervalSeconds,
        new Date(Math.min(fromMs, ...merged.map((row) => row.from_at.getTime()))),
        new Date(Math.max(toMs, ...merged.map((row) => row.to_at.getTime()))),
      ],
    );
  });
}

/** The spans fetched from the venue so far, oldest first; spans of one interval never touch. */
export async function coverage(database: Database, marketKey: number): Promise<CoveredRange[]> {
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
