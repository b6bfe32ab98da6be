import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { MINUTE_MS } from "../../lib/durations.ts";
import { createStallDetector } from "./stall-detector.ts";

/** Creates a detector that has received messages at a regular interval. */
async function setUp(gapMs: number, messages = 300) {
  const clock = new FakeClock();
  const detector = createStallDetector(clock);
  for (let message = 0; message < messages; message++) {
    await clock.advance(gapMs);
    detector.recordMessage();
  }
  return { clock, detector };
}

test("raises an alarm for a busy stream after a minute of silence", async () => {
  const { clock, detector } = await setUp(100);
  await clock.advance(MINUTE_MS);
  assert.equal(detector.detectStall(), false);
  await clock.advance(1);
  assert.equal(detector.detectStall(), true);
});

test("allows a slow stream a silence of 40 times its average gap", async () => {
  const { clock, detector } = await setUp(10_000);
  await clock.advance(6 * MINUTE_MS);
  assert.equal(detector.detectStall(), false);
  await clock.advance(MINUTE_MS);
  assert.equal(detector.detectStall(), true);
});

test("allows no stream a silence of more than 30 minutes", async () => {
  const { clock, detector } = await setUp(20 * MINUTE_MS, 5);
  await clock.advance(30 * MINUTE_MS + 1);
  assert.equal(detector.detectStall(), true);
});

test("allows a stream without any message five minutes of silence", async () => {
  const { clock, detector } = await setUp(1, 0);
  await clock.advance(5 * MINUTE_MS);
  assert.equal(detector.detectStall(), false);
  await clock.advance(1);
  assert.equal(detector.detectStall(), true);
});

test("each alarm at least doubles the allowed silence, and a message resets it", async () => {
  const { clock, detector } = await setUp(100);
  const silencesMs: number[] = [];
  for (let alarm = 0; alarm < 3; alarm++) {
    let silentMs = 0;
    while (!detector.detectStall()) {
      await clock.advance(1_000);
      silentMs += 1_000;
    }
    silencesMs.push(silentMs);
  }
  const [first = 0, second = 0, third = 0] = silencesMs;
  assert.ok(first <= MINUTE_MS + 1_000 && second >= 1.9 * first && third >= 1.9 * second, silencesMs.join());
  const increasedSilenceMsMax = detector.silenceMsMax();
  detector.recordMessage();
  assert.ok(detector.silenceMsMax() < increasedSilenceMsMax, `${detector.silenceMsMax()} of ${increasedSilenceMsMax}`);
});

test("counts a burst of snapshots as one message", async () => {
  const { clock, detector } = await setUp(20_000, 50);
  const initialSilenceMsMax = detector.silenceMsMax();
  for (let snapshot = 0; snapshot < 1_000; snapshot++) detector.recordMessage();
  assert.equal(detector.silenceMsMax(), initialSilenceMsMax);
  for (let message = 0; message < 100; message++) {
    await clock.advance(20_000);
    for (let snapshot = 0; snapshot < 100; snapshot++) detector.recordMessage();
  }
  assert.equal(detector.silenceMsMax(), initialSilenceMsMax);
});

test("does not count the time before a restart as a gap", async () => {
  const { clock, detector } = await setUp(100);
  const initialSilenceMsMax = detector.silenceMsMax();
  await clock.advance(20 * MINUTE_MS);
  detector.restart();
  assert.equal(detector.silentMs(), 0);
  detector.recordMessage();
  assert.equal(detector.silenceMsMax(), initialSilenceMsMax);
});
