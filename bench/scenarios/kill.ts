import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import type { Database } from "../../src/ports/database.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { eventually, temporaryFolder } from "../../test/support/service-process.ts";
import { hasTestDatabase, reserveSchema } from "../harness/own-database.ts";
import {
  type BenchOptions,
  type BenchRow,
  createBenchRow,
  GuaranteeError,
  type Scenario,
} from "../harness/scenario.ts";

const PROGRAM_FILE = fileURLToPath(new URL("../programs/write-until-killed.ts", import.meta.url));
const KILL_COUNT = 20;
/** Number of acknowledged batches before a kill. It varies, so that kills interrupt different steps of a write. */
const batchesBefore = (kill: number) => 3 + ((kill * 7) % 11);

export const killScenario: Scenario = {
  name: "kill",
  describe:
    "kill -9 during ingest, 20 times on each store: the store reopens, and no acknowledged row is lost or duplicated.",
  async run(options) {
    const folder = await temporaryFolder();
    try {
      const rows = await killRepeatedly("embedded", folder.path, options, () =>
        openEmbeddedDatabase({ dataDir: folder.path, log: quietLog }),
      );
      if (!hasTestDatabase()) {
        options.print("PostgreSQL is skipped: TEST_DATABASE_URL is not set");
        return rows;
      }
      const target = reserveSchema("kill");
      try {
        const postgresRows = await killRepeatedly("postgres", target.schema, options, () =>
          openPostgresDatabase({ url: target.url, schema: target.schema, log: quietLog }),
        );
        return [...rows, ...postgresRows];
      } finally {
        await target.drop();
      }
    } finally {
      await folder.release();
    }
  },
};

async function killRepeatedly(
  kind: "embedded" | "postgres",
  location: string,
  options: BenchOptions,
  open: () => Promise<Database>,
): Promise<BenchRow[]> {
  const outputFolder = await temporaryFolder();
  const fromMs = Date.now() - 3_600_000;
  const kills = options.rounds ?? (options.quick ? 3 : KILL_COUNT);
  const openDurationsMs: number[] = [];
  let acknowledgedRows = 0;
  try {
    for (let kill = 0; kill < kills; kill++) {
      acknowledgedRows = await writeAndKill({
        args: [kind, location, String(fromMs), String(acknowledgedRows)],
        file: join(outputFolder.path, `acknowledged-${kill}`),
        batches: batchesBefore(kill),
      });
      const startedAt = performance.now();
      const database = await open();
      try {
        await migrateDatabase(database);
        openDurationsMs.push(performance.now() - startedAt);
        await assertStoredOnce(database, acknowledgedRows);
      } finally {
        await database.close();
      }
      options.print(`${kind}: kill ${kill + 1} of ${kills}, ${acknowledgedRows} acknowledged rows exist exactly once`);
    }
  } finally {
    await outputFolder.release();
  }
  return [
    createBenchRow({
      figure: `${kind}, lost or duplicated rows`,
      unit: "rows",
      samples: [0],
      target: { of: "worst", bound: "at_most", value: 0 },
      note: `${kills} kills, ${acknowledgedRows} ticks and as many trades acknowledged`,
    }),
    createBenchRow({ figure: `${kind}, reopening after a kill`, unit: "ms", samples: openDurationsMs }),
  ];
}

/** Runs the program from the last acknowledged row number, kills it, and returns the new last acknowledged row number. */
async function writeAndKill(run: { args: readonly string[]; file: string; batches: number }): Promise<number> {
  const descriptor = openSync(run.file, "a");
  const child = spawn(process.execPath, [PROGRAM_FILE, ...run.args], { stdio: ["ignore", descriptor, "inherit"] });
  closeSync(descriptor);
  const exit = once(child, "exit");
  const readLines = async () => (await readFile(run.file, "utf8")).split("\n").slice(0, -1);
  try {
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`the program exited with ${child.exitCode}`);
      return (await readLines()).length >= run.batches ? true : null;
    }, "acknowledged batches");
  } finally {
    child.kill("SIGKILL");
    await exit;
  }
  return Number((await readLines()).at(-1));
}

/** Asserts that for every number below `acknowledged` exactly one tick has this volume and one trade has this id. */
async function assertStoredOnce(database: Database, acknowledged: number): Promise<void> {
  const [counts] = await database.query<Record<"ticks" | "tick_numbers" | "trades" | "trade_numbers", number>>(
    `select
       (select count(*) from ticks where volume_total_usd < $1::float8) as ticks,
       (select count(distinct volume_total_usd) from ticks where volume_total_usd < $1::float8) as tick_numbers,
       (select count(*) from trades where trade_id::int8 < $1::int8) as trades,
       (select count(distinct trade_id) from trades where trade_id::int8 < $1::int8) as trade_numbers`,
    [acknowledged],
  );
  for (const [name, count] of Object.entries(counts ?? { ticks: 0 })) {
    if (count !== acknowledged)
      throw new GuaranteeError(`${acknowledged} rows were acknowledged, but the store counts ${count} ${name}`);
  }
}
