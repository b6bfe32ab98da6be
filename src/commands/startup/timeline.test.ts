import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import type { Log } from "../../ports/log.ts";
import { createStartTimeline, finishStart } from "./timeline.ts";

async function begin(hasMarkets: boolean) {
  const clock = new FakeClock();
  const timeline = createStartTimeline(clock);
  const state = { isSwept: false, isMatched: false, isReady: false };
  const lines: unknown[] = [];
  const log = { info: (fields: object, message: string) => lines.push({ ...fields, message }) } as unknown as Log;
  await clock.advance(300);
  timeline.end("imports");
  await clock.advance(700);
  timeline.end("listen");
  const options = { clock, log, timeline, hasMarkets, isSwept: () => state.isSwept, isMatched: () => state.isMatched };
  const markReady = () => {
    state.isReady = true;
  };
  finishStart({ ...options, markReady });
  await clock.advance(0);
  return { clock, timeline, state, lines };
}

test("with stored markets the service is ready at once, and the timeline is logged after sweeps and matching", async () => {
  const { clock, state, lines, timeline } = await begin(true);
  assert.deepEqual([state.isReady, timeline.ends.get("ready")], [true, 1_000]);
  state.isSwept = true;
  await clock.advance(2_000);
  assert.deepEqual(lines, []);
  state.isMatched = true;
  await clock.advance(1_000);
  assert.deepEqual(lines, [
    {
      imports_ms: 300,
      listen_ms: 1_000,
      ready_ms: 1_000,
      first_sweeps_ms: 1_020,
      matching_ms: 3_020,
      message: "start completed",
    },
  ]);
});

test("without stored markets the service is ready when the first sweeps have ended", async () => {
  const { clock, state, lines, timeline } = await begin(false);
  await clock.advance(5_000);
  assert.equal(state.isReady, false);
  Object.assign(state, { isSwept: true, isMatched: true });
  await clock.advance(20);
  assert.equal(state.isReady, true);
  assert.deepEqual([...timeline.ends.keys()], ["imports", "listen", "first_sweeps", "ready", "matching"]);
  assert.equal(lines.length, 1);
});

test("a venue without response delays readiness by 8 s, and the timeline omits steps that do not end in a minute", async () => {
  const { clock, state, lines } = await begin(false);
  await clock.advance(7_999);
  assert.equal(state.isReady, false);
  await clock.advance(1);
  assert.equal(state.isReady, true);
  await clock.advance(120_000);
  assert.deepEqual(lines, [{ imports_ms: 300, listen_ms: 1_000, ready_ms: 9_000, message: "start completed" }]);
});

test("the timeline contains first sweeps and matching that end within a minute each after the service is ready", async () => {
  const { clock, state, lines } = await begin(false);
  await clock.advance(8_000);
  assert.equal(state.isReady, true);
  await clock.advance(59_000);
  state.isSwept = true;
  await clock.advance(59_000);
  assert.deepEqual(lines, []);
  state.isMatched = true;
  await clock.advance(120_000);
  const steps = { ready_ms: 9_000, first_sweeps_ms: 68_020, matching_ms: 127_020 };
  assert.deepEqual(lines, [{ imports_ms: 300, listen_ms: 1_000, ...steps, message: "start completed" }]);
});
