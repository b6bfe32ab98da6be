import assert from "node:assert/strict";
import { eachDatabase, onEmbedded } from "../../test/support/databases.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../lib/durations.ts";
import type { Database } from "../ports/database.ts";
import { createHistoryStore } from "./history-store.ts";
import { createMarketStore } from "./market-store.ts";
import { reclaimSpace } from "./store-size.ts";
import { createTickWriter } from "./tick-writer.ts";

const START = Date.UTC(2026, 10, 21, 12);
const MIB = 2 ** 20;
/** A new database has 8 MiB; 128 MiB are reserved for files outside of it. */
const FOLDER_BYTES_MAX = (128 + 16) * MIB;
const TICKS_PER_HOUR = 4_000;
const TRADES_PER_HOUR = 3_000;

/** Writes one simulated hour with the production writers and runs the background jobs of that hour. */
async function simulateHour(database: Database, startMs: number, folderBytesMax: number | null): Promise<void> {
  const clock = new FakeClock(startMs);
  const history = createHistoryStore(database);
  const ticks = createTickWriter({ database, clock, log: quietLog, partitionMs: HOUR_MS });
  for (let index = 0; index < TICKS_PER_HOUR; index++) {
    const at = startMs + Math.floor((index * HOUR_MS) / TICKS_PER_HOUR);
    const yesPrice = 0.1 + (index % 800) / 1_000;
    const quote = { bid: yesPrice, ask: yesPrice + 0.01, lastPrice: yesPrice, yesPrice, volumeUsd: index };
    ticks.write({ marketKey: 1 + (index % 50), eventAt: at, receivedAt: at, ...quote });
  }
  await ticks.close();
  const trades = Array.from({ length: TRADES_PER_HOUR }, (_, index) => ({
    marketKey: 1 + (index % 50),
    trade: {
      tradeId: `trade-${startMs}-${index}-${"x".repeat(10)}`,
      executedAt: startMs + index,
      yesPrice: 0.5,
      size: 1,
      takerSide: null,
    },
  }));
  await createMarketStore(database).insertTrades(trades);
  const endMs = startMs + HOUR_MS;
  await history.rollUp(endMs);
  await reclaimSpace(database, endMs, folderBytesMax);
}

async function readBytes(database: Database): Promise<number> {
  const [row] = await database.query<{ bytes: number }>("select pg_database_size(current_database())::float8 as bytes");
  return row?.bytes ?? Number.NaN;
}

const countRows = async (database: Database, table: string) => (await database.query(`select 1 from ${table}`)).length;

onEmbedded("a limited store stops growing, keeps the newest data and reuses deleted space", async (database) => {
  const sizes: number[] = [];
  for (let hour = 0; hour < 10; hour++) {
    await simulateHour(database, START + hour * HOUR_MS, FOLDER_BYTES_MAX);
    sizes.push(await readBytes(database));
  }
  assert.ok(Math.max(...sizes) < FOLDER_BYTES_MAX - 125 * MIB, `${sizes.map((bytes) => Math.round(bytes / MIB))} MiB`);
  const [newest] = await database.query<{ at: Date }>("select max(executed_at) as at from trades");
  assert.ok((newest?.at.getTime() ?? 0) > START + 9 * HOUR_MS);
  const [ticks] = await database.query<{ from: Date; count: number }>(
    'select min(event_at) as "from", count(*) as count from ticks',
  );
  // The last hour is always kept, and the oldest hours are deleted.
  assert.ok(ticks !== undefined && ticks.count >= TICKS_PER_HOUR, `${ticks?.count} ticks`);
  assert.ok(ticks.from.getTime() > START + HOUR_MS, ticks.from.toISOString());
});

onEmbedded("an unlimited store keeps all data that is within its retention", async (database) => {
  for (let hour = 0; hour < 2; hour++) await simulateHour(database, START + hour * HOUR_MS, null);
  assert.equal(await countRows(database, "ticks"), 2 * TICKS_PER_HOUR);
  assert.equal(await countRows(database, "trades"), 2 * TRADES_PER_HOUR);
});

onEmbedded("the limit of rows also applies after a crash that lost the engine's statistics", async (database) => {
  await simulateHour(database, START, null);
  await simulateHour(database, START + HOUR_MS, null);
  await database.query("select pg_stat_reset()");
  await reclaimSpace(database, START + 3 * HOUR_MS, (128 + 3) * MIB);
  assert.ok((await countRows(database, "trades")) <= (3 * MIB * 0.35) / 340);
});

onEmbedded("vacuum frees the space of updated rows for new ones", async (database) => {
  await database.query("create table updated (key int4 primary key, text text)");
  await database.query("insert into updated select key, repeat('x', 500) from generate_series(1, 5000) as key");
  const readTableBytes = async () => {
    const [row] = await database.query<{ bytes: number }>("select pg_relation_size('updated')::float8 as bytes");
    return row?.bytes ?? Number.NaN;
  };
  const bytesBefore = await readTableBytes();
  for (let round = 0; round < 6; round++) {
    await database.query("update updated set text = text || 'y'");
    await reclaimSpace(database, START, null);
  }
  assert.ok((await readTableBytes()) < 2.5 * bytesBefore);
});

onEmbedded("tables that only grow are analysed, and only after enough changes", async (database) => {
  await database.query("create table growing (key int4 primary key)");
  const readAnalysedRows = async () => {
    const [row] = await database.query<{ count: number }>(
      "select reltuples::int4 as count from pg_class where oid = 'growing'::regclass",
    );
    return row?.count;
  };
  const insert = (from: number, to: number) =>
    database.query("insert into growing select generate_series($1::int4, $2::int4)", [from, to]);
  await insert(1, 50_000);
  await reclaimSpace(database, START, null);
  assert.equal(await readAnalysedRows(), 50_000);
  await insert(50_001, 55_000);
  await reclaimSpace(database, START, null);
  assert.equal(await readAnalysedRows(), 50_000);
  await insert(55_001, 60_000);
  await reclaimSpace(database, START, null);
  assert.equal(await readAnalysedRows(), 60_000);
});

eachDatabase("partitions of days and of hours can be in one store", async (database) => {
  const write = async (at: number, partitionMs: number) => {
    const writer = createTickWriter({ database, clock: new FakeClock(at), log: quietLog, partitionMs });
    const quote = { bid: 0.4, ask: 0.5, lastPrice: 0.4, yesPrice: 0.4, volumeUsd: null };
    writer.write({ marketKey: 1, eventAt: at, receivedAt: at, ...quote });
    await writer.close();
  };
  await write(START, DAY_MS);
  await write(START + MINUTE_MS, HOUR_MS);
  await write(START + 3 * DAY_MS, HOUR_MS);
  await write(START + 3 * DAY_MS + 2 * HOUR_MS, DAY_MS);
  assert.equal(await countRows(database, "ticks"), 4);
  const deleted = await createHistoryStore(database).applyRetention(START + 6 * DAY_MS, {
    tickDays: 1,
    tradeDays: 30,
    fiveMinuteBarDays: 365,
    settledMarketDays: null,
  });
  assert.ok(deleted.tickPartitions > 24);
  assert.equal(await countRows(database, "ticks"), 0);
});
