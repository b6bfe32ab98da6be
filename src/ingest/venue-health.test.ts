import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { HOUR_MS } from "../lib/durations.ts";
import { VenueHealth } from "./venue-health.ts";

const STALE_MS = 60_000;

function createHealth() {
  const clock = new FakeClock();
  const profile = {
    requestsPerSecond: 1_000,
    sweepPauseMs: 1,
    sweepMarketsPerSecond: 1_000,
    changesPauseMs: null,
    activePollMs: null,
    streamMarketsMax: 1,
    staleAfterMs: STALE_MS,
    volumeFromTrades: false,
    takersFromTrades: false,
  };
  const health = new VenueHealth(clock, profile);
  return { clock, health, status: () => health.report(0).status };
}

test("the status is `starting` until the first response, then `ok`", async () => {
  const { clock, health, status } = createHealth();
  assert.equal(status(), "starting");
  await clock.advance(STALE_MS);
  assert.equal(status(), "starting");
  health.succeeded();
  assert.equal(status(), "ok");
});

test("without any response, the status is `degraded` after one stale interval and `down` after four", async () => {
  const { clock, status } = createHealth();
  await clock.advance(STALE_MS + 1);
  assert.equal(status(), "degraded");
  await clock.advance(3 * STALE_MS - 1);
  assert.equal(status(), "degraded");
  await clock.advance(1);
  assert.equal(status(), "down");
});

test("the status is `down` immediately if the first request fails", () => {
  const { health, status } = createHealth();
  health.failed();
  assert.equal(status(), "down");
  health.succeeded();
  assert.equal(status(), "ok");
});

test("the status is `degraded` after a failure, `down` after four stale intervals without response, and `ok` after a success", async () => {
  const { clock, health, status } = createHealth();
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

test("measures the lag with the monotonic clock, so a wall-clock jump does not change it", async () => {
  const { clock, health } = createHealth();
  assert.deepEqual([health.report(0).lagMs, health.report(0).lastSuccessAt], [null, null]);
  health.succeeded();
  const { lastSuccessAt } = health.report(0);
  assert.equal(lastSuccessAt, clock.now());
  clock.jumpWallClock(-HOUR_MS);
  await clock.advance(1_500);
  assert.deepEqual([health.report(0).lagMs, health.report(0).status], [1_500, "ok"]);
});

test("counts the rows of each sweep from 0, and counts a sweep as completed when it ends", () => {
  const { health } = createHealth();
  health.sweepStarted();
  health.sweepRead(100, 250);
  health.sweepRead(50, 251);
  assert.deepEqual(health.report(0).sweep, { rows: 150, total: 251, completed: 0, incomplete: 0 });
  health.sweepCompleted();
  health.sweepStarted();
  assert.deepEqual(health.report(0).sweep, { rows: 0, total: null, completed: 1, incomplete: 0 });
});

test("the venue is settled after its first sweep has completed or failed, not while it runs", () => {
  const first = createHealth().health;
  first.sweepStarted();
  first.succeeded();
  assert.equal(first.isSettled, false);
  first.sweepCompleted();
  assert.equal(first.isSettled, true);
  const second = createHealth().health;
  second.failed();
  assert.equal(second.isSettled, true);
});

test("counts drops by reason, and counts reasons beyond the first 100 as `other`", () => {
  const { health } = createHealth();
  health.drop("crossed_book");
  health.drop("crossed_book", 4);
  for (let number = 0; number < 150; number++) health.drop(`reason_${number}`);
  health.drop("crossed_book");
  const { drops } = health.report(0);
  assert.deepEqual([drops.crossed_book, drops.other, Object.keys(drops).length], [6, 51, 101]);
});

test("reports the stream's state and the given number of markets", () => {
  const { health } = createHealth();
  assert.equal(health.report(7).stream, "none");
  health.streamChanged("up");
  assert.deepEqual([health.report(7).stream, health.report(7).markets], ["up", 7]);
});
