import assert from "node:assert/strict";
import { eachDatabase } from "../../../test/support/databases.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/durations.ts";
import type { Database } from "../../ports/database.ts";
import { FIVE_MINUTES_MS } from "../model.ts";
import { readPriceSeries } from "./price-series.ts";

/** 12:00 UTC: a multiple of the 15-minute and hourly steps of the grids. */
const NOON = Date.UTC(2026, 10, 21, 12);

type Bar = readonly [marketKey: number, endAt: number, yesPrice: number | null];

async function insertBars(database: Database, table: "bars_1h" | "bars_5m", bars: readonly Bar[]): Promise<void> {
  const lengthMs = table === "bars_1h" ? HOUR_MS : FIVE_MINUTES_MS;
  for (const [marketKey, endAt, yesPrice] of bars)
    await database.query(
      `insert into ${table} (market_key, start_at, yes_close, source) values ($1, to_timestamp($2::float8 / 1000), $3::int4, 'ticks')`,
      [marketKey, endAt - lengthMs, yesPrice === null ? null : Math.round(yesPrice * 1e6)],
    );
}

const setRolledUpUntil = (database: Database, at: number) =>
  database.query("insert into meta (key, value) values ('ticks_rolled_up_until', $1)", [String(at)]);

/** The series as pairs of minutes before noon and price. */
const describe = (series: readonly { readonly times: Float64Array; readonly prices: Float64Array }[]) =>
  series.map(({ times, prices }) => Array.from(times, (time, index) => [(time - NOON) / MINUTE_MS, prices[index]]));

eachDatabase(
  "reads the bars of several markets in the requested order, and the last price before the period",
  async (database) => {
    await insertBars(database, "bars_1h", [
      [1, NOON - 9 * DAY_MS, 0.1],
      [1, NOON - 8 * DAY_MS, 0.2],
      [1, NOON - 2 * HOUR_MS, 0.31],
      [1, NOON - HOUR_MS, null],
      [1, NOON, 0.333333],
      [2, NOON - 3 * HOUR_MS, 0.9],
    ]);
    const { grid, series } = await readPriceSeries(database, [2, null, 1, 77], { period: "7d", now: NOON });
    assert.deepEqual(grid, { start: NOON - 7 * DAY_MS, step: HOUR_MS, count: 169 });
    assert.deepEqual(describe(series), [
      [[-180, 0.9]],
      [],
      [
        [-8 * 1_440, 0.2],
        [-120, 0.31],
        [0, 0.333333],
      ],
      [],
    ]);
  },
);

eachDatabase(
  "a period of 48 hours is read from five-minute bars; of two bars that end together, the shorter comes last",
  async (database) => {
    await insertBars(database, "bars_1h", [
      [1, NOON - 3 * DAY_MS, 0.5],
      [1, NOON - HOUR_MS, 0.59],
    ]);
    await insertBars(database, "bars_5m", [
      [1, NOON - 3 * DAY_MS, 0.51],
      [1, NOON - 65 * MINUTE_MS, 0.6],
      [1, NOON - 60 * MINUTE_MS, 0.61],
    ]);
    const { grid, series } = await readPriceSeries(database, [1], { period: "48h", now: NOON + 14 * MINUTE_MS });
    assert.deepEqual(grid, { start: NOON - 2 * DAY_MS, step: 15 * MINUTE_MS, count: 193 });
    assert.deepEqual(describe(series), [
      [
        [-3 * 1_440, 0.5],
        [-3 * 1_440, 0.51],
        [-65, 0.6],
        [-60, 0.61],
      ],
    ]);
  },
);

eachDatabase("the grid ends at the end of the last complete bar, and later prices are not read", async (database) => {
  await insertBars(database, "bars_1h", [
    [1, NOON - HOUR_MS, 0.4],
    [1, NOON, 0.5],
    [1, NOON + HOUR_MS, 0.6],
  ]);
  const read = (now: number) => readPriceSeries(database, [1], { period: "30d", now });
  const atHalfPast = await read(NOON + 30 * MINUTE_MS);
  assert.deepEqual(atHalfPast.grid, { start: NOON - 30 * DAY_MS, step: HOUR_MS, count: 721 });
  assert.deepEqual(describe(atHalfPast.series).flat().at(-1), [0, 0.5]);
  await setRolledUpUntil(database, NOON - 5 * MINUTE_MS);
  const beforeRollUp = await read(NOON + 30 * MINUTE_MS);
  assert.equal(beforeRollUp.grid.start, NOON - HOUR_MS - 30 * DAY_MS);
  assert.deepEqual(describe(beforeRollUp.series).flat(), [[-60, 0.4]]);
});
