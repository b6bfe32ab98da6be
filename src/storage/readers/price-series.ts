import { HOUR_MS, MINUTE_MS } from "../../lib/durations.ts";
import type { Database } from "../../ports/database.ts";
import { PERIOD_MS } from "../history-grid.ts";
import { FIVE_MINUTES_MS, type HistoryPeriod } from "../model.ts";
import { findRollUpState } from "../roll-up.ts";

/**
 * Steps of the common grid. Every store has hourly bars for 30 days and five-minute bars for two days. On a finer grid,
 * hourly prices of one market would be compared with quarter-hourly prices of another.
 */
const GRIDS: Readonly<Record<HistoryPeriod, { readonly stepMs: number; readonly barMs: number }>> = {
  "48h": { stepMs: 3 * FIVE_MINUTES_MS, barMs: FIVE_MINUTES_MS },
  "7d": { stepMs: HOUR_MS, barMs: HOUR_MS },
  "30d": { stepMs: HOUR_MS, barMs: HOUR_MS },
};

/** Length of the shortest bars that `readPriceSeries` reads for a period, in milliseconds. */
export const seriesBarMs = (period: HistoryPeriod): number => GRIDS[period].barMs;

/** Stored prices of one market, oldest first: YES prices in [0, 1], and the times at which each was the last price. */
export interface StoredPrices {
  /** Unix milliseconds, not decreasing. */
  readonly times: Float64Array<ArrayBuffer>;
  readonly prices: Float64Array<ArrayBuffer>;
}

export interface PriceSeries {
  /** The common grid of all series: instants in Unix milliseconds. The last one is at or before `now`. */
  readonly grid: { readonly start: number; readonly step: number; readonly count: number };
  /** In the order of the requested markets. A market without stored prices has empty lists. */
  readonly series: readonly StoredPrices[];
}

/** Minutes since 1970 and micros, each as four bytes, because parsing rows would cost more than the query. */
const SAMPLE = "int4send((date_part('epoch', start_at) / 60)::int4 + minutes) || int4send(yes_close)";
const lastBarBeforeSql = (table: string, lengthMs: number) => `
  (select start_at, ${lengthMs / MINUTE_MS} as minutes, yes_close from ${table}
   where market_key = wanted.key and yes_close is not null
     and start_at <= to_timestamp(($2::float8 - ${lengthMs}) / 1000)
   order by start_at desc limit 1)`;

/** Selects, for each market of $1, the last price before $2 and the closing prices of the bars that end in ($2, $3]. */
const selectSamplesSql = (table: string, lengthMs: number) => `
select wanted.position::int4 as position, bars.samples
from unnest($1::int4[]) with ordinality as wanted (key, position) cross join lateral (
  select string_agg(${SAMPLE}, ''::bytea order by start_at + minutes * interval '1 minute', minutes desc) as samples
  from (
    ${lastBarBeforeSql("bars_1h", HOUR_MS)} union all ${lastBarBeforeSql("bars_5m", FIVE_MINUTES_MS)} union all
    (select start_at, ${lengthMs / MINUTE_MS} as minutes, yes_close from ${table}
     where market_key = wanted.key and yes_close is not null
       and start_at > to_timestamp(($2::float8 - ${lengthMs}) / 1000)
       and start_at <= to_timestamp(($3::float8 - ${lengthMs}) / 1000))
  ) as bar
) as bars`;
const SELECT_FIVE_MINUTE_SAMPLES = selectSamplesSql("bars_5m", FIVE_MINUTES_MS);
const SELECT_HOURLY_SAMPLES = selectSamplesSql("bars_1h", HOUR_MS);

const SAMPLE_BYTES = 8;

function decodeSamples(bytes: Uint8Array): StoredPrices {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.byteLength / SAMPLE_BYTES;
  const times = new Float64Array(count);
  const prices = new Float64Array(count);
  for (let index = 0; index < count; index++) {
    times[index] = view.getInt32(index * SAMPLE_BYTES) * MINUTE_MS;
    prices[index] = view.getInt32(index * SAMPLE_BYTES + 4) / 1_000_000;
  }
  return { times, prices };
}

/**
 * Reads the prices of several markets over a period with one query, from bars computed from ticks or fetched from the
 * venues. The grid ends at the last step with complete bars, a few minutes before `now`.
 *
 * @param marketKeys  null for a market that is not stored
 * @param now  Unix milliseconds; later prices are not read
 */
export async function readPriceSeries(
  database: Database,
  marketKeys: readonly (number | null)[],
  { period, now }: { readonly period: HistoryPeriod; readonly now: number },
): Promise<PriceSeries> {
  const { stepMs, barMs } = GRIDS[period];
  const periodMs = PERIOD_MS[period];
  const { rolledUpUntil } = await findRollUpState(database);
  const end = Math.floor(Math.min(now, rolledUpUntil ?? now) / stepMs) * stepMs;
  const start = end - periodMs;
  const text = barMs < HOUR_MS ? SELECT_FIVE_MINUTE_SAMPLES : SELECT_HOURLY_SAMPLES;
  // No market has the key 0.
  const keys = marketKeys.map((key) => key ?? 0);
  const rows = await database.query<{ position: number; samples: Uint8Array | null }>(
    text,
    [keys, start, end],
    "request",
  );
  const samplesByPosition = new Map(rows.map(({ position, samples }) => [position, samples]));
  const series = keys.map((_, index) => decodeSamples(samplesByPosition.get(index + 1) ?? new Uint8Array()));
  return { grid: { start, step: stepMs, count: periodMs / stepMs + 1 }, series };
}
