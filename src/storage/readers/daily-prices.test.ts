import assert from "node:assert/strict";
import { eachDatabase } from "../../../test/support/databases.ts";
import { DAY_MS, HOUR_MS } from "../../lib/durations.ts";
import type { Database } from "../../ports/database.ts";
import { readDailyPrices } from "./daily-prices.ts";

const MIDNIGHT = Date.UTC(2026, 10, 21);

async function insertMarket(database: Database, marketId: string): Promise<number> {
  const [row] = await database.query<{ key: number }>(
    `insert into markets (venue, market_id, title, status, updated_at, snapshot) values ('alpha', $1, $1, 'active', now(), '{}')
     returning key`,
    [marketId],
  );
  return row?.key ?? 0;
}

const insertBar = (database: Database, marketKey: number, endAt: number, yesPrice: number | null) =>
  database.query(
    `insert into bars_1h (market_key, start_at, yes_close, source) values ($1, to_timestamp($2::float8 / 1000), $3::int4, 'ticks')`,
    [marketKey, endAt - HOUR_MS, yesPrice === null ? null : Math.round(yesPrice * 1e6)],
  );

eachDatabase(
  "returns the last price of each day at the midnight that ends the day; days without a price are left out",
  async (database) => {
    const [a, b] = [await insertMarket(database, "a"), await insertMarket(database, "b")];
    await insertBar(database, a, MIDNIGHT - 3 * HOUR_MS, 0.3);
    await insertBar(database, a, MIDNIGHT, 0.4);
    await insertBar(database, a, MIDNIGHT + HOUR_MS, 0.45);
    await insertBar(database, a, MIDNIGHT + 20 * HOUR_MS, 0.5);
    await insertBar(database, a, MIDNIGHT + 21 * HOUR_MS, null);
    await insertBar(database, a, MIDNIGHT + 3 * DAY_MS, 0.7);
    await insertBar(database, a, MIDNIGHT + 4 * DAY_MS, 0.8);
    await insertBar(database, b, MIDNIGHT + DAY_MS, 0.9);
    const range = { venue: "alpha", firstMidnight: MIDNIGHT, lastMidnight: MIDNIGHT + 3 * DAY_MS };
    const prices = await readDailyPrices(database, [
      { ...range, marketId: "a" },
      { ...range, marketId: "unknown" },
      { ...range, marketId: "b", firstMidnight: MIDNIGHT + DAY_MS },
    ]);
    assert.deepEqual(
      prices
        .map(({ venue, marketId, at, yesPrice }) => `${venue}/${marketId} ${(at - MIDNIGHT) / DAY_MS} ${yesPrice}`)
        .sort(),
      ["alpha/a 0 0.4", "alpha/a 1 0.5", "alpha/a 3 0.7", "alpha/b 1 0.9"],
    );
  },
);

eachDatabase("returns nothing for a range that ends before it starts, and without markets", async (database) => {
  await insertBar(database, await insertMarket(database, "a"), MIDNIGHT, 0.4);
  const range = { venue: "alpha", marketId: "a", firstMidnight: MIDNIGHT, lastMidnight: MIDNIGHT - DAY_MS };
  assert.deepEqual(await readDailyPrices(database, [range]), []);
  assert.deepEqual(await readDailyPrices(database, []), []);
});
