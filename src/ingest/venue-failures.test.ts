import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleMarket } from "../../test/support/markets/market-samples.ts";
import {
  intervalsBetween,
  openIngestHarness,
  openIngestWith,
  openScriptedVenue,
} from "../../test/support/venues/ingest-harness.ts";
import { ScriptedVenue } from "../../test/support/venues/scripted-venue.ts";
import { VenueError } from "../domain/errors.ts";
import { HOUR_MS, MINUTE_MS } from "../lib/durations.ts";

/** Returns the times from the start of each sweep to the start of the next sweep. */
const sweepPauses = (venue: ScriptedVenue) => intervalsBetween(venue.callsOf("listOpenMarkets").map(({ at }) => at));
const timeout = () => new VenueError("timeout", "no response", { retryable: true });

test("retries a failing venue until it responds", async () => {
  const { clock, venue, health, board, start } = openIngestWith("a");
  venue.failing.set("listOpenMarkets", timeout());
  await start();
  assert.equal(health(venue).report(0).status, "down");
  await clock.advance(10 * MINUTE_MS);
  const pauses = sweepPauses(venue);
  assert.ok(
    pauses.every((pause) => pause === MINUTE_MS),
    String(pauses),
  );
  assert.equal(health(venue).report(0).drops.failed_timeout, pauses.length + 1);
  venue.failing.clear();
  await clock.advance(MINUTE_MS);
  assert.deepEqual([health(venue).report(0).status, board.size], ["ok", 1]);
});

test("pauses after failures double from 1 s to 30 s, and the pause after a success is the usual pause", async () => {
  const { clock, venue, start } = openScriptedVenue({ profile: { sweepPauseMs: 500 } });
  venue.failing.set("listOpenMarkets", timeout());
  await start();
  await clock.advance(2 * MINUTE_MS);
  const pauses = sweepPauses(venue);
  assert.deepEqual(pauses.slice(0, 7), [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  venue.failing.clear();
  await clock.advance(32_000);
  assert.deepEqual(sweepPauses(venue).at(-1), 500);
});

test("a failed sweep keeps the markets on the board and counts none as missing", async () => {
  const { clock, venue, board, start } = openIngestWith("a", "b");
  await start();
  venue.failing.set("listOpenMarkets", timeout());
  await clock.advance(10 * MINUTE_MS);
  assert.equal(board.size, 2);
  assert.deepEqual(venue.callsOf("getMarkets"), []);
});

test("a failing or unresponsive venue does not delay other venues", async () => {
  const harness = openIngestHarness((clock) => ["broken", "slow", "alpha"].map((id) => new ScriptedVenue(id, clock)));
  const [broken, slow, good] = harness.venues;
  assert.ok(broken && slow && good);
  broken.failing.set("listOpenMarkets", timeout());
  slow.responseMs = 3 * HOUR_MS;
  good.setMarkets(sampleMarket("a"));
  await harness.start();
  assert.ok(harness.market("a"));
  assert.equal(harness.health(good).report(0).status, "ok");
  await harness.clock.advance(5 * MINUTE_MS);
  assert.equal(harness.health(good).report(0).sweep.completed, 6);
  assert.equal(harness.health(slow).report(0).status, "degraded");
});

test("probes a failing venue once a second and reads it within seconds of its recovery", async () => {
  const { clock, venue, board, health, start } = openIngestWith("a");
  await start();
  for (const method of ["listOpenMarkets", "findMarket"] as const) venue.failing.set(method, timeout());
  await clock.advance(HOUR_MS);
  const probesBefore = venue.callsOf("findMarket").length;
  await clock.advance(MINUTE_MS);
  assert.equal(venue.callsOf("findMarket").length - probesBefore, 60);
  venue.failing.clear();
  venue.setMarkets(sampleMarket("b"));
  await clock.advance(4_000);
  assert.equal(board.find("alpha", "b")?.listing.marketId, "b");
  assert.equal(health(venue).report(0).status, "ok");
});

test("time spent waiting for slow responses does not extend the pause before a confirming sweep", async () => {
  const { clock, venue, start } = openIngestWith("a");
  venue.responseMs = 100;
  await start();
  await clock.advance(30_000);
  venue.responseMs = 10_000;
  await clock.advance(40_000);
  venue.stream?.onUp();
  venue.stream?.onDown("the venue closed it");
  await clock.advance(20_000);
  const [, slow = 0, next = Number.POSITIVE_INFINITY] = venue.callsOf("listOpenMarkets").map(({ at }) => at);
  // The sweep has two responses of ten seconds each, and the minimum pause is one second.
  assert.equal(next - slow, 21_000);
});

test("sweeps frequently after a loop starts to fail or recovers, and otherwise at the usual interval", async () => {
  const { clock, venue, start } = openIngestWith("a");
  await start();
  venue.failing.set("listTrades", timeout());
  await clock.advance(5 * MINUTE_MS - 5_000);
  const before = sweepPauses(venue);
  venue.failing.clear();
  await clock.advance(5 * MINUTE_MS);
  const after = sweepPauses(venue).slice(before.length);
  for (const pauses of [before, after]) {
    const usual = pauses.filter((pause) => pause === MINUTE_MS).length;
    assert.ok(pauses.length - usual >= 10 && pauses.length - usual <= 16, String(pauses));
    assert.ok(usual >= 3 && pauses.slice(-usual).every((pause) => pause === MINUTE_MS), String(pauses));
  }
});

test("an internal error does not end the sweep loop", async () => {
  const { clock, venue, board, health, start } = openIngestWith("a");
  venue.failing.set("listOpenMarkets", new TypeError("internal error"));
  await start();
  assert.deepEqual(health(venue).report(0).drops, {});
  venue.failing.clear();
  await clock.advance(MINUTE_MS);
  assert.equal(board.size, 1);
});

test("`stop` ends every loop and the stream immediately, even during a request", async () => {
  const { clock, venue, start, stop } = openIngestWith("a");
  venue.responseMs = 10_000;
  await start();
  await clock.advance(5_000);
  await stop();
  const callsBefore = venue.calls.length;
  await clock.advance(HOUR_MS);
  assert.deepEqual([venue.calls.length, venue.isStreamClosed, clock.pending], [callsBefore, true, 0]);
});
