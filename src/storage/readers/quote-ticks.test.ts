import assert from "node:assert/strict";
import { eachDatabase } from "../../../test/support/databases.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { sampleTick } from "../../../test/support/storage-samples.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/durations.ts";
import type { Database } from "../../ports/database.ts";
import { createTickWriter } from "../tick-writer.ts";
import { readQuoteTicks } from "./quote-ticks.ts";

const NOW = Date.UTC(2026, 10, 21, 12);
const PERIOD = { fromMs: NOW - 48 * HOUR_MS, toMs: NOW };

type Write = readonly [agoMs: number, bid: number | null, ask: number | null];

/** Writes ticks of a market, each `agoMs` before `NOW`. */
async function writeTicks(database: Database, marketKey: number, ticks: readonly Write[]) {
  const clock = new FakeClock(NOW - 20 * DAY_MS);
  const writer = createTickWriter({ database, clock, log: quietLog });
  for (const [agoMs, bid, ask] of ticks) {
    clock.jumpWallClock(NOW - agoMs - clock.now());
    writer.write(sampleTick(marketKey, NOW - agoMs, { bid, ask }));
  }
  await writer.close();
}

eachDatabase("returns the quotes of the period and the one that holds at its start, oldest first", async (database) => {
  await writeTicks(database, 1, [
    [60 * HOUR_MS, 0.1, 0.2],
    [50 * HOUR_MS, 0.2, 0.3],
    [30 * HOUR_MS, 0.3, null],
    [0, 0.4, 0.5],
    [-MINUTE_MS, 0.5, 0.6],
  ]);
  await writeTicks(database, 2, [[HOUR_MS, 0.7, 0.8]]);
  assert.deepEqual(await readQuoteTicks(database, 1, PERIOD), {
    ticks: [
      { at: NOW - 50 * HOUR_MS, bid: 0.2, ask: 0.3 },
      { at: NOW - 30 * HOUR_MS, bid: 0.3, ask: null },
      { at: NOW, bid: 0.4, ask: 0.5 },
    ],
    tickCount: 2,
  });
});

eachDatabase(
  "a quote at the start of the period is read but not counted, and a quote a week or more older is not read",
  async (database) => {
    await writeTicks(database, 1, [[48 * HOUR_MS, 0.2, 0.3]]);
    await writeTicks(database, 2, [[48 * HOUR_MS + 7 * DAY_MS, 0.2, 0.3]]);
    const held = await readQuoteTicks(database, 1, PERIOD);
    assert.deepEqual([held.ticks.length, held.tickCount], [1, 0]);
    assert.deepEqual(await readQuoteTicks(database, 2, PERIOD), { ticks: [], tickCount: 0 });
    assert.deepEqual(await readQuoteTicks(database, 3, PERIOD), { ticks: [], tickCount: 0 });
  },
);

eachDatabase("returns the last quote of each minute, and the number of all quotes", async (database) => {
  const seconds = Array.from({ length: 150 }, (_, second): Write => [HOUR_MS - second * 1_000, second / 1_000, 0.9]);
  await writeTicks(database, 1, seconds);
  const { ticks, tickCount } = await readQuoteTicks(database, 1, PERIOD);
  assert.equal(tickCount, 150);
  assert.deepEqual(
    ticks.map(({ at, bid }) => [at - NOW + HOUR_MS, bid]),
    [
      [59_000, 0.059],
      [119_000, 0.119],
      [149_000, 0.149],
    ],
  );
});
