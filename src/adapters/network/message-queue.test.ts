import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import type { Clock } from "../../ports/clock.ts";
import { systemClock } from "../system/system-clock.ts";
import { createMessageQueue } from "./message-queue.ts";

/** A clock whose turns a test grants one by one, and on which every piece of work takes half a millisecond. */
function turnByTurn() {
  const time = new FakeClock();
  const waiting: (() => void)[] = [];
  let at = 0;
  const clock: Clock = {
    now: () => time.now(),
    monotonic: () => at,
    setTimeout: (callback, delayMs) => time.setTimeout(callback, delayMs),
    sleep: (delayMs, signal) => time.sleep(delayMs, signal),
    yieldToEventLoop: () => new Promise((resolve) => waiting.push(resolve)),
  };
  const grant = async () => {
    waiting.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, grant, work: () => (at += 0.5), asking: () => waiting.length };
}

test("a burst is worked off in its order, a millisecond a turn, and nothing of it before the first turn", async () => {
  const { clock, grant, work } = turnByTurn();
  const take = createMessageQueue(clock);
  const done: number[] = [];
  for (let number = 0; number < 5; number++) {
    take(() => {
      work();
      done.push(number);
    });
  }
  assert.equal(done.length, 0);
  await grant();
  assert.deepEqual(done, [0, 1]);
  take(() => done.push(5));
  await grant();
  assert.deepEqual(done, [0, 1, 2, 3]);
  await grant();
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5]);
});

test("an inbox that is worked off asks for no more turns until something comes", async () => {
  const { clock, grant, asking } = turnByTurn();
  const take = createMessageQueue(clock);
  take(() => {});
  await grant();
  assert.equal(asking(), 0);
  take(() => {});
  assert.equal(asking(), 1);
});

test("ten thousand wait; with the next all are worked off at once, in their order", () => {
  const { clock } = turnByTurn();
  const take = createMessageQueue(clock);
  const done: number[] = [];
  for (let number = 0; number < 9_999; number++) take(() => done.push(number));
  assert.equal(done.length, 0);
  take(() => done.push(9_999));
  assert.deepEqual(
    done,
    Array.from({ length: 10_000 }, (_, index) => index),
  );
});

test("the system's clock grants one turn a round of the event loop, so that what else is ready comes in between", async () => {
  let round = 0;
  const countRounds = () => {
    round += 1;
    if (round < 20) setImmediate(countRounds);
  };
  setImmediate(countRounds);
  const rounds = await Promise.all(
    [1, 2, 3].map(async () => {
      await systemClock.yieldToEventLoop();
      return round;
    }),
  );
  assert.equal(new Set(rounds).size, 3);
});
