import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import type { Clock } from "../../ports/clock.ts";
import { systemClock } from "../system/system-clock.ts";
import { createMessageQueue } from "./message-queue.ts";

/** Creates a clock whose yields resume one at a time. Each call of `work` advances it by half a millisecond. */
function createSteppedClock() {
  const fakeClock = new FakeClock();
  const pendingYields: (() => void)[] = [];
  let monotonicMs = 0;
  const clock: Clock = {
    now: () => fakeClock.now(),
    monotonic: () => monotonicMs,
    setTimeout: (callback, delayMs) => fakeClock.setTimeout(callback, delayMs),
    sleep: (delayMs, signal) => fakeClock.sleep(delayMs, signal),
    yieldToEventLoop: () => new Promise((resolve) => pendingYields.push(resolve)),
  };
  const resumeNext = async () => {
    pendingYields.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, resumeNext, work: () => (monotonicMs += 0.5), countPendingYields: () => pendingYields.length };
}

test("processes a burst in order, for 1 ms per iteration, and starts in the next iteration", async () => {
  const { clock, resumeNext, work } = createSteppedClock();
  const enqueue = createMessageQueue(clock);
  const processed: number[] = [];
  for (let number = 0; number < 5; number++) {
    enqueue(() => {
      work();
      processed.push(number);
    });
  }
  assert.equal(processed.length, 0);
  await resumeNext();
  assert.deepEqual(processed, [0, 1]);
  enqueue(() => processed.push(5));
  await resumeNext();
  assert.deepEqual(processed, [0, 1, 2, 3]);
  await resumeNext();
  assert.deepEqual(processed, [0, 1, 2, 3, 4, 5]);
});

test("an empty queue does not yield to the event loop until a message is queued", async () => {
  const { clock, resumeNext, countPendingYields } = createSteppedClock();
  const enqueue = createMessageQueue(clock);
  enqueue(() => {});
  await resumeNext();
  assert.equal(countPendingYields(), 0);
  enqueue(() => {});
  assert.equal(countPendingYields(), 1);
});

test("processes all messages immediately and in order if 10,000 are queued", () => {
  const { clock } = createSteppedClock();
  const enqueue = createMessageQueue(clock);
  const processed: number[] = [];
  for (let number = 0; number < 9_999; number++) enqueue(() => processed.push(number));
  assert.equal(processed.length, 0);
  enqueue(() => processed.push(9_999));
  assert.deepEqual(
    processed,
    Array.from({ length: 10_000 }, (_, index) => index),
  );
});

test("the system clock resumes one yielded task per event-loop iteration", async () => {
  let iteration = 0;
  const countIterations = () => {
    iteration += 1;
    if (iteration < 20) setImmediate(countIterations);
  };
  setImmediate(countIterations);
  const iterations = await Promise.all(
    [1, 2, 3].map(async () => {
      await systemClock.yieldToEventLoop();
      return iteration;
    }),
  );
  assert.equal(new Set(iterations).size, 3);
});
