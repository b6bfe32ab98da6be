import assert from "node:assert/strict";
import { eachDatabase } from "../../../test/support/databases.ts";
import { HOUR_MS } from "../../lib/durations.ts";
import type { Database } from "../../ports/database.ts";
import { createMarketStore } from "../index.ts";
import { readHourlyCloses } from "./hourly-closes.ts";
import { readTradeAmounts } from "./recent-trades.ts";

const NOON = Date.UTC(2026, 10, 21, 12);

const insertBar = (database: Database, marketKey: number, endAt: number, micros: number | null) =>
  database.query(
    `insert into bars_1h (market_key, start_at, yes_close, source) values ($1, to_timestamp($2::float8 / 1000), $3::int4, 'ticks')`,
    [marketKey, endAt - HOUR_MS, micros],
  );

eachDatabase("returns the hourly closes whose hour lies in the range, oldest first", async (database) => {
  await insertBar(database, 1, NOON + HOUR_MS, 600_000);
  await insertBar(database, 1, NOON, 500_000);
  await insertBar(database, 1, NOON - HOUR_MS, null);
  await insertBar(database, 1, NOON - 2 * HOUR_MS, 400_000);
  await insertBar(database, 1, NOON - 3 * HOUR_MS, 300_000);
  await insertBar(database, 2, NOON, 200_000);
  const closes = await readHourlyCloses(database, [1, 2, 3], { fromMs: NOON - 3 * HOUR_MS, toMs: NOON });
  assert.deepEqual(
    [...closes],
    [
      [
        1,
        [
          { at: NOON - 2 * HOUR_MS, yesPrice: 0.4 },
          { at: NOON, yesPrice: 0.5 },
        ],
      ],
      [2, [{ at: NOON, yesPrice: 0.2 }]],
      [3, []],
    ],
  );
});

eachDatabase("returns the amounts of the newest trades, at the price of the bought side", async (database) => {
  const store = createMarketStore(database);
  const trade = (minutes: number, size: number, takerSide: "yes" | "no" | null) => ({
    marketKey: 1,
    trade: { tradeId: `t${minutes}`, executedAt: NOON + minutes * 60_000, yesPrice: 0.25, size, takerSide },
  });
  await store.insertTrades([trade(0, 4, "yes"), trade(1, 4, "no"), trade(2, 8, null), trade(3, 400, "yes")]);
  const range = { fromMs: NOON, toMs: NOON + 3 * 60_000, limit: 10 };
  assert.deepEqual(await readTradeAmounts(database, 1, range), [2, 3, 1]);
  assert.deepEqual(await readTradeAmounts(database, 1, { ...range, limit: 2 }), [2, 3]);
  assert.deepEqual(await readTradeAmounts(database, 2, range), []);
});
