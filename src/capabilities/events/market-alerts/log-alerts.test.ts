import assert from "node:assert/strict";
import { eachDatabase, onPostgres } from "../../../../test/support/databases.ts";
import { SAMPLE_AT, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { MarketBoard } from "../../../board/index.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import type { Database, Transaction } from "../../../ports/database.ts";
import { createMarketStore } from "../../../storage/index.ts";
import { DEFAULT_ALERT_LIMITS } from "./index.ts";
import { logPriceShifts } from "./log-alerts.ts";
import { PriceShiftDetector } from "./price-shift-detector.ts";

const LIMITS = DEFAULT_ALERT_LIMITS.priceShift;
const FULL_HOUR = SAMPLE_AT + HOUR_MS;

/** A market at 0.41 whose price moved by 0.04 in log-odds every hour for a week. */
async function openMarket(database: Database) {
  const snapshot = sampleMarket("m");
  const [storeKey] = await createMarketStore(database).upsertMarkets([snapshot]);
  assert.ok(typeof storeKey === "number");
  await database.query(
    `insert into bars_1h (market_key, start_at, yes_close, source)
     select $1::int4, to_timestamp($2::float8 / 1000) - hour * interval '1 hour', case hour % 2 when 0 then 410000 else 419730 end, 'ticks'
     from generate_series(1, 168) as hour`,
    [storeKey, SAMPLE_AT],
  );
  const board = new MarketBoard(() => SAMPLE_AT);
  const market = board.annotate(board.apply(snapshot, SAMPLE_AT).market, { storeKey });
  return {
    /** Returns a detector that has observed the price 0.6 twice, the second time at `at`. */
    see(at: number): PriceShiftDetector {
      const watch = new PriceShiftDetector(LIMITS);
      watch.add({ ...market, yesPrice: 0.41 }, null, at - 20);
      watch.add({ ...market, yesPrice: 0.6 }, null, at - 10);
      watch.add({ ...market, yesPrice: 0.6 }, null, at);
      assert.equal(watch.candidateCount, 1);
      return watch;
    },
  };
}

const countEvents = async (database: Database): Promise<number> =>
  (await database.query("select 1 from event_log")).length;

/** Calls `before` at the start of each transaction. */
const pausing = (database: Database, before: () => Promise<unknown>): Database => ({
  ...database,
  async transaction(run) {
    await before();
    return database.transaction(run);
  },
});

for (const [order, first, second] of [
  ["before", FULL_HOUR - 5, FULL_HOUR + 5],
  ["after", FULL_HOUR + 5, FULL_HOUR - 5],
] as const)
  eachDatabase(
    `a node does not log a move that another node has logged in the clock hour ${order} its own`,
    async (database) => {
      const { see } = await openMarket(database);
      const watch = see(second);
      const paused = pausing(database, () => logPriceShifts(see(first), database, LIMITS));
      assert.equal(await logPriceShifts(watch, paused, LIMITS), 0);
      assert.equal(await countEvents(database), 1);
      assert.equal(watch.candidateCount, 0);
      // A later detector does not log the move again either.
      assert.equal(await logPriceShifts(see(second), database, LIMITS), 0);
    },
  );

onPostgres("of two nodes that log the same move in two clock hours, one waits for the other", async (database) => {
  const { see } = await openMarket(database);
  const inTransaction = Promise.withResolvers<void>();
  const other: Database = {
    ...database,
    transaction: (run) =>
      database.transaction((transaction) => {
        const query: Transaction["query"] = (...parameters) => {
          inTransaction.resolve();
          return transaction.query(...parameters);
        };
        return run({ query });
      }),
  };
  let otherLogged: Promise<number> | null = null;
  const first: Database = {
    ...database,
    transaction: (run) =>
      database.transaction((transaction) => {
        const query: Transaction["query"] = async (text, parameters) => {
          if (text.includes("into event_log")) {
            otherLogged = logPriceShifts(see(FULL_HOUR + 5), other, LIMITS);
            await inTransaction.promise;
            // Without the lock, the other node would read the log during this query.
            await database.query("select 1");
          }
          return transaction.query(text, parameters);
        };
        return run({ query });
      }),
  };
  assert.equal(await logPriceShifts(see(FULL_HOUR - 5), first, LIMITS), 1);
  assert.equal(await otherLogged, 0);
  assert.equal(await countEvents(database), 1);
});
