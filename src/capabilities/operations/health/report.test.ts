import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { quietLog } from "../../../../test/support/quiet-log.ts";
import { createInProcessBus } from "../../../adapters/bus/in-process-bus.ts";
import type { Ingest } from "../../../ingest/index.ts";
import type { MatchingReport } from "../../markets/matching/index.ts";
import { createHealthReport } from "./report.ts";

function reportWith(matching: MatchingReport | null, thread: Ingest["thread"] = null) {
  const clock = new FakeClock();
  const probe = { isUp: true, fault: null };
  return createHealthReport({
    version: "1",
    data: "sandbox",
    clock,
    bus: createInProcessBus(quietLog),
    probe,
    ingest: { health: () => ({}), thread },
    failingJobs: () => [],
    matching: matching && { report: matching },
  })();
}

test("a failed matching thread degrades the service until it is replaced", () => {
  const figures = { pairs: 5, pendingCount: 7, restarts: 1, judge: null };
  const failing = reportWith({ ...figures, isFailing: true });
  assert.equal(failing.status, "degraded");
  assert.deepEqual(failing.checks.matching, {
    status: "degraded",
    detail: "the matching thread failed; its last pairs are served",
    pairs: 5,
    pending: 7,
    restarts: 1,
  });
  const recovered = reportWith({ ...figures, isFailing: false });
  assert.equal(recovered.status, "ok");
  assert.deepEqual(recovered.checks.matching, { status: "ok", pairs: 5, pending: 7, restarts: 1 });
});

test("an ingest thread that does not run degrades the service until it is replaced", () => {
  const failing = reportWith(null, { isUp: false, restarts: 1 });
  assert.equal(failing.status, "degraded");
  assert.deepEqual(failing.checks.ingest, {
    status: "degraded",
    detail:
      "the thread that reads the venues has ended or does not respond; the last prices are served with their times",
    restarts: 1,
  });
  const replaced = reportWith(null, { isUp: true, restarts: 1 });
  assert.equal(replaced.status, "ok");
  assert.deepEqual(replaced.checks.ingest, { status: "ok", restarts: 1 });
});

test("a node without an ingest thread has no check of it", () => {
  const { status, checks } = reportWith(null, null);
  assert.deepEqual([status, "ingest" in checks], ["ok", false]);
});
