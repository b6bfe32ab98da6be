import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleMarket } from "../../test/support/markets/market-samples.ts";
import { openScriptedVenue } from "../../test/support/venues/ingest-harness.ts";
import { VenueError } from "../domain/errors.ts";
import { HOUR_MS, MINUTE_MS } from "../lib/durations.ts";

async function startVenue(profile: NonNullable<Parameters<typeof openScriptedVenue>[0]>["profile"] = {}) {
  const harness = openScriptedVenue({ profile });
  const { venue, clock } = harness;
  venue.setMarkets(sampleMarket("a"));
  await harness.start();
  const announce = (...marketIds: readonly string[]) => {
    for (const marketId of marketIds) venue.stream?.onMessage({ kind: "listed", marketId, receivedAt: clock.now() });
  };
  const reads = () => venue.callsOf("getMarkets").map(({ marketIds }) => marketIds);
  const drops = () => harness.health(venue).report(0).drops;
  return { ...harness, announce, reads, drops };
}

test("1,000 announced markets are on the board after 10 requests and 12 seconds", async () => {
  const { clock, venue, board, announce, reads } = await startVenue({ sweepPauseMs: HOUR_MS });
  const marketIds = Array.from({ length: 1_000 }, (_, number) => `m${number}`);
  for (const id of marketIds) venue.markets.set(id, sampleMarket(id));
  announce(...marketIds, "a");
  announce(...marketIds);
  await clock.advance(12_000);
  assert.equal(board.size, 1_001);
  assert.deepEqual([reads().length, venue.callsOf("findMarket").length], [10, 0]);
  await clock.advance(10 * MINUTE_MS);
  assert.equal(reads().length, 10);
});

test("an announced market is not requested if a sweep or a read of changes returns it before its request is due", async () => {
  const { clock, venue, market, announce, reads } = await startVenue({ changesPauseMs: 1_500, sweepPauseMs: 10_000 });
  venue.markets.set("changed", sampleMarket("changed"));
  venue.changed = ["changed"];
  announce("changed");
  await clock.advance(1_600);
  assert.ok(market("changed"));
  await clock.advance(7_000);
  venue.setMarkets(sampleMarket("swept"));
  announce("swept");
  await clock.advance(1_900);
  assert.ok(market("swept"));
  await clock.advance(MINUTE_MS);
  assert.deepEqual(reads(), []);
});

test("a market that the venue does not return is read 4 times at growing intervals, then counted as unread", async () => {
  const { clock, venue, announce, drops } = await startVenue({ sweepPauseMs: HOUR_MS });
  const startedAt = clock.now();
  announce("late");
  await clock.advance(10 * MINUTE_MS);
  const times = venue.callsOf("getMarkets").map(({ at }) => at - startedAt);
  assert.equal(times.length, 4);
  for (const [index, expected] of [2_000, 17_000, 77_000, 317_000].entries()) {
    const late = (times[index] ?? 0) - expected;
    assert.ok(late >= 0 && late <= 5_000, `read ${index + 1} at ${times[index]} ms`);
  }
  assert.deepEqual(drops(), { new_market_unread: 1 });
  venue.markets.set("late", sampleMarket("late"));
  announce("late");
  await clock.advance(3_000);
  assert.equal(venue.callsOf("getMarkets").length, 5);
});

test("a failed request is retried and does not prevent the reads of later markets", async () => {
  const { clock, venue, market, announce, drops } = await startVenue({ sweepPauseMs: HOUR_MS });
  for (const id of ["b", "c"]) venue.markets.set(id, sampleMarket(id));
  venue.failing.set("getMarkets", new VenueError("client_error", "bad id", { retryable: false }));
  announce("b");
  await clock.advance(2_500);
  venue.failing.clear();
  announce("c");
  await clock.advance(4_000);
  assert.deepEqual([market("b"), market("c")?.listing.marketId], [null, "c"]);
  await clock.advance(15_000);
  assert.equal(market("b")?.listing.marketId, "b");
  assert.deepEqual(drops(), { failed_client_error: 1 });
});

test("the queue of announced markets is bounded; further markets are counted as dropped", async () => {
  const { announce, drops } = await startVenue();
  announce(...Array.from({ length: 20_003 }, (_, number) => `m${number}`));
  assert.deepEqual(drops(), { announced_queue_full: 3 });
});
