import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { recordingLog } from "../../../../test/support/test-app.ts";
import type { JobQueue } from "../../../ports/job-queue.ts";
import { RunWorker } from "./run-worker.ts";

test("if one queue task fails repeatedly, the worker reports a failure until the task succeeds, and logs it once", async () => {
  const clock = new FakeClock();
  const { log, lines } = recordingLog();
  const state = { isUp: false, fetches: 0 };
  const queue: JobQueue = {
    prepare: async () => {},
    enqueue: async () => {},
    complete: async () => {},
    giveBack: async () => {},
    announce() {},
    onAnnounced: () => () => {},
    renew: async () => {},
    reclaim: async () => {},
    async fetch() {
      state.fetches += 1;
      if (!state.isUp) throw new Error("permission denied");
      return [];
    },
  };
  const unused = async () => assert.fail("unused");
  const database = { query: async () => [], transaction: unused, close: unused };
  const eventLog = { announce() {} };
  const worker = new RunWorker({ database, clock, log, queue, eventLog, perform: unused, concurrency: 1 });
  worker.start();
  for (let second = 0; second < 15; second++) {
    await clock.advance(1_000);
    assert.equal(worker.isFailing, true);
  }
  assert.ok(state.fetches >= 15);
  assert.deepEqual(
    lines.map(({ level, task }) => [level, task]),
    [["warn", "fetch"]],
  );
  state.isUp = true;
  await clock.advance(1_000);
  assert.equal(worker.isFailing, false);
  await clock.until(worker.stop());
});
