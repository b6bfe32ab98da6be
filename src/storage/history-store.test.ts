import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase, embeddedDatabase } from "../../test/support/databases.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { sampleMarket } from "../../test/support/markets/market-samples.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { samplePoint } from "../../test/support/storage-samples.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../lib/durations.ts";
import type { Database } from "../ports/database.ts";
import { createHistoryStore } from "./history-store.ts";
import { createMarketStore } from "./market-store.ts";
import { FIVE_MINUTES_MS } from "./model.ts";
import { DEFAULT_RETENTION } from "./retention.ts";
import { rollUp } from "./roll-up.ts";
import { createTickWriter } from "./tick-writer.ts";

/** 12:00 UTC: start of a five-minute and of an hourly bar. */
const NOON = Date.UTC(2026, 10, 21, 12);

type Write = readonly [atMs: number, yesPrice: number, volumeUsd?: number | null];

/** Writes ticks of a market with a writer that has been running since `observingSince`. */
async function writeTicks(
  database: Database,
  ticks: readonly Write[],
  observingSince = NOON - 10 * DAY_MS,
  marketKey = 1,
) {
  const clock = new FakeClock(observingSince);
  const writer = createTickWriter({ database, clock, log: quietLog });
  for (const [at, yesPrice, volumeUsd = null] of ticks) {
    clock.jumpWallClock(at - clock.now());
    const quote = { bid: yesPrice - 0.01, ask: yesPrice + 0.01, lastPrice: yesPrice, yesPrice, volumeUsd };
    writer.write({ marketKey, eventAt: at, receivedAt: at, ...quote });
  }
  await writer.close();
}

const selectBars = (database: Database, table: "bars_5m" | "bars_1h") =>
  database.query(
    `select (extract(epoch from start_at) * 1000)::int8 - ${NOON} as offset_ms, yes_open, yes_high, yes_low, yes_close,
       volume_usd, source from ${table} order by start_at, market_key`,
  );
const barRow = (offset_ms: number, prices: readonly number[], volume_usd: number | null, source = "ticks") => {
  const [yes_open, yes_high, yes_low, yes_close] = prices;
  return { offset_ms, yes_open, yes_high, yes_low, yes_close, volume_usd, source };
};
const createVenuePoint = (endAt: number, lengthMs: number, yesPrice: number, volumeUsd: number | null = null) =>
  samplePoint(endAt - lengthMs, endAt, yesPrice, { volumeUsd });
const createTrade = (marketKey: number, tradeId: string, executedAt: number, yesPrice = 0.5, size = 1) => ({
  marketKey,
  trade: { tradeId, executedAt, yesPrice, size, takerSide: null },
});

eachDatabase("the roll-up creates bars of closed intervals only and is idempotent", async (database) => {
  const history = createHistoryStore(database);
  await writeTicks(database, [
    [NOON + 1 * MINUTE_MS, 0.4, 100],
    [NOON + 2 * MINUTE_MS, 0.6, 150],
    [NOON + 5 * MINUTE_MS, 0.5, 160],
    [NOON + 7 * MINUTE_MS, 0.3, 200],
    [NOON + 11 * MINUTE_MS, 0.9, 210],
  ]);
  const now = NOON + 12 * MINUTE_MS;
  await history.rollUp(now);
  const expected = [
    // The tick at 12:05:00.000 belongs to the bar that ends at 12:05.
    barRow(0, [400_000, 600_000, 400_000, 500_000], null),
    barRow(FIVE_MINUTES_MS, [300_000, 300_000, 300_000, 300_000], 40),
  ];
  assert.deepEqual(await selectBars(database, "bars_5m"), expected);
  assert.deepEqual(await history.rollUp(now), { bars5m: 0, bars1h: 0 });
  assert.deepEqual(await selectBars(database, "bars_5m"), expected);
  assert.deepEqual(await selectBars(database, "bars_1h"), []);
  await history.rollUp(NOON + 61 * MINUTE_MS);
  assert.deepEqual(await selectBars(database, "bars_1h"), [barRow(0, [400_000, 900_000, 300_000, 900_000], null)]);
});

eachDatabase(
  "if a roll-up stops between two statements, prices stay the same and the next run creates the missing bars",
  async (database) => {
    const keys = [1, 2, 3, 4, 5];
    for (const key of keys)
      await writeTicks(
        database,
        [
          [NOON + MINUTE_MS, key / 10, 100],
          [NOON + 2 * MINUTE_MS, 0.9, 150],
        ],
        undefined,
        key,
      );
    const now = NOON + 6 * MINUTE_MS;
    let statements = 0;
    const stopping: Database = {
      ...database,
      query: async (text, ...rest) => {
        if (text.includes("insert into bars_5m") && ++statements === 3) throw new Error("stopped");
        return database.query(text, ...rest);
      },
    };
    await assert.rejects(rollUp(stopping, now, 2), /stopped/);
    assert.equal((await selectBars(database, "bars_5m")).length, 2);
    const history = createHistoryStore(database);
    const pricesOf = async (key: number) =>
      (await history.readHistory(key, { period: "48h", maxPoints: 200, now })).points;
    const before = await Promise.all(keys.map(pricesOf));
    assert.equal((await rollUp(database, now, 2)).bars5m, 3);
    assert.deepEqual(
      await selectBars(database, "bars_5m"),
      keys.map((key) => barRow(0, [key * 100_000, 900_000, key * 100_000, 900_000], null)),
    );
    assert.deepEqual(await Promise.all(keys.map(pricesOf)), before);
  },
);

eachDatabase("markets without ticks have bars of their trades, whatever their keys are", async (database) => {
  await writeTicks(database, [[NOON + MINUTE_MS, 0.4]], undefined, 5);
  await createMarketStore(database).insertTrades([
    createTrade(1, "a", NOON + MINUTE_MS, 0.5, 30),
    createTrade(9, "b", NOON + MINUTE_MS, 0.5, 4),
  ]);
  assert.equal((await rollUp(database, NOON + 6 * MINUTE_MS)).bars5m, 3);
});

eachDatabase("a bar includes ticks and trades that are written a few minutes after its end", async (database) => {
  const history = createHistoryStore(database);
  await writeTicks(database, [[NOON + MINUTE_MS, 0.4]]);
  await history.rollUp(NOON + 7 * MINUTE_MS);
  await writeTicks(database, [[NOON + 2 * MINUTE_MS, 0.6]]);
  await createMarketStore(database).insertTrades([
    createTrade(1, "a", NOON + MINUTE_MS, 0.5, 30),
    createTrade(1, "b", NOON + MINUTE_MS, 0.25, 4),
  ]);
  await history.rollUp(NOON + 12 * MINUTE_MS);
  assert.deepEqual(await selectBars(database, "bars_5m"), [barRow(0, [400_000, 600_000, 400_000, 600_000], 16)]);
});

eachDatabase("a bar has no volume after a recording gap and if the total volume decreases", async (database) => {
  const history = createHistoryStore(database);
  await writeTicks(database, [[NOON + MINUTE_MS, 0.4, 100]]);
  await writeTicks(
    database,
    [
      [NOON + 31 * MINUTE_MS, 0.5, 900],
      [NOON + 36 * MINUTE_MS, 0.5, 950],
      [NOON + 41 * MINUTE_MS, 0.5, 10],
    ],
    NOON + 30 * MINUTE_MS,
  );
  await history.rollUp(NOON + 50 * MINUTE_MS);
  const volumes = (await selectBars(database, "bars_5m")).map((row) => row.volume_usd);
  assert.deepEqual(volumes, [null, null, 50, null]);
});

eachDatabase("history includes bars and ticks not rolled up yet, and repeats the price in gaps", async (database) => {
  const history = createHistoryStore(database);
  await writeTicks(database, [
    [NOON - 3 * HOUR_MS - MINUTE_MS, 0.2, 10],
    [NOON - 3 * HOUR_MS + MINUTE_MS, 0.3, 15],
    [NOON - MINUTE_MS, 0.4, 40],
    [NOON, 0.45, 41],
  ]);
  await history.rollUp(NOON + MINUTE_MS);
  await writeTicks(database, [[NOON + 8 * MINUTE_MS, 0.5, 50]]);
  const now = NOON + 9 * MINUTE_MS;
  const history48h = await history.readHistory(1, { period: "48h", maxPoints: 48, now });
  assert.equal(history48h.intervalSeconds, 3_600);
  const rows = history48h.points.map((point) => [
    (point.endAt - NOON) / HOUR_MS,
    point.yesPrice,
    point.bid,
    point.volumeUsd,
  ]);
  assert.deepEqual(rows, [
    [-3, 0.2, 0.19, null],
    [-2, 0.3, 0.29, 5],
    [-1, 0.3, null, null],
    [0, 0.45, 0.44, 26],
    [1, 0.5, 0.49, 9],
  ]);
  const fineHistory = await history.readHistory(1, { period: "48h", maxPoints: 200, now });
  await history.rollUp(NOON + 20 * MINUTE_MS);
  assert.deepEqual(await history.readHistory(1, { period: "48h", maxPoints: 200, now }), fineHistory);
});

test("the embedded database runs other statements between the intervals of a roll-up", async () => {
  const database = await embeddedDatabase();
  const history = createHistoryStore(database);
  await writeTicks(
    database,
    Array.from({ length: 25 }, (_, minute) => [NOON + minute * MINUTE_MS, 0.5]),
  );
  let otherStatements = 0;
  let isDone = false;
  const otherQueries = (async () => {
    for (; !isDone; otherStatements++) await database.query("select 1");
  })();
  await history.rollUp(NOON + 26 * MINUTE_MS);
  isDone = true;
  await otherQueries;
  // The roll-up runs two statements and then one transaction for each of six intervals.
  assert.ok(otherStatements >= 6 + 2, `${otherStatements} other statements`);
  assert.deepEqual(await history.rollUp(NOON + 29 * MINUTE_MS), { bars5m: 0, bars1h: 0 });
});

eachDatabase("the roll-up adds its pages to the BRIN index without autovacuum", async (database) => {
  await writeTicks(database, [[NOON, 0.5]]);
  await database.query(
    `insert into ticks (market_key, event_at, received_at, yes_price)
     select 1, at, at, 500000 from generate_series(1, 20000) as i, to_timestamp(${NOON / 1000} + i / 100.0) as at`,
  );
  const summarisePages = () =>
    database.query<{ pages: number }>(
      `select sum(brin_summarize_new_values(inhrelid::regclass))::int4 as pages from pg_inherits
       where inhparent = 'ticks_by_time'::regclass`,
    );
  await createHistoryStore(database).rollUp(NOON + 6 * MINUTE_MS);
  assert.deepEqual(await summarisePages(), [{ pages: 0 }]);
});

eachDatabase("the first bin has the last price before the period", async (database) => {
  const history = createHistoryStore(database);
  await writeTicks(database, [[NOON - 5 * DAY_MS, 0.2]]);
  await history.rollUp(NOON);
  const { points } = await history.readHistory(1, { period: "48h", maxPoints: 48, now: NOON });
  assert.equal(points.length, 48);
  assert.deepEqual(new Set(points.map((point) => point.yesPrice)), new Set([0.2]));
  assert.deepEqual((await history.readHistory(2, { period: "48h", maxPoints: 48, now: NOON })).points, []);
});

eachDatabase("fetched history fills gaps but does not replace bars made from ticks", async (database) => {
  const history = createHistoryStore(database);
  await writeTicks(database, [[NOON + 8 * MINUTE_MS, 0.5]]);
  await history.rollUp(NOON + 61 * MINUTE_MS);
  const range = { fromMs: NOON - HOUR_MS, toMs: NOON + HOUR_MS };
  const points = [0, 5, 10, 15].map((minutes) => createVenuePoint(NOON + minutes * MINUTE_MS, FIVE_MINUTES_MS, 0.1, 2));
  await history.saveVenueHistory(1, FIVE_MINUTES_MS, points, range);
  await history.saveVenueHistory(1, FIVE_MINUTES_MS, points, range);
  const venuePrices = [100_000, 100_000, 100_000, 100_000];
  assert.deepEqual(await selectBars(database, "bars_5m"), [
    barRow(-FIVE_MINUTES_MS, venuePrices, 2, "venue"),
    barRow(0, venuePrices, 2, "venue"),
    barRow(FIVE_MINUTES_MS, [500_000, 500_000, 500_000, 500_000], 2, "ticks"),
    barRow(2 * FIVE_MINUTES_MS, venuePrices, 2, "venue"),
  ]);
  assert.deepEqual(await selectBars(database, "bars_1h"), [
    barRow(-HOUR_MS, venuePrices, 2, "venue"),
    barRow(0, [100_000, 500_000, 100_000, 100_000], 6, "ticks"),
  ]);
});

eachDatabase(
  "bars made from ticks replace fetched bars, but keep a volume that only the venue reported",
  async (database) => {
    const history = createHistoryStore(database);
    const range = { fromMs: NOON, toMs: NOON + HOUR_MS };
    await history.saveVenueHistory(1, HOUR_MS, [createVenuePoint(NOON + HOUR_MS, HOUR_MS, 0.1, 80)], range);
    await history.saveVenueHistory(
      1,
      FIVE_MINUTES_MS,
      [createVenuePoint(NOON + FIVE_MINUTES_MS, FIVE_MINUTES_MS, 0.1, 7)],
      range,
    );
    await writeTicks(database, [[NOON + MINUTE_MS, 0.5]]);
    await history.rollUp(NOON + 61 * MINUTE_MS);
    assert.deepEqual(await selectBars(database, "bars_5m"), [barRow(0, [500_000, 500_000, 500_000, 500_000], 7)]);
    assert.deepEqual(await selectBars(database, "bars_1h"), [barRow(0, [500_000, 500_000, 500_000, 500_000], 80)]);
  },
);

eachDatabase(
  "trades without a tick do not hide the price that the venue reports for their interval",
  async (database) => {
    const history = createHistoryStore(database);
    const range = { fromMs: NOON, toMs: NOON + HOUR_MS };
    const fetched = [5, 10, 15].map((minute) =>
      createVenuePoint(NOON + minute * MINUTE_MS, FIVE_MINUTES_MS, minute / 100),
    );
    const trades = [1, 6, 11].map((minute) => createTrade(1, `t${minute}`, NOON + minute * MINUTE_MS, 0.5, 4));
    const readPrices = async () => {
      const { points } = await history.readRange(1, {
        fromMs: NOON,
        toMs: NOON + 15 * MINUTE_MS,
        intervalMs: FIVE_MINUTES_MS,
      });
      return points.map(({ yesPrice }) => yesPrice);
    };
    // The history is fetched before the roll-up, during it, and after it, as after downtime.
    await history.saveVenueHistory(1, FIVE_MINUTES_MS, fetched.slice(0, 2), range);
    await createMarketStore(database).insertTrades(trades);
    assert.deepEqual(await readPrices(), [0.05, 0.1, 0.1]);
    await writeTicks(database, [[NOON - MINUTE_MS, 0.9]]);
    await history.rollUp(NOON + HOUR_MS);
    await history.saveVenueHistory(1, FIVE_MINUTES_MS, fetched, range);
    assert.deepEqual(await readPrices(), [0.05, 0.1, 0.15]);
    await database.query("delete from meta");
    await history.rollUp(NOON + HOUR_MS);
    assert.deepEqual(await readPrices(), [0.05, 0.1, 0.15]);
    assert.deepEqual((await selectBars(database, "bars_5m")).slice(1), [
      barRow(0, [50_000, 50_000, 50_000, 50_000], null, "venue"),
      barRow(FIVE_MINUTES_MS, [100_000, 100_000, 100_000, 100_000], null, "venue"),
      barRow(2 * FIVE_MINUTES_MS, [150_000, 150_000, 150_000, 150_000], 2, "ticks"),
    ]);
  },
);

eachDatabase(
  "ignores fetched points that are outside the range, have an invalid time or have a price outside [0, 1]",
  async (database) => {
    const history = createHistoryStore(database);
    const points = [
      createVenuePoint(NOON + HOUR_MS, HOUR_MS, 0.1),
      createVenuePoint(NOON - 5 * HOUR_MS, HOUR_MS, 0.2),
      createVenuePoint(NOON, HOUR_MS, 1.7),
      createVenuePoint(Number.NaN, HOUR_MS, 0.3),
    ];
    await history.saveVenueHistory(1, HOUR_MS, points, { fromMs: NOON - HOUR_MS, toMs: NOON });
    assert.deepEqual(await selectBars(database, "bars_1h"), []);
  },
);

eachDatabase("adjoining fetched ranges are merged, and separate ranges stay separate", async (database) => {
  const history = createHistoryStore(database);
  const save = (from: number, to: number, intervalMs = HOUR_MS) =>
    history.saveVenueHistory(1, intervalMs, [], { fromMs: NOON + from * HOUR_MS, toMs: NOON + to * HOUR_MS });
  await save(0, 1);
  await save(5, 6);
  await save(1, 2);
  await save(0, 1, FIVE_MINUTES_MS);
  const range = (from: number, to: number, intervalMs = HOUR_MS) => ({
    intervalMs,
    fromMs: NOON + from * HOUR_MS,
    toMs: NOON + to * HOUR_MS,
  });
  assert.deepEqual(await history.coverage(1), [range(0, 1, FIVE_MINUTES_MS), range(0, 2), range(5, 6)]);
  await save(-1, 10);
  assert.deepEqual(await history.coverage(1), [range(0, 1, FIVE_MINUTES_MS), range(-1, 10)]);
  assert.deepEqual(await history.coverage(2), []);
});

eachDatabase(
  "the price a day ago is the last price known at that time; markets without such a price are omitted",
  async (database) => {
    const history = createHistoryStore(database);
    await writeTicks(database, [
      [NOON - DAY_MS - 5 * HOUR_MS, 0.1],
      [NOON - DAY_MS - 7 * MINUTE_MS, 0.2],
      [NOON - DAY_MS + 7 * MINUTE_MS, 0.3],
    ]);
    await history.rollUp(NOON);
    assert.deepEqual([...(await history.priceDayAgo(NOON))], [[1, 0.2]]);
    assert.deepEqual([...(await history.priceDayAgo(NOON - HOUR_MS))], [[1, 0.1]]);
  },
);

eachDatabase("retention deletes only expired tick partitions, trades and bars", async (database) => {
  const history = createHistoryStore(database);
  await writeTicks(
    database,
    [
      [NOON - 31 * DAY_MS, 0.1],
      [NOON - 29 * DAY_MS, 0.2],
    ],
    NOON - 32 * DAY_MS,
  );
  const trades = [createTrade(1, "old", NOON - 31 * DAY_MS - 1), createTrade(1, "new", NOON - DAY_MS)];
  await createMarketStore(database).insertTrades(trades);
  await history.rollUp(NOON);
  const days = { ...DEFAULT_RETENTION, fiveMinuteBarDays: 30 };
  const deletedCounts = await history.applyRetention(NOON, days);
  // Each of two writers created a partition for its tick and one for the next day.
  assert.equal(deletedCounts.trades, 1);
  assert.equal(deletedCounts.fiveMinuteBars, 1);
  assert.ok(deletedCounts.tickPartitions >= 1);
  const ticks = await database.query("select event_at from ticks");
  assert.deepEqual(ticks, [{ event_at: new Date(NOON - 29 * DAY_MS) }]);
  assert.equal((await selectBars(database, "bars_1h")).length, 3);
  const repeatedResult = await history.applyRetention(NOON, days);
  assert.deepEqual(repeatedResult, { tickPartitions: 0, trades: 0, fiveMinuteBars: 0, coverage: 0, settledMarkets: 0 });
});

eachDatabase("retention creates the tick partitions of today and the next two days", async (database) => {
  await createHistoryStore(database).applyRetention(NOON);
  const days = await database.query(
    "select child.relname as name from pg_inherits join pg_class child on child.oid = inhrelid where inhparent = 'ticks'::regclass order by 1",
  );
  assert.deepEqual(days, [{ name: "ticks_20261121" }, { name: "ticks_20261122" }, { name: "ticks_20261123" }]);
});

eachDatabase("if configured, retention deletes only expired settled markets, with their data", async (database) => {
  const history = createHistoryStore(database);
  const store = createMarketStore(database);
  const market = (id: string, status: "active" | "finalized", days: number) =>
    sampleMarket(id, { listing: { status }, quote: { receivedAt: NOON - days * DAY_MS } });
  const keys = await store.upsertMarkets([
    market("old", "finalized", 41),
    market("young", "finalized", 39),
    market("open", "active", 41),
  ]);
  for (const marketKey of keys) {
    if (marketKey === null) throw new Error("The sample market was not stored");
    await store.insertTrades([createTrade(marketKey, "t", NOON - DAY_MS)]);
    await store.recordStatusChange({ marketKey, from: "active", to: "closed", outcome: null, changedAt: NOON });
    const range = { fromMs: NOON - DAY_MS, toMs: NOON };
    await history.saveVenueHistory(marketKey, HOUR_MS, [createVenuePoint(NOON - HOUR_MS, HOUR_MS, 0.5)], range);
  }
  const countOf = async (table: string) => (await database.query(`select 1 from ${table}`)).length;
  const tables = ["markets", "trades", "bars_1h", "status_changes", "history_coverage"];
  await history.applyRetention(NOON);
  for (const table of tables) assert.equal(await countOf(table), 3, table);
  const deletedCounts = await history.applyRetention(NOON, { ...DEFAULT_RETENTION, settledMarketDays: 40 });
  assert.equal(deletedCounts.settledMarkets, 1);
  for (const table of tables) assert.equal(await countOf(table), 2, table);
  assert.deepEqual(await database.query("select market_id from markets order by 1"), [
    { market_id: "open" },
    { market_id: "young" },
  ]);
});

eachDatabase("retention deletes the coverage of five-minute bars together with the bars", async (database) => {
  const history = createHistoryStore(database);
  const range = { fromMs: NOON - 40 * DAY_MS, toMs: NOON - 31 * DAY_MS };
  for (const intervalMs of [FIVE_MINUTES_MS, HOUR_MS]) await history.saveVenueHistory(1, intervalMs, [], range);
  const deletedCounts = await history.applyRetention(NOON, { ...DEFAULT_RETENTION, fiveMinuteBarDays: 30 });
  assert.equal(deletedCounts.coverage, 1);
  assert.deepEqual(await history.coverage(1), [{ intervalMs: HOUR_MS, ...range }]);
});
