import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import type { AnalysisRun } from "./model.ts";
import { createRunReader } from "./run-reader.ts";

const createRun = (analysisId: string): AnalysisRun => ({
  analysisId,
  venue: "alpha",
  marketId: "m",
  status: "running",
  errorMessage: null,
  type: "light",
  requestedAt: 0,
});

function setUp(fail = false) {
  const clock = new FakeClock(0);
  const reads: string[] = [];
  const readRun = createRunReader(async (id) => {
    reads.push(id);
    if (fail) throw new Error("the store is unavailable");
    return createRun(id);
  }, clock);
  return { clock, reads, readRun };
}

test("polls of a run within 50 ms share one read, and later ones read it again", async () => {
  const { clock, reads, readRun } = setUp();
  const runs = await Promise.all([readRun("a"), readRun("a"), readRun("b")]);
  assert.deepEqual(
    runs.map((run) => run?.analysisId),
    ["a", "a", "b"],
  );
  await clock.advance(49);
  await readRun("a");
  assert.deepEqual(reads, ["a", "b"]);
  await clock.advance(1);
  await readRun("a");
  assert.deepEqual(reads, ["a", "b", "a"]);
});

test("a failed read is repeated by the next poll", async () => {
  const { reads, readRun } = setUp(true);
  await assert.rejects(readRun("a"), /unavailable/);
  await assert.rejects(readRun("a"), /unavailable/);
  assert.deepEqual(reads, ["a", "a"]);
});

test("polls of many unknown ids keep at most 5,000 entries", async () => {
  const { reads, readRun } = setUp();
  for (let index = 0; index <= 5_000; index++) await readRun(`${index}`);
  await readRun("1");
  assert.equal(reads.length, 5_001);
  await readRun("0");
  assert.equal(reads.length, 5_002, "the oldest entry was deleted");
});
