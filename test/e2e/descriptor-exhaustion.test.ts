import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { BATCH_ROWS, type ExhaustionReport } from "../support/exhaust-descriptors.ts";
import { quietLog } from "../support/quiet-log.ts";
import { run } from "../support/service-process.ts";
import { makeStore } from "../support/store-template.ts";
import { createTestFolder } from "../support/test-folder.ts";

const PROGRAM = fileURLToPath(new URL("../support/exhaust-descriptors.ts", import.meta.url));
/** The program needs about 150 descriptors. */
const DESCRIPTORS_MAX = 256;

test("the embedded store accepts writes again after the process ran out of file descriptors, and loses no acknowledged row", async () => {
  const dataDir = await createTestFolder();
  await makeStore(dataDir);
  const limited = `ulimit -n ${DESCRIPTORS_MAX} && exec "$@"`;
  const { output, ended } = run("sh", ["-c", limited, "sh", process.execPath, PROGRAM, dataDir]);
  assert.equal(await ended, 0, output());
  const report: ExhaustionReport = JSON.parse(output());
  const detail = "The store cannot create files: it refuses writes until it is restarted.";
  assert.deepEqual(report.statuses, [
    { readiness: 200, store: "ok", detail: null },
    { readiness: 503, store: "down", detail },
    { readiness: 200, store: "ok", detail: null },
  ]);
  const database = await openEmbeddedDatabase({ dataDir, log: quietLog });
  try {
    const stored = await database.query<{ batch: number; count: number }>(
      "select number / $1::int4 as batch, count(*) as count from written group by 1 order by 1",
      [BATCH_ROWS],
    );
    assert.deepEqual(
      stored,
      report.acknowledgedBatches.map((batch) => ({ batch, count: BATCH_ROWS })),
    );
    // A read during the exhaustion returned all batches but the failed one, which was written afterwards.
    assert.equal(report.readCount, (report.acknowledgedBatches.length - 1) * BATCH_ROWS);
  } finally {
    await database.close();
  }
});
