import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { VenueHealth } from "./venue-health.ts";

const STALE_MS = 60_000;

function bench() {
  const clock = new FakeClock();
  const profile = {
    sweepPauseMs: 1,
    activePollMs: null,
    streamMarketsMax: 1,
    staleAfterMs: STALE_MS,
    volumeFromTrades: false,
  };
  const health = new VenueHealth(clock, profile);
  return { clock, health, status: () => health.report(0).status };
}

test("a venue is starting until its first answer, then ok", async () => {
  const { clock, health, status } = bench();
  assert.equal(status(), "starting");
  await clock.advance(STALE_MS);
  assert.equal(status(), "starting");
  health.succeeded();
  assert.equal(status(), "ok");
});

test("a venue that never answers is degraded after one stale interval and down after four", async () => {
  const { clock, status } = bench();
  await clock.advance(STALE_MS + 1);
  assert.equal(status(), "degraded");
  await clock.advance(3 * STALE_MS - 1);
  assert.equal(status(), "degraded");
  await clock.advance(1);
  assert.equal(status(), "down");
});

test("a venue whose first answer is a failure is down at once", () => {
  const { health, status } = bench();
  health.failed();
  assert.equal(status(), "down");
  health.succeeded();
  assert.equal(status(), "ok");
});

test("a failure after a success degrades, silence makes it down, the next success ends both", async () => {
  const { clock, health, status } = bench();
  health.succeeded();
  health.failed();
  assert.equal(status(), "degraded");
  health.succeeded();
  assert.equal(status(), "ok");
  await clock.advance(STALE_MS);
  assert.equal(status(), "ok");
  await clock.advance(1);
  assert.equal(status(), "degraded");
  await clock.advance(3 * STALE_MS);
  assert.equal(status(), "down");
  health.succeeded();
  assert.equal(status(), "ok");
});

test("the lag is measured by time that only grows, whatever the wall clock does", async () => {
  const { clock, health } = bench();
  assert.deepEqual([health.report(0).lagMs, health.report(0).lastSuccessAt], [null, null]);
  health.succeeded();
  const { lastSuccessAt } = health.report(0);
  assert.equal(lastSuccessAt, clock.now());
  clock.jumpWallClock(-3_600_000);
  await clock.advance(1_500);
  assert.deepEqual([health.report(0).lagMs, health.report(0).status], [1_500, "ok"]);
});

test("a sweep counts its rows anew each time and is completed only at its end", () => {
  const { health } = bench();
  health.sweepStarted();
  health.sweepRead(100, 250);
  health.sweepRead(50, 251);
  assert.deepEqual(health.report(0).sweep, { rows: 150, total: 251, completed: 0, incomplete: 0 });
  health.sweepCompleted();
  health.sweepStarted();
  assert.deepEqual(health.report(0).sweep, { rows: 0, total: null, completed: 1, incomplete: 0 });
});

test("a first sweep that ended, well or badly, settles a venue; one under way does not", () => {
  const first = bench().health;
  first.sweepStarted();
  first.succeeded();
  assert.equal(first.isSettled, false);
  first.sweepCompleted();
  assert.equal(first.isSettled, true);
  const second = bench().health;
  second.failed();
  assert.equal(second.isSettled, true);
});

test("drops are counted by reason, and past a hundred reasons as other", () => {
  const { health } = bench();
  health.drop("crossed_book");
  health.drop("crossed_book", 4);
  for (let number = 0; number < 150; number++) health.drop(`reason_${number}`);
  health.drop("crossed_book");
  const { drops } = health.report(0);
  assert.deepEqual([drops.crossed_book, drops.other, Object.keys(drops).length], [6, 51, 101]);
});

test("the report tells the stream's state and the markets as given", () => {
  const { health } = bench();
  assert.equal(health.report(7).stream, "none");
  health.streamChanged("up");
  assert.deepEqual([health.report(7).stream, health.report(7).markets], ["up", 7]);
});
