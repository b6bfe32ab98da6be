import assert from "node:assert/strict";
import { test } from "node:test";
import { SharedWork } from "./shared-work.ts";

function setUp() {
  const result = Promise.withResolvers<string>();
  const signals: AbortSignal[] = [];
  const work = new SharedWork((signal) => {
    signals.push(signal);
    return result.promise;
  });
  const [one, other] = [new AbortController(), new AbortController()];
  return { result, work, one, other, isAborted: () => signals.some(({ aborted }) => aborted), runs: signals };
}

test("callers share one run of the work, and a caller that aborts does not abort the run", async () => {
  const { result, work, one, other, isAborted, runs } = setUp();
  const gone = work.join(one.signal);
  const waiting = work.join(other.signal);
  one.abort(new Error("gone"));
  await assert.rejects(gone, /gone/);
  assert.ok(!isAborted());
  result.resolve("done");
  assert.equal(await waiting, "done");
  assert.equal(runs.length, 1);
});

test("the run is aborted when its last caller aborts", async () => {
  const { work, one, other, isAborted } = setUp();
  const callers = [work.join(one.signal), work.join(other.signal)];
  one.abort(new Error("gone"));
  other.abort(new Error("gone"));
  for (const caller of callers) await assert.rejects(caller, /gone/);
  assert.ok(isAborted());
});

test("a failure reaches every caller, and a caller that has aborted before it joins is rejected", async () => {
  const { result, work, one, other } = setUp();
  one.abort(new Error("gone"));
  const late = work.join(one.signal);
  const caller = work.join(other.signal);
  await assert.rejects(late, /gone/);
  result.reject(new Error("failed"));
  await assert.rejects(caller, /failed/);
});
