import assert from "node:assert/strict";
import { eachDatabase } from "../../test/support/databases.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { SAMPLE_AT, sampleMarket } from "../../test/support/markets/market-samples.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { samplePoint } from "../../test/support/storage-samples.ts";
import { MarketBoard } from "../board/index.ts";
import { HOUR_MS, MINUTE_MS } from "../lib/durations.ts";
import type { Database } from "../ports/database.ts";
import { createHistoryStore, createMarketStore, createTickWriter } from "../storage/index.ts";
import { createLastHourFigures } from "./last-hour-figures.ts";

/** Just after an interval has been rolled up. */
const NOW = SAMPLE_AT + 12 * HOUR_MS + MINUTE_MS;

/** Stores the markets, adds them to a board with their keys, and returns the figures' reader and a clock at `NOW`. */
async function openBoard(database: Database, marketIds: readonly string[]) {
  const clock = new FakeClock(NOW);
  const board = new MarketBoard(() => clock.now());
  const snapshots = marketIds.map((id) => sampleMarket(id, { activity: { volume24hUsd: 1_000 } }));
  const keys = await createMarketStore(database).upsertMarkets(snapshots);
  snapshots.forEach((snapshot, index) => {
    board.restore(snapshot, keys[index] ?? 0);
  });
  const lastHours = createLastHourFigures({ board, database, clock, venues: ["alpha"] });
  const find = (id: string) => {
    const market = board.find("alpha", id);
    assert.ok(market !== null);
    return lastHours.find(market);
  };
  return { board, clock, keys: keys.map((key) => key ?? 0), lastHours, find };
}

type Write = readonly [atMs: number, yesPrice: number, volumeUsd: number | null];

/** Records ticks of a market with a writer that has been running since `observingSince`. */
async function recordTicks(database: Database, marketKey: number, ticks: readonly Write[], observingSince: number) {
  const clock = new FakeClock(observingSince);
  const writer = createTickWriter({ database, clock, log: quietLog });
  for (const [at, yesPrice, volumeUsd] of ticks) {
    clock.jumpWallClock(at - clock.now());
    const prices = { bid: yesPrice - 0.01, ask: yesPrice + 0.01, lastPrice: yesPrice, yesPrice };
    writer.write({ marketKey, eventAt: at, receivedAt: at, ...prices, volumeUsd });
  }
  await writer.close();
}

eachDatabase(
  "returns the last price that is at least an hour old, and the volume of the last hour",
  async (database) => {
    const { keys, lastHours, find } = await openBoard(database, ["traded", "quiet", "unknown"]);
    const [traded = 0, quiet = 0] = keys;
    const start = NOW - 5 * HOUR_MS;
    await recordTicks(
      database,
      traded,
      [
        [NOW - 3 * HOUR_MS, 0.3, 100],
        [NOW - 70 * MINUTE_MS, 0.4, 150],
        [NOW - 50 * MINUTE_MS, 0.5, 400],
        [NOW - 10 * MINUTE_MS, 0.6, 1_000],
      ],
      start,
    );
    await recordTicks(database, quiet, [[NOW - 4 * HOUR_MS, 0.2, 7]], start);
    await createHistoryStore(database).rollUp(NOW);
    assert.equal(find("traded"), null, "before the first refresh");
    await lastHours.refresh();
    assert.deepEqual(find("traded"), { yesPriceBefore: 0.4, volumeUsd: 850 });
    assert.deepEqual(find("quiet"), { yesPriceBefore: 0.2, volumeUsd: 0 });
    assert.deepEqual(find("unknown"), { yesPriceBefore: null, volumeUsd: 0 });
  },
);

eachDatabase("the volume is unknown unless a whole hour has been recorded and rolled up", async (database) => {
  const { clock, keys, lastHours, find } = await openBoard(database, ["m", "silent"]);
  const [key = 0] = keys;
  await recordTicks(database, key, [[NOW - 20 * MINUTE_MS, 0.4, 100]], NOW - 30 * MINUTE_MS);
  await createHistoryStore(database).rollUp(NOW);
  await lastHours.refresh();
  assert.deepEqual(find("m"), { yesPriceBefore: null, volumeUsd: null }, "the first tick has no volume");
  assert.deepEqual(find("silent"), { yesPriceBefore: null, volumeUsd: null }, "only half an hour is recorded");
  await clock.advance(2 * HOUR_MS);
  await lastHours.refresh();
  assert.equal(find("silent")?.volumeUsd, null, "the roll-up is two hours behind");
});

eachDatabase(
  "uses the bar that ends last, including hourly bars, but no bar that ended over a day before the last hour",
  async (database) => {
    const { keys, lastHours, find } = await openBoard(database, ["old", "older", "both"]);
    const [old = 0, older = 0, both = 0] = keys;
    const history = createHistoryStore(database);
    const save = (key: number, endAt: number, lengthMs: number, price: number) =>
      history.saveVenueHistory(key, lengthMs, [samplePoint(endAt - lengthMs, endAt, price)], {
        fromMs: endAt - lengthMs,
        toMs: endAt,
      });
    const noon = NOW - MINUTE_MS;
    await save(old, noon - 20 * HOUR_MS, HOUR_MS, 0.3);
    await save(older, noon - 26 * HOUR_MS, HOUR_MS, 0.3);
    await save(both, noon - 2 * HOUR_MS, 5 * MINUTE_MS, 0.7);
    await save(both, noon - HOUR_MS, HOUR_MS, 0.8);
    await lastHours.refresh();
    assert.equal(find("old")?.yesPriceBefore, 0.3);
    assert.equal(find("older")?.yesPriceBefore, null);
    assert.equal(find("both")?.yesPriceBefore, 0.8);
  },
);

eachDatabase(
  "returns nothing after ten minutes without a refresh, and nothing for a market that is not stored",
  async (database) => {
    const { board, clock, lastHours, find } = await openBoard(database, ["m"]);
    await lastHours.refresh();
    assert.notEqual(find("m"), null);
    const { market } = board.apply(sampleMarket("new"), NOW);
    assert.equal(lastHours.find(market), null);
    await clock.advance(10 * MINUTE_MS);
    assert.notEqual(find("m"), null);
    await clock.advance(1);
    assert.equal(find("m"), null);
  },
);
