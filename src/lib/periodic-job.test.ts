import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { BackgroundJobs, PeriodicJob, type PeriodicJobOptions } from "./periodic-job.ts";

/** A job whose runs last `runMs` and fail while `fault` is set. */
function setUp(options: Partial<PeriodicJobOptions> & { readonly runMs?: number } = {}) {
  const clock = new FakeClock();
  const state = { fault: null as Error | null, startedAt: [] as number[], failures: [] as number[] };
  const job = new PeriodicJob({
    clock,
    intervalMs: 1_000,
    async run() {
      state.startedAt.push(clock.monotonic());
      if (options.runMs !== undefined) await clock.sleep(options.runMs);
      if (state.fault !== null) throw state.fault;
    },
    onFailure: (_, failures) => state.failures.push(failures),
    ...options,
  });
  return { clock, job, state };
}

test("runs after the delay, then one interval after the end of each run", async () => {
  const { clock, job, state } = setUp({ delayMs: 500, runMs: 300 });
  job.start();
  await clock.advance(3_200);
  assert.deepEqual(state.startedAt, [500, 1_800, 3_100]);
});

test("without a delay, the first run starts immediately", () => {
  const { job, state } = setUp();
  job.start();
  assert.deepEqual(state.startedAt, [0]);
});

test("`wake` ends a pause; during a run, another run follows without a pause", async () => {
  const { clock, job, state } = setUp({ runMs: 100 });
  job.start();
  await clock.advance(600);
  job.wake();
  await clock.advance(50);
  job.wake();
  job.wake();
  await clock.advance(1_149);
  assert.deepEqual(state.startedAt, [0, 600, 700]);
  await clock.advance(1);
  assert.deepEqual(state.startedAt, [0, 600, 700, 1_800]);
});

test("`stop` starts no further run and resolves after the current one, whose signal aborts", async () => {
  let wasAborted = false;
  const { clock, job, state } = setUp({
    async run(signal) {
      state.startedAt.push(clock.monotonic());
      await clock.sleep(100);
      wasAborted = signal.aborted;
    },
  });
  job.start();
  let hasStopped = false;
  void job.stop().then(() => {
    hasStopped = true;
  });
  await clock.advance(99);
  assert.equal(hasStopped, false);
  await clock.advance(1);
  assert.equal(hasStopped, true);
  assert.equal(wasAborted, true);
  assert.equal(clock.pending, 0);
  await clock.advance(10_000);
  assert.deepEqual(state.startedAt, [0]);
});

test("`stop` ends the delay and the pause without a run, and the job can be started again", async () => {
  const { clock, job, state } = setUp({ delayMs: 500 });
  job.start();
  await job.stop();
  job.start();
  await clock.advance(500);
  await job.stop();
  assert.deepEqual(state.startedAt, [500]);
  assert.equal(clock.pending, 0);
});

test("a failed run is reported with the number of consecutive failures, and the job continues", async () => {
  const { clock, job, state } = setUp();
  state.fault = new Error("unavailable");
  job.start();
  await clock.advance(1_000);
  assert.equal(job.hasFailed, true);
  state.fault = null;
  await clock.advance(1_000);
  assert.equal(job.hasFailed, false);
  state.fault = new Error("unavailable");
  await clock.advance(1_000);
  assert.deepEqual(state.failures, [1, 2, 1]);
});

test("a run that fails after `stop` is not reported", async () => {
  const { clock, job, state } = setUp({ runMs: 100 });
  state.fault = new Error("aborted");
  job.start();
  const stopped = job.stop();
  await clock.until(stopped);
  assert.deepEqual(state.failures, []);
});

test("the interval can depend on the number of consecutive failures", async () => {
  const { clock, job, state } = setUp({ intervalMs: (failures) => (failures === 0 ? 1_000 : 10 * failures) });
  state.fault = new Error("unavailable");
  job.start();
  await clock.advance(29);
  state.fault = null;
  await clock.advance(1_001);
  assert.deepEqual(state.startedAt, [0, 10, 30, 1_030]);
});

test("`reportSuccess` ends the consecutive failures during a run", async () => {
  const { clock, job, state } = setUp({ runMs: 100 });
  state.fault = new Error("unavailable");
  job.start();
  await clock.advance(1_150);
  assert.equal(job.hasFailed, true);
  job.reportSuccess();
  assert.equal(job.hasFailed, false);
  await clock.advance(100);
  assert.deepEqual(state.failures, [1, 1]);
});

test("a background job runs only while `isOurs` returns true, and standby checks do not count as failures", async () => {
  const clock = new FakeClock();
  const warnings: unknown[] = [];
  const jobs = new BackgroundJobs(clock, { warn: (fields) => warnings.push(fields) });
  let isOurs = true;
  let runs = 0;
  const fault = new Error("unavailable");
  const run = async () => {
    runs += 1;
    throw fault;
  };
  jobs.start("vacuum", 1_000, run, () => isOurs);
  await clock.advance(1_000);
  assert.equal(runs, 2);
  assert.deepEqual(jobs.failing, ["vacuum"]);
  assert.deepEqual(warnings, Array(2).fill({ job: "vacuum", err: fault }));
  isOurs = false;
  await clock.advance(5_999);
  assert.deepEqual(jobs.failing, []);
  isOurs = true;
  await clock.advance(1);
  assert.equal(runs, 3);
  assert.equal(jobs.isStopping, false);
  const stopped = jobs.stop();
  assert.equal(jobs.isStopping, true);
  await stopped;
  assert.equal(clock.pending, 0);
});

test("a background job is not started twice, and not after `stop`", async () => {
  const clock = new FakeClock();
  const jobs = new BackgroundJobs(clock, { warn: () => {} });
  let runs = 0;
  const run = async () => {
    runs += 1;
  };
  jobs.start("vacuum", 1_000, run);
  assert.throws(() => jobs.start("vacuum", 1_000, run), RangeError);
  await jobs.stop();
  jobs.start("retention", 1_000, run);
  await clock.advance(5_000);
  assert.equal(runs, 1);
});
