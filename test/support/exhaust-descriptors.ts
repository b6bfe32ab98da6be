import assert from "node:assert/strict";
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { createInProcessBus } from "../../src/adapters/bus/in-process-bus.ts";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import { createHealthReport, createStoreProbe, healthRoutes } from "../../src/capabilities/operations/health/index.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { quietLog } from "./quiet-log.ts";
import { eventually } from "./service-process.ts";

/** What the child process reports as one line of JSON. */
export interface ExhaustionReport {
  /** Batches that the store acknowledged, in this order. */
  readonly acknowledgedBatches: number[];
  /** Responses of readiness and health: before the exhaustion, during it, and after it. */
  readonly statuses: { readonly readiness: number; readonly store: string; readonly detail: string | null }[];
  /** Rows that a read returned while writes failed. */
  readonly readCount: number;
}

/** Enough rows for the engine to create a new file, the free space map of the batch's partition. */
export const BATCH_ROWS = 5_000;
const BATCHES_MAX = 5;
const CHANGE_MS_MAX = 20_000;

const descriptors: number[] = [];
function openAll(): void {
  try {
    for (;;) descriptors.push(openSync(devNull, "r"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EMFILE") throw error;
  }
}
function closeAll(): void {
  for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
}

/**
 * Child process: uses up its file descriptors while it writes to the existing store in the directory in argv, frees them
 * when readiness reports the failure, and writes again when readiness reports the recovery.
 */
async function main(dataDir: string): Promise<ExhaustionReport> {
  const database = await openEmbeddedDatabase({ dataDir, log: quietLog });
  const http = await createHttpServer({
    clock: systemClock,
    log: quietLog,
    random: systemRandom,
    data: "sandbox",
    authentication: { authenticate: () => null },
  });
  const probe = createStoreProbe({ database, clock: systemClock });
  const report = createHealthReport({
    version: "test",
    data: "sandbox",
    clock: systemClock,
    bus: createInProcessBus(quietLog),
    probe,
    ingest: { health: () => ({}), thread: null },
    failingJobs: () => [],
    matching: null,
  });
  healthRoutes(http, { report, isStoreUp: () => probe.isUp });
  http.lifecycle.markReady();
  probe.start();
  const readStatus = async () => {
    const readiness = (await http.inject({ url: "/readyz" })).statusCode;
    const { status, detail = null } = (await http.inject({ url: "/v1/health" })).json().checks.store;
    return { readiness, store: status, detail };
  };
  const waitForReadiness = (readiness: number) =>
    eventually(
      async () => {
        const status = await readStatus();
        return status.readiness === readiness ? status : null;
      },
      `readiness ${readiness}`,
      CHANGE_MS_MAX,
    );

  await database.query("create table written (number int4) partition by range (number)");
  for (let batch = 0; batch < BATCHES_MAX; batch++) {
    const range = `from (${batch * BATCH_ROWS}) to (${(batch + 1) * BATCH_ROWS})`;
    await database.query(`create table written_${batch} partition of written for values ${range}`);
  }
  const acknowledgedBatches: number[] = [];
  const writeNextBatch = async () => {
    const batch = acknowledgedBatches.length;
    await database.query("insert into written select generate_series($1::int4, $2::int4)", [
      batch * BATCH_ROWS,
      (batch + 1) * BATCH_ROWS - 1,
    ]);
    acknowledgedBatches.push(batch);
  };
  const writeUntilFailure = async () => {
    // The engine may close another of its files to create one, so a single write may succeed.
    for (;;) {
      openAll();
      await writeNextBatch();
    }
  };

  await writeNextBatch();
  const before = await waitForReadiness(200);
  await assert.rejects(writeUntilFailure(), { code: "store_unavailable" });
  const during = await waitForReadiness(503);
  const [row] = await database.query<{ count: number }>("select count(*) as count from written");
  closeAll();
  const after = await waitForReadiness(200);
  await writeNextBatch();
  probe.stop();
  await http.close();
  await database.close();
  return { acknowledgedBatches, statuses: [before, during, after], readCount: row?.count ?? 0 };
}

const [directory] = process.argv.slice(2);
if (directory !== undefined) process.stdout.write(`${JSON.stringify(await main(directory))}\n`);
