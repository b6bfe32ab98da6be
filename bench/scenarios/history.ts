import pg from "pg";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import type { Database } from "../../src/ports/database.ts";
import { readHistory } from "../../src/storage/read-history.ts";
import { rollUp } from "../../src/storage/roll-up.ts";
import { createTickPartitions } from "../../src/storage/tick-partitions.ts";
import { openNewSchema, readTestDatabaseUrl } from "../harness/own-database.ts";
import { interleave } from "../harness/rounds.ts";
import { createBenchRow, type Scenario } from "../harness/scenario.ts";
import { quantile } from "../harness/statistics.ts";

const TICK_COUNT = 2_000_000;
const TICK_COUNT_QUICK = 100_000;
const MARKET_COUNT = 2_000;
const DAY_COUNT = 7;
const CHUNK_ROWS = 100_000;
const ROUNDS = 9;
const READS_PER_ROUND = 200;
const P99_MS_MAX = 20;
/** Key of the busiest market. Keys are drawn with probability proportional to 1 / key, so it has about 10% of all ticks. */
const BUSIEST_MARKET_KEY = 1;

const INSERT_TICKS = `
insert into ticks (market_key, event_at, received_at, bid, ask, last, yes_price, volume_total_usd)
select market_key, at, at, price - 5000, price + 5000, price, price, volume
from (
  select floor(exp(random() * ln($1::float8)))::int4 as market_key,
    date_trunc('milliseconds', to_timestamp($2::float8 / 1000) + random() * make_interval(secs => $3::float8)) as at,
    (500000 + 300000 * sin(number / 5000.0) + 20000 * random())::int4 as price, number * 3.5 as volume
  from generate_series($4::int8, $5::int8) as number
) as drawn
on conflict (market_key, event_at) do nothing`;

export const historyScenario: Scenario = {
  name: "history",
  describe:
    "Reads 7 days of the busiest market in 200 points on PostgreSQL, from ticks rolled up by the production job,\ncompared with one bare statement for the same bars (full run: --ticks 20000000).",
  async run(options) {
    readTestDatabaseUrl();
    const schema = await openNewSchema("history");
    const bareClient = new pg.Client({ connectionString: schema.url, options: `-c search_path=${schema.schema}` });
    try {
      await migrateDatabase(schema.database);
      await bareClient.connect();
      const now = Math.floor(Date.now() / DAY_MS) * DAY_MS;
      const fromMs = now - DAY_COUNT * DAY_MS;
      const tickCount = options.ticks ?? (options.quick ? TICK_COUNT_QUICK : TICK_COUNT);
      const insertedPerSecond = await insertTicks(schema.database, { tickCount, fromMs, print: options.print });
      const startedAt = performance.now();
      const rolledUp = await rollUp(schema.database, now + 60_000);
      const rollUpSeconds = (performance.now() - startedAt) / 1_000;
      options.print(`rolled up into ${rolledUp.bars5m} bars of 5 minutes and ${rolledUp.bars1h} of an hour`);
      const [{ ticks, busiest } = { ticks: 0, busiest: 0 }] = await schema.database.query<{
        ticks: number;
        busiest: number;
      }>(`select count(*) as ticks, count(*) filter (where market_key = ${BUSIEST_MARKET_KEY}) as busiest from ticks`);
      await schema.database.query("analyze");
      const rounds = options.rounds ?? (options.quick ? 3 : ROUNDS);
      const reads = options.quick ? 50 : READS_PER_ROUND;
      let pointCount = 0;
      let barCount = 0;
      const samples = await interleave(rounds, {
        ours: () =>
          measureP99Ms(reads, async () => {
            const history = await readHistory(schema.database, BUSIEST_MARKET_KEY, {
              period: "7d",
              maxPoints: 200,
              now,
            });
            pointCount = history.points.length;
          }),
        bare: () =>
          measureP99Ms(reads, async () => {
            const { rows } = await bareClient.query({
              name: "bars",
              text: `select start_at, yes_close, bid_close, ask_close, volume_usd from bars_1h
                     where market_key = $1 and start_at >= to_timestamp($2::float8 / 1000) order by start_at`,
              values: [BUSIEST_MARKET_KEY, fromMs],
            });
            barCount = rows.length;
          }),
      });
      if (pointCount === 0 || barCount === 0) throw new Error(`${pointCount} points and ${barCount} bars were read`);
      return [
        createBenchRow({
          figure: "7 days of the busiest market, p99",
          unit: "ms",
          samples: samples.ours,
          baseline: { name: "one bare statement", samples: samples.bare },
          target: { of: "median", bound: "at_most", value: P99_MS_MAX },
          note: `${pointCount} points from ${busiest} ticks of this market (${ticks} in total); ${reads} reads per round`,
        }),
        createBenchRow({
          figure: "roll-up",
          unit: "ticks/s",
          samples: [ticks / rollUpSeconds],
          note: `${rolledUp.bars5m} bars of 5 minutes, ${rolledUp.bars1h} of an hour, ${Math.round(rollUpSeconds)} s`,
        }),
        createBenchRow({ figure: "insertion on the database server", unit: "ticks/s", samples: [insertedPerSecond] }),
      ];
    } finally {
      await bareClient.end();
      await schema.drop();
    }
  },
};

/** Generates ticks on the database server and returns the ticks per second. */
async function insertTicks(
  database: Database,
  options: { tickCount: number; fromMs: number; print: (line: string) => void },
): Promise<number> {
  const { tickCount, fromMs, print } = options;
  const days = Array.from({ length: DAY_COUNT + 1 }, (_, day) => ({ eventAt: fromMs + day * DAY_MS }));
  await createTickPartitions(database, systemClock).ensure(days);
  await database.query("insert into meta (key, value) values ('ticks_observing_since', $1)", [String(fromMs)]);
  const startedAt = performance.now();
  for (let first = 1; first <= tickCount; first += CHUNK_ROWS) {
    const last = Math.min(tickCount, first + CHUNK_ROWS - 1);
    await database.query(INSERT_TICKS, [MARKET_COUNT, fromMs, (DAY_COUNT * DAY_MS) / 1_000 - 1, first, last]);
    if (last % (CHUNK_ROWS * 20) === 0) print(`${last} ticks`);
  }
  return tickCount / ((performance.now() - startedAt) / 1_000);
}

async function measureP99Ms(reads: number, read: () => Promise<void>): Promise<number> {
  const durationsMs: number[] = [];
  for (let index = 0; index < reads; index++) {
    const startedAt = performance.now();
    await read();
    durationsMs.push(performance.now() - startedAt);
  }
  return quantile(durationsMs, 0.99);
}
