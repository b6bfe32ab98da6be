/**
 * Child process: the service without venues on the store in argv. On command it writes ticks through the production
 * tick writer or the bare driver. Prints its URL and a key, then one line per command.
 */
import { createInterface } from "node:readline";
import { PGlite } from "@electric-sql/pglite";
import pg from "pg";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import { buildApp } from "../../src/app/index.ts";
import { ensureDemoKeys } from "../../src/capabilities/accounts/keys/index.ts";
import { createTickWriter } from "../../src/storage/index.ts";
import { plainAppPorts } from "../../test/support/app-ports.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { liftLimits } from "../../test/support/venues/lifted-limits.ts";
import { ScriptedVenue } from "../../test/support/venues/scripted-venue.ts";
import { openStore } from "../harness/open-store.ts";
import { sampleTick } from "../harness/sample-ticks.ts";

const BATCH_ROWS = 2_000;
/** Capacity of the tick writer's queue; it drops further ticks. */
const BURST_ROWS = 20_000;

const [kind = "", folder = "", schema = ""] = process.argv.slice(2);
const database = await openStore(kind, kind === "embedded" ? folder : schema);
const keys = await ensureDemoKeys(database, folder, { random: systemRandom, clock: systemClock });
const app = await buildApp(
  plainAppPorts({
    database,
    log: quietLog,
    venues: [
      { id: "alpha", referenceOnly: false, playMoney: false, create: () => new ScriptedVenue("alpha", systemClock) },
    ],
  }),
);
await app.metering.start();
const serviceUrl = await app.http.listen({ host: "127.0.0.1", port: 0 });
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);

const fromMs = Date.now() - 3_600_000;
let nextTick = 0;
/** On PostgreSQL every tick carries the fence of a venue lease, which the store checks with every batch. */
const leaseClaim = kind === "postgres" ? { claim: { venue: "alpha", fence: 1 } } : {};
if (kind === "postgres") {
  await database.query(
    "insert into leases (name, holder, fence, expires_at) values ('venue:alpha', 'benchmark', 1, now() + interval '1 day')",
  );
}

/** Returns the rows per second written by the production writer in at least `durationMs`. */
async function writeTicks(durationMs: number): Promise<number> {
  const writer = createTickWriter({ database, clock: systemClock, log: quietLog });
  const startedAt = performance.now();
  const firstTick = nextTick;
  while (performance.now() - startedAt < durationMs) {
    for (let row = 0; row < BURST_ROWS; row++) writer.write({ ...sampleTick(nextTick++, fromMs), ...leaseClaim });
    await writer.flush();
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  await writer.close();
  if (writer.counters.dropped > 0 || writer.counters.written !== nextTick - firstTick)
    throw new Error("ticks were lost");
  return (nextTick - firstTick) / seconds;
}

const BARE_TABLE_COLUMNS =
  "market_key int4, event_at timestamptz, received_at timestamptz, bid int4, ask int4, last int4, yes_price int4, volume_total_usd float8, primary key (market_key, event_at)";
const INSERT_BARE_TICKS = `insert into raw_ticks select market_key, to_timestamp(event_ms / 1000), to_timestamp(received_ms / 1000), bid, ask, last, yes_price, volume
  from unnest($1::int4[], $2::float8[], $3::float8[], $4::int4[], $5::int4[], $6::int4[], $7::int4[], $8::float8[])
  as tick (market_key, event_ms, received_ms, bid, ask, last, yes_price, volume)`;

async function openBareDriver(): Promise<(text: string, parameters?: unknown[]) => Promise<unknown>> {
  if (kind === "embedded") {
    const engine = await PGlite.create({ dataDir: `${folder}/bare` });
    return (text, parameters = []) => engine.query(text, parameters);
  }
  const client = new pg.Client({
    connectionString: process.env.TEST_DATABASE_URL,
    options: `-c search_path=${schema}`,
  });
  await client.connect();
  return (text, parameters = []) => client.query(text, parameters);
}

let queryBare: Awaited<ReturnType<typeof openBareDriver>> | null = null;
let nextBareTick = 0;

/** Returns the rows per second written by the bare driver: one table, one statement per batch, no checks. */
async function writeTicksBare(durationMs: number): Promise<number> {
  if (queryBare === null) {
    queryBare = await openBareDriver();
    await queryBare(`create table raw_ticks (${BARE_TABLE_COLUMNS})`);
  }
  const startedAt = performance.now();
  const firstTick = nextBareTick;
  while (performance.now() - startedAt < durationMs) {
    const rows = Array.from({ length: BATCH_ROWS }, () => sampleTick(nextBareTick++, fromMs));
    const micros = (pick: (row: (typeof rows)[number]) => number | null) =>
      rows.map((row) => Math.round((pick(row) ?? 0) * 1e6));
    await queryBare(INSERT_BARE_TICKS, [
      rows.map((row) => row.marketKey),
      rows.map((row) => row.eventAt),
      rows.map((row) => row.receivedAt),
      micros((row) => row.bid),
      micros((row) => row.ask),
      micros((row) => row.lastPrice),
      micros((row) => row.yesPrice),
      rows.map((row) => row.volumeUsd),
    ]);
  }
  return (nextBareTick - firstTick) / ((performance.now() - startedAt) / 1_000);
}

await liftLimits(database);
print({ url: serviceUrl, key: keys.enterprise });
for await (const line of createInterface({ input: process.stdin })) {
  const { writer, durationMs }: { writer: "ours" | "bare"; durationMs: number } = JSON.parse(line);
  print({ perSecond: await (writer === "ours" ? writeTicks(durationMs) : writeTicksBare(durationMs)) });
}
process.exit(0);
