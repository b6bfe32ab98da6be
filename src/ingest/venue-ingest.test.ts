import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_AT, sampleChildren, sampleEvent, sampleMarket } from "../../test/support/markets/market-samples.ts";
import { intervalsBetween, openIngestWith, openScriptedVenue } from "../../test/support/venues/ingest-harness.ts";
import type { ScriptedVenue } from "../../test/support/venues/scripted-venue.ts";
import type { MarketListing } from "../domain/market.ts";
import { HOUR_MS, MINUTE_MS } from "../lib/durations.ts";

/** Returns the market ids of each individual read. */
const readsOf = (venue: ScriptedVenue) => venue.callsOf("getMarkets").map(({ marketIds }) => marketIds);
const withListing = (id: string, listing: Partial<MarketListing>) => sampleMarket(id, { listing });

test("a sweep adds its markets to the board page by page, and to the store within a second", async () => {
  const { clock, venue, board, store, ticks, health, start } = openIngestWith("a", "b", "c");
  venue.pages = [["a", "b"], ["c"]];
  await start();
  assert.equal(board.size, 3);
  assert.deepEqual(health(venue).report(0).sweep, { rows: 3, total: 3, completed: 1, incomplete: 0 });
  await clock.advance(1_000);
  assert.deepEqual([...store.stored.keys()], ["alpha/a", "alpha/b", "alpha/c"]);
  assert.deepEqual(
    ticks.ticks.map(({ marketKey }) => marketKey),
    [1, 2, 3],
  );
});

test("the next sweep starts one pause after the end of the previous sweep", async () => {
  const { clock, venue, start } = openIngestWith("a");
  venue.responseMs = 500;
  await start();
  await clock.advance(3 * MINUTE_MS);
  const [first, ...others] = intervalsBetween(venue.callsOf("listOpenMarkets").map(({ at }) => at));
  assert.equal(first, MINUTE_MS + 1_000);
  assert.ok(others.every((gap) => gap === first));
});

test("the pause after a long sweep is twice as long as the sweep", async () => {
  const { clock, venue, start } = openIngestWith("a");
  venue.responseMs = MINUTE_MS;
  await start();
  await clock.advance(20 * MINUTE_MS);
  const [first] = intervalsBetween(venue.callsOf("listOpenMarkets").map(({ at }) => at));
  assert.equal(first, 2 * MINUTE_MS + 4 * MINUTE_MS);
});

test("polls active markets in order of volume if sweeps are less frequent than polls and the stream is not up", async () => {
  const profile = { activePollMs: 5_000, sweepPauseMs: 4_000, streamMarketsMax: 1 };
  const { clock, venue, start } = openScriptedVenue({ profile });
  venue.setMarkets(sampleMarket("a"), sampleMarket("b", { activity: { volume24hUsd: 5 } }));
  await start();
  await clock.advance(30_000);
  assert.deepEqual(readsOf(venue), []);
  venue.responseMs = 4_000;
  await clock.advance(60_000);
  const polls = readsOf(venue);
  assert.ok(polls.length >= 1 && polls.every((marketIds) => marketIds.join() === "b,a"));
  venue.stream?.onUp();
  await clock.advance(20_000);
  const before = readsOf(venue).length;
  await clock.advance(60_000);
  assert.equal(readsOf(venue).length, before);
});

test("polls active markets if sweeps are fast but rare", async () => {
  const { clock, venue, start } = openScriptedVenue({ profile: { activePollMs: 5_000, sweepPauseMs: HOUR_MS } });
  venue.setMarkets(sampleMarket("a"));
  await start();
  await clock.advance(MINUTE_MS);
  assert.equal(readsOf(venue).length, 12);
});

test("an incomplete sweep keeps the markets on the board, counts none as missing and is repeated", async () => {
  const { clock, venue, board, health, start } = openIngestWith("a", "b");
  await start();
  venue.pages = [["a"]];
  venue.incompleteReason = "page_loop";
  await clock.advance(5 * MINUTE_MS);
  assert.deepEqual(health(venue).report(0).sweep, { rows: 1, total: 2, completed: 1, incomplete: 5 });
  assert.deepEqual(readsOf(venue), []);
  assert.equal(board.size, 2);
  venue.incompleteReason = null;
  await clock.advance(2 * MINUTE_MS + 1_000);
  assert.deepEqual(readsOf(venue), [["b"]]);
});

test("an incomplete first sweep settles the venue", async () => {
  const { venue, health, start } = openIngestWith("a");
  venue.incompleteReason = "page_short";
  await start();
  assert.equal(health(venue).isSettled, true);
  assert.equal(health(venue).report(0).status, "ok");
});

test("a sweep with less than half of the previous sweep's markets is incomplete; a second sweep of that size is complete", async () => {
  const ids = Array.from({ length: 40 }, (_, index) => `m${index}`);
  const { clock, venue, health, start } = openIngestWith(...ids);
  await start();
  venue.pages = [ids.slice(0, 19)];
  await clock.advance(MINUTE_MS);
  const report = () => health(venue).report(0);
  assert.deepEqual([report().sweep.completed, report().sweep.incomplete, report().drops], [1, 1, { sweep_shrunk: 1 }]);
  await clock.advance(MINUTE_MS);
  assert.deepEqual([report().sweep.completed, report().sweep.incomplete], [2, 1]);
});

test("reads a market individually after it is missing from two consecutive sweeps", async () => {
  const { clock, venue, start } = openIngestWith("a", "b");
  await start();
  venue.pages = [["a"]];
  await clock.advance(MINUTE_MS + 2_000);
  assert.deepEqual(readsOf(venue), []);
  venue.pages = [["a", "b"]];
  await clock.advance(MINUTE_MS);
  venue.pages = [["a"]];
  await clock.advance(MINUTE_MS);
  assert.deepEqual(readsOf(venue), []);
  await clock.advance(MINUTE_MS);
  assert.deepEqual(readsOf(venue), [["b"]]);
});

test("reads a market individually after one sweep that lists its event with a market count, but not the market", async () => {
  const { clock, venue, start } = openScriptedVenue();
  for (const id of ["a", "b", "c", "d"]) venue.setMarkets(withListing(id, { eventId: id < "c" ? "counted" : "other" }));
  venue.events = [sampleEvent("counted", { children: sampleChildren(2) }), sampleEvent("other")];
  await start();
  venue.pages = [["a", "c"]];
  await clock.advance(MINUTE_MS + 2_000);
  assert.deepEqual(readsOf(venue), [["b"]]);
});

test("reads a market individually after it is missing from one sweep if sweeps are rare", async () => {
  const { clock, venue, start } = openScriptedVenue({ profile: { sweepPauseMs: 10 * MINUTE_MS } });
  venue.setMarkets(sampleMarket("a"), sampleMarket("b"));
  await start();
  venue.pages = [["a"]];
  await clock.advance(10 * MINUTE_MS + 2_000);
  assert.deepEqual(readsOf(venue), [["b"]]);
});

test("detects a market that settled between sweeps with one individual read", async () => {
  const { clock, venue, market, statusChanges, start } = openIngestWith("a", "b");
  await start();
  venue.setMarkets(withListing("b", { status: "finalized", outcome: { kind: "yes" } }));
  await clock.advance(2 * MINUTE_MS + 2_000);
  assert.deepEqual(market("b")?.listing.outcome, { kind: "yes" });
  assert.deepEqual(statusChanges(), ["active to finalized"]);
  await clock.advance(30 * MINUTE_MS);
  assert.equal(readsOf(venue).length, 1);
});

test("reads a market once per sweep if its venue no longer has it", async () => {
  const { clock, venue, start } = openIngestWith("a", "b");
  await start();
  venue.markets.delete("b");
  venue.pages = [["a"]];
  await clock.advance(12 * MINUTE_MS);
  const reads = readsOf(venue).length;
  assert.ok(reads >= 10 && reads <= 12, String(reads));
});

test("reads a market at its close, then at growing intervals until it is finalized", async () => {
  const { clock, venue, market, start } = openIngestWith();
  const closeAt = SAMPLE_AT + 5 * MINUTE_MS;
  venue.setMarkets(withListing("a", { closeAt }));
  await start();
  await clock.advance(5 * MINUTE_MS - 1);
  assert.deepEqual(readsOf(venue), []);
  venue.setMarkets(withListing("a", { closeAt, status: "closed" }));
  await clock.advance(HOUR_MS);
  const times = venue.callsOf("getMarkets").map(({ at }) => at - closeAt);
  assert.ok((times[0] ?? -1) >= 0 && (times[0] ?? -1) <= 1_000, String(times[0]));
  const pauses = intervalsBetween(times);
  assert.ok(
    pauses.every((pause, index) => pause >= Math.max(15_000, (pauses[index - 1] ?? 0) - 1_000)),
    String(pauses),
  );
  assert.ok((pauses.at(-1) ?? 0) >= 4 * MINUTE_MS, String(pauses));

  venue.setMarkets(withListing("a", { closeAt, status: "finalized", outcome: { kind: "no" } }));
  await clock.advance(7 * MINUTE_MS);
  assert.equal(market("a")?.listing.status, "finalized");
  const readsBefore = readsOf(venue).length;
  await clock.advance(HOUR_MS);
  assert.equal(readsOf(venue).length, readsBefore);
});

test("reads a market once an hour after days without a result, even if it is listed as open", async () => {
  for (const status of ["active", "determined"] as const) {
    const { clock, venue, board, start } = openIngestWith();
    const waiting = withListing("a", { status, closeAt: SAMPLE_AT - 100 * HOUR_MS });
    board.restore(waiting, 1);
    venue.markets.set("a", waiting);
    venue.pages = [status === "active" ? ["a"] : []];
    await start();
    await clock.advance(HOUR_MS + 2_000);
    const reads = readsOf(venue).length;
    assert.ok(reads <= 1, `${status}: ${reads}`);
  }
});

test("a market reported as changed long after its published close is read within 1 s, and again within 20 s", async () => {
  const { clock, venue, market, start } = openIngestWith();
  const closeAt = SAMPLE_AT - 100 * HOUR_MS;
  venue.setMarkets(withListing("a", { closeAt }));
  venue.pages = [["a"]];
  await start();
  venue.setMarkets(withListing("a", { closeAt, status: "determined" }));
  venue.stream?.onMessage({ kind: "changed", marketId: "a", receivedAt: clock.now() });
  await clock.advance(1_000);
  assert.equal(market("a")?.listing.status, "determined");
  venue.setMarkets(withListing("a", { closeAt, status: "finalized", outcome: { kind: "yes" } }));
  await clock.advance(20_000);
  assert.equal(market("a")?.listing.status, "finalized");
});

test("reads a market at its opening, and every 15 s for a minute if the venue opens it late", async () => {
  const { clock, venue, market, start } = openScriptedVenue({ profile: { sweepPauseMs: 24 * HOUR_MS } });
  const openAt = SAMPLE_AT + 5 * MINUTE_MS;
  const closeAt = openAt + 15 * MINUTE_MS;
  venue.setMarkets(withListing("a", { status: "pending", openAt, closeAt }));
  venue.pages = [["a"]];
  await start();
  await clock.advance(5 * MINUTE_MS - 1);
  assert.deepEqual([readsOf(venue), market("a")?.listing.status], [[], "pending"]);
  await clock.advance(40_000);
  assert.equal(readsOf(venue).length, 3);
  venue.setMarkets(withListing("a", { openAt, closeAt }));
  await clock.advance(20_000);
  assert.equal(market("a")?.listing.status, "active");
  venue.setMarkets(withListing("a", { status: "pending", openAt, closeAt }));
  venue.stream?.onMessage({ kind: "changed", marketId: "a", receivedAt: clock.now() });
  await clock.advance(MINUTE_MS);
  const readsBefore = readsOf(venue).length;
  assert.ok(readsBefore <= 7, String(readsBefore));
  await clock.advance(12 * MINUTE_MS);
  assert.equal(readsOf(venue).length, readsBefore);
});

test("schedules the read at a distant close when a sweep finds the close within 6 hours", async () => {
  const { clock, venue, start } = openIngestWith();
  venue.setMarkets(withListing("a", { closeAt: SAMPLE_AT + 10 * HOUR_MS }));
  await start();
  clock.jumpWallClock(10 * HOUR_MS - 5 * MINUTE_MS);
  await clock.advance(5 * MINUTE_MS - 1);
  assert.deepEqual(readsOf(venue), []);
  await clock.advance(17_000);
  assert.equal(readsOf(venue).length, 1);
});

test("records a reverted result as a status change and continues to read the market", async () => {
  const { clock, venue, market, statusChanges, start } = openIngestWith("a");
  await start();
  venue.setMarkets(withListing("a", { status: "finalized", outcome: { kind: "yes" } }));
  venue.stream?.onMessage({ kind: "changed", marketId: "a", receivedAt: clock.now() });
  await clock.advance(1_000);
  assert.equal(market("a")?.listing.status, "finalized");
  venue.setMarkets(withListing("a", { status: "active", outcome: null }));
  await clock.advance(MINUTE_MS + 1_000);
  assert.deepEqual([market("a")?.listing.status, market("a")?.listing.outcome], ["active", null]);
  assert.deepEqual(statusChanges(), ["active to finalized", "finalized to active"]);
});

test("after a restart, reads the restored markets that await a result", async () => {
  const { clock, venue, board, market, start } = openIngestWith();
  const waiting = { status: "determined", closeAt: SAMPLE_AT - HOUR_MS } as const;
  board.restore(withListing("a", waiting), 1);
  board.restore(withListing("old", { status: "finalized" }), 2);
  venue.setMarkets(withListing("a", { ...waiting, status: "finalized", outcome: { kind: "yes" } }));
  await start();
  await clock.advance(10 * MINUTE_MS);
  assert.equal(market("a")?.listing.status, "finalized");
  assert.deepEqual(readsOf(venue), [["a"]]);
});

test("reads a market once if the stream reports it as changed", async () => {
  const { clock, venue, start } = openIngestWith("a");
  await start();
  venue.stream?.onMessage({ kind: "changed", marketId: "a", receivedAt: clock.now() });
  venue.stream?.onMessage({ kind: "changed", marketId: "unknown", receivedAt: clock.now() });
  await clock.advance(10 * MINUTE_MS);
  assert.deepEqual(readsOf(venue), [["a"]]);
});
