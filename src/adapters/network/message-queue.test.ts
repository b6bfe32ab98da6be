import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import type { Clock } from "../../ports/clock.ts";
import { systemClock } from "../system/system-clock.ts";
import { createMessageQueue } from "./message-queue.ts";

/** A clock that resumes one yield at a time; each message takes half a millisecond to process. */
function createSteppedClock() {
  const time = new FakeClock();
  const yielded: (() => void)[] = [];
  let at = 0;
  const clock: Clock = {
    now: () => time.now(),
    monotonic: () => at,
    setTimeout: (callback, delayMs) => time.setTimeout(callback, delayMs),
    sleep: (delayMs, signal) => time.sleep(delayMs, signal),
    yieldToEventLoop: () => new Promise((resolve) => yielded.push(resolve)),
  };
  const resumeNext = async () => {
    yielded.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, resumeNext, work: () => (at += 0.5), yieldsPending: () => yielded.length };
}

test("processes a burst in order, 1 ms per iteration, starting with the next iteration", async () => {
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

test("an empty queue does not yield until the next message", async () => {
  const { clock, resumeNext, yieldsPending } = createSteppedClock();
  const enqueue = createMessageQueue(clock);
  enqueue(() => {});
  await resumeNext();
  assert.equal(yieldsPending(), 0);
  enqueue(() => {});
  assert.equal(yieldsPending(), 1);
});

test("processes all messages immediately and in order when 10,000 are queued", () => {
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
