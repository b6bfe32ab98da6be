import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { Database } from "../../src/ports/database.ts";
import { createTickWriter } from "../../src/storage/index.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { temporaryFolder } from "../../test/support/service-process.ts";
import { sampleTick } from "../harness/sample-ticks.ts";
import { createBenchRow, GuaranteeError, type Scenario, SkippedError } from "../harness/scenario.ts";

const runCommand = promisify(execFile);
const DISK_MIB = 320;
/** Size of a file that is deleted to free space on the full disk. */
const BALLAST_MIB = 80;
const MIB = 2 ** 20;
const BATCH_ROWS = 2_000;
const READ_COUNT_MIN = 30;
const BATCHES_MAX = 2_000;
const BATCH_COUNT_AFTER_RECOVERY = 5;
const FULL_MS_MIN = 1_000;

export const diskFullScenario: Scenario = {
  name: "disk-full",
  describe: "The embedded store on a full tmpfs: reads continue, writes are rejected, no data is lost (needs root).",
  async run(options) {
    const folder = await temporaryFolder();
    if (process.getuid?.() !== 0) throw new SkippedError("mounting a small tmpfs needs root");
    await runCommand("mount", ["-t", "tmpfs", "-o", `size=${DISK_MIB}m`, "tmpfs", folder.path]).catch(
      (error: unknown) => {
        throw new SkippedError(`a tmpfs cannot be mounted here (${String(error)})`);
      },
    );
    const ballastFile = join(folder.path, "ballast");
    try {
      await writeFile(ballastFile, Buffer.alloc(BALLAST_MIB * MIB, 1));
      const dataDir = join(folder.path, "data");
      let database = await openEmbeddedDatabase({ dataDir, log: quietLog });
      await migrateDatabase(database);
      const batchWriter = createBatchWriter(database);
      while (await batchWriter.writeBatch()) {
        if (batchWriter.acknowledgedTicks / BATCH_ROWS <= BATCHES_MAX) continue;
        if ((await countTicks(database)) < batchWriter.acknowledgedTicks)
          throw new GuaranteeError("ticks were acknowledged that are not stored");
        throw new Error("the disk did not become full");
      }
      options.print(`the disk is full after ${batchWriter.acknowledgedTicks} acknowledged ticks`);

      const latencies: number[] = [];
      let rejectedCount = 0;
      const startedAt = performance.now();
      while (performance.now() - startedAt < FULL_MS_MIN || latencies.length < READ_COUNT_MIN) {
        const sentAt = performance.now();
        const count = await countTicks(database);
        latencies.push(performance.now() - sentAt);
        if (count < batchWriter.acknowledgedTicks)
          throw new GuaranteeError(`${count} of ${batchWriter.acknowledgedTicks} ticks can be read`);
        if (await batchWriter.writeBatch()) throw new GuaranteeError("a full disk accepted a batch");
        rejectedCount += 1;
      }
      await rm(ballastFile);
      let batchCount = 0;
      while (batchCount < BATCH_COUNT_AFTER_RECOVERY) if (await batchWriter.writeBatch()) batchCount += 1;
      await batchWriter.close();
      await database.close();
      database = await openEmbeddedDatabase({ dataDir, log: quietLog });
      const stored = await countTicks(database);
      await database.close();
      if (stored !== batchWriter.acknowledgedTicks)
        throw new GuaranteeError(`${stored} of ${batchWriter.acknowledgedTicks} acknowledged ticks are stored`);
      return [
        createBenchRow({
          figure: "lost rows",
          unit: "rows",
          samples: [batchWriter.acknowledgedTicks - stored],
          target: { of: "worst", bound: "at_most", value: 0 },
          note: `all ${stored} acknowledged ticks are stored; ${rejectedCount} writes rejected with store_unavailable (503)`,
        }),
        createBenchRow({
          figure: "reads while full",
          unit: "ms",
          samples: latencies,
          note: "each read counts all ticks",
        }),
      ];
    } finally {
      await runCommand("umount", ["--lazy", folder.path]);
      await folder.release();
    }
  },
};

const countTicks = async (database: Database) =>
  (await database.query<{ count: number }>("select count(*) as count from ticks"))[0]?.count ?? 0;

/** Creates a writer of batches of ticks. It uses the production writer, which retains rejected batches. */
function createBatchWriter(database: Database) {
  const writer = createTickWriter({ database, clock: systemClock, log: quietLog });
  const fromMs = Date.now() - 3_600_000;
  let nextTick = 0;
  return {
    get acknowledgedTicks() {
      return writer.counters.written;
    },
    /** Returns true if the store accepted all ticks, false if it is unavailable. Throws other errors. */
    async writeBatch(): Promise<boolean> {
      if (writer.counters.queued === 0) {
        for (let row = 0; row < BATCH_ROWS; row++) writer.write(sampleTick(nextTick++, fromMs));
      }
      try {
        await writer.flush();
        return true;
      } catch (error) {
        if (error instanceof AppError && error.code === "store_unavailable") return false;
        throw error;
      }
    },
    close: () => writer.close(),
  };
}
