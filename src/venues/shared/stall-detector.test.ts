import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { StallDetector } from "./stall-detector.ts";

const MINUTE = 60_000;

async function paced(gapMs: number, messages = 300) {
  const clock = new FakeClock();
  const pace = new StallDetector(clock);
  for (let message = 0; message < messages; message++) {
    await clock.advance(gapMs);
    pace.heard();
  }
  return { clock, pace };
}

test("a busy stream is frozen after a minute without a word, and not before", async () => {
  const { clock, pace } = await paced(100);
  await clock.advance(MINUTE);
  assert.equal(pace.takeAlarm(), false);
  await clock.advance(1);
  assert.equal(pace.takeAlarm(), true);
});

test("a slow stream is given many times its usual gap", async () => {
  const { clock, pace } = await paced(10_000);
  await clock.advance(6 * MINUTE);
  assert.equal(pace.takeAlarm(), false);
  await clock.advance(MINUTE);
  assert.equal(pace.takeAlarm(), true);
});

test("no stream is left for longer than half an hour, however slow it was", async () => {
  const { clock, pace } = await paced(20 * MINUTE, 5);
  await clock.advance(30 * MINUTE + 1);
  assert.equal(pace.takeAlarm(), true);
});

test("a stream that never said anything is given five minutes", async () => {
  const { clock, pace } = await paced(1, 0);
  await clock.advance(5 * MINUTE);
  assert.equal(pace.takeAlarm(), false);
  await clock.advance(1);
  assert.equal(pace.takeAlarm(), true);
});

test("each alarm that brought nothing at least doubles the patience, and a message restores it", async () => {
  const { clock, pace } = await paced(100);
  const waits: number[] = [];
  for (let alarm = 0; alarm < 3; alarm++) {
    let waited = 0;
    while (!pace.takeAlarm()) {
      await clock.advance(1_000);
      waited += 1_000;
    }
    waits.push(waited);
  }
  const [first = 0, second = 0, third = 0] = waits;
  assert.ok(first <= MINUTE + 1_000 && second >= 1.9 * first && third >= 1.9 * second, waits.join());
  const patient = pace.quietMsMax;
  pace.heard();
  assert.ok(pace.quietMsMax < patient, `${pace.quietMsMax} of ${patient}`);
});

test("a burst of snapshots does not make a slow stream look quick", async () => {
  const { clock, pace } = await paced(20_000, 50);
  const before = pace.quietMsMax;
  for (let snapshot = 0; snapshot < 1_000; snapshot++) pace.heard();
  assert.equal(pace.quietMsMax, before);
  for (let message = 0; message < 100; message++) {
    await clock.advance(20_000);
    for (let snapshot = 0; snapshot < 100; snapshot++) pace.heard();
  }
  assert.equal(pace.quietMsMax, before);
});

test("the pause of a reconnection is no gap between messages", async () => {
  const { clock, pace } = await paced(100);
  const before = pace.quietMsMax;
  await clock.advance(20 * MINUTE);
  pace.restart();
  assert.equal(pace.silentMs, 0);
  pace.heard();
  assert.equal(pace.quietMsMax, before);
});
