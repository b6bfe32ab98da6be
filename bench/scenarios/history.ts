import pg from "pg";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import type { Database } from "../../src/ports/database.ts";
import { readHistory } from "../../src/storage/read-history.ts";
import { rollUp } from "../../src/storage/roll-up.ts";
import { createTickPartitions } from "../../src/storage/tick-partitions.ts";
import { openOwnSchema, testDatabaseUrl } from "../harness/own-database.ts";
import { interleave } from "../harness/rounds.ts";
import { benchRow, type Scenario } from "../harness/scenario.ts";
import { quantile } from "../harness/statistics.ts";

const TICK_COUNT = 2_000_000;
const TICK_COUNT_QUICK = 100_000;
const MARKET_COUNT = 2_000;
const DAYS = 7;
const DAY_MS = 86_400_000;
const CHUNK_ROWS = 100_000;
const ROUNDS = 9;
const READS = 200;
const P99_MS_MAX = 20;
/** The busiest market. Keys are drawn with probability proportional to 1 / key, so it has about a tenth of all ticks. */
const BUSY_MARKET = 1;

const FILL = `
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
    "Reads 7 days of the busiest market in 200 points on PostgreSQL, from ticks rolled up by the production job,\nagainst one bare statement for the same bars (full run: --ticks 20000000).",
  async run(options) {
    testDatabaseUrl();
    const schema = await openOwnSchema("history");
    const bare = new pg.Client({ connectionString: schema.url, options: `-c search_path=${schema.schema}` });
    try {
      await migrateDatabase(schema.database);
      await bare.connect();
      const now = Math.floor(Date.now() / DAY_MS) * DAY_MS;
      const fromMs = now - DAYS * DAY_MS;
      const requested = options.ticks ?? (options.quick ? TICK_COUNT_QUICK : TICK_COUNT);
      const insertedPerSecond = await fill(schema.database, { requested, fromMs, print: options.print });
      const startedAt = performance.now();
      const rolledUp = await rollUp(schema.database, now + 60_000);
      const rollUpSeconds = (performance.now() - startedAt) / 1_000;
      options.print(`rolled up into ${rolledUp.bars5m} bars of 5 minutes and ${rolledUp.bars1h} of an hour`);
      const [{ ticks, busy } = { ticks: 0, busy: 0 }] = await schema.database.query<{ ticks: number; busy: number }>(
        `select count(*) as ticks, count(*) filter (where market_key = ${BUSY_MARKET}) as busy from ticks`,
      );
      await schema.database.query("analyze");
      const rounds = options.rounds ?? (options.quick ? 3 : ROUNDS);
      const reads = options.quick ? 50 : READS;
      let points = 0;
      let bars = 0;
      const samples = await interleave(rounds, {
        ours: () =>
          p99Ms(reads, async () => {
            const history = await readHistory(schema.database, BUSY_MARKET, { period: "7d", maxPoints: 200, now });
            points = history.points.length;
          }),
        bare: () =>
          p99Ms(reads, async () => {
            const { rows } = await bare.query({
              name: "bars",
              text: `select start_at, yes_close, bid_close, ask_close, volume_usd from bars_1h
                     where market_key = $1 and start_at >= to_timestamp($2::float8 / 1000) order by start_at`,
              values: [BUSY_MARKET, fromMs],
            });
            bars = rows.length;
          }),
      });
      if (points === 0 || bars === 0) throw new Error(`${points} points and ${bars} bars were read`);
      return [
        benchRow({
          figure: "7 days of the busiest market, p99",
          unit: "ms",
          samples: samples.ours,
          yardstick: { name: "one bare statement", samples: samples.bare },
          target: { of: "median", bound: "at_most", value: P99_MS_MAX },
          note: `${points} points from ${busy} ticks of this market (${ticks} in total); ${reads} reads per round`,
        }),
        benchRow({
          figure: "roll-up",
          unit: "ticks/s",
          samples: [ticks / rollUpSeconds],
          note: `${rolledUp.bars5m} bars of 5 minutes, ${rolledUp.bars1h} of an hour, ${Math.round(rollUpSeconds)} s`,
        }),
        benchRow({ figure: "inserting on the server", unit: "ticks/s", samples: [insertedPerSecond] }),
      ];
    } finally {
      await bare.end();
      await schema.drop();
    }
  },
};

/** Generates ticks on the server and returns rows per second. */
async function fill(
  database: Database,
  options: { requested: number; fromMs: number; print: (line: string) => void },
): Promise<number> {
  const { requested, fromMs, print } = options;
  const days = Array.from({ length: DAYS + 1 }, (_, day) => ({ eventAt: fromMs + day * DAY_MS }));
  await createTickPartitions(database, systemClock).ensure(days);
  await database.query("insert into meta (key, value) values ('ticks_observing_since', $1)", [String(fromMs)]);
  const startedAt = performance.now();
  for (let first = 1; first <= requested; first += CHUNK_ROWS) {
    const last = Math.min(requested, first + CHUNK_ROWS - 1);
    await database.query(FILL, [MARKET_COUNT, fromMs, (DAYS * DAY_MS) / 1_000 - 1, first, last]);
    if (last % (CHUNK_ROWS * 20) === 0) print(`${last} ticks`);
  }
  return requested / ((performance.now() - startedAt) / 1_000);
}

async function p99Ms(reads: number, read: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < reads; index++) {
    const startedAt = performance.now();
    await read();
    times.push(performance.now() - startedAt);
  }
  return quantile(
    times.toSorted((a, b) => a - b),
    0.99,
  );
}
