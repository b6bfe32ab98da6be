import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "../../test/support/markets/market-samples.ts";
import { intervalsBetween, openScriptedVenue } from "../../test/support/venues/ingest-harness.ts";
import { VenueError } from "../domain/errors.ts";
import { MINUTE_MS } from "../lib/durations.ts";

const PAUSE_MS = 10_000;
const OVERLAP_MS = 30_000;

/** Starts a venue with the markets "a" and "b", an hour between sweeps and ten seconds between reads of the changes. */
async function startVenue() {
  const harness = openScriptedVenue({ profile: { sweepPauseMs: 60 * MINUTE_MS, changesPauseMs: PAUSE_MS } });
  const { venue } = harness;
  venue.setMarkets(sampleMarket("a"), sampleMarket("b"));
  /** Changes a market without listing it, so that only a read of the changes returns it. */
  const change = (id: string, parts: SampleParts = {}) => {
    venue.markets.set(id, sampleMarket(id, parts));
    venue.changed = [id];
  };
  const reads = () => venue.callsOf("listChangedMarkets");
  const sweeps = () => venue.callsOf("listOpenMarkets");
  return { ...harness, change, reads, sweeps };
}

test("new, changed and settled markets are on the board one pause after the change, without a sweep", async () => {
  const { clock, start, change, market, sweeps, statusChanges, storeWriter } = await startVenue();
  await start();
  change("new", { quote: { bid: 0.6, ask: 0.62 } });
  await clock.advance(PAUSE_MS);
  assert.equal(market("new")?.yesPrice, 0.61);
  change("a", { listing: { closeAt: SAMPLE_AT + 60 * MINUTE_MS } });
  await clock.advance(PAUSE_MS);
  assert.equal(market("a")?.listing.closeAt, SAMPLE_AT + 60 * MINUTE_MS);
  change("b", { listing: { status: "finalized", outcome: { kind: "yes" } } });
  await clock.advance(PAUSE_MS);
  assert.deepEqual(market("b")?.listing.outcome, { kind: "yes" });
  await storeWriter.flush();
  assert.deepEqual(statusChanges(), ["active to finalized"]);
  assert.equal(sweeps().length, 1);
});

test("each read starts 30 s before the last complete read or sweep", async () => {
  const { clock, venue, start, reads } = await startVenue();
  await start();
  await clock.advance(3 * PAUSE_MS);
  const [first, ...others] = reads();
  assert.equal(first?.sinceMs, SAMPLE_AT - OVERLAP_MS);
  assert.ok(others.length >= 2);
  for (const [index, read] of others.entries()) assert.equal(read.sinceMs, (reads()[index]?.at ?? 0) - OVERLAP_MS);

  venue.incompleteReason = "page_limit";
  await clock.advance(3 * PAUSE_MS);
  const repeated = reads().slice(-2);
  assert.equal(repeated[0]?.sinceMs, repeated[1]?.sinceMs);
  venue.incompleteReason = null;
  venue.stream?.onUp();
  venue.stream?.onDown("closed by peer");
  await clock.advance(2 * PAUSE_MS);
  const sweptAt = venue.callsOf("listOpenMarkets")[1]?.at ?? 0;
  assert.ok((repeated[1]?.sinceMs ?? 0) < sweptAt - OVERLAP_MS);
  assert.ok((reads().at(-1)?.sinceMs ?? 0) >= sweptAt - OVERLAP_MS);
});

test("after our clock is set back, a read starts 30 s before the current time", async () => {
  const { clock, start, reads } = await startVenue();
  await start();
  await clock.advance(3 * PAUSE_MS);
  clock.jumpWallClock(-60 * MINUTE_MS);
  await clock.advance(PAUSE_MS);
  const { at = 0, sinceMs } = reads().at(-1) ?? {};
  assert.equal(sinceMs, at - OVERLAP_MS);
});

test("a failed read is repeated from the same time after the venue recovers", async () => {
  const { clock, venue, start, reads, market, change } = await startVenue();
  await start();
  await clock.advance(PAUSE_MS);
  const lastRead = reads().at(-1);
  venue.failing.set("listChangedMarkets", new VenueError("timeout", "no response", { retryable: true }));
  await clock.advance(2 * MINUTE_MS);
  const { sinceMs } = reads().at(-1) ?? {};
  assert.ok(sinceMs !== undefined && sinceMs >= (lastRead?.at ?? 0) - OVERLAP_MS);
  venue.failing.clear();
  change("new");
  await clock.advance(MINUTE_MS);
  assert.ok(market("new"));
});

test("a venue that refuses to list changes stays healthy, and is not swept more often", async () => {
  const { clock, venue, start, health, reads, sweeps } = await startVenue();
  venue.failing.set("listChangedMarkets", new VenueError("client_error", "unknown parameter", { retryable: false }));
  await start();
  await clock.advance(5 * MINUTE_MS);
  const { status, drops } = health(venue).report(0);
  assert.deepEqual([status, drops], ["ok", { changes_unavailable: reads().length }]);
  assert.ok(reads().length >= 29);
  assert.equal(sweeps().length, 1);
});

test("changes are not read before the first sweep has ended", async () => {
  const { clock, venue, start, reads } = await startVenue();
  venue.responseMs = MINUTE_MS;
  await start();
  await clock.advance(2 * MINUTE_MS - 1);
  assert.deepEqual(reads(), []);
  await clock.advance(2 * PAUSE_MS);
  assert.equal(reads()[0]?.sinceMs, SAMPLE_AT - OVERLAP_MS);
});

test("a settled market that was never on the board is not added to it", async () => {
  const { clock, start, change, market } = await startVenue();
  await start();
  change("old", { listing: { status: "finalized", outcome: { kind: "no" } } });
  await clock.advance(2 * PAUSE_MS);
  assert.equal(market("old"), null);
});

test("the pause between sweeps grows with the number of markets, up to 30 minutes", async () => {
  for (const [perSecond, pauseMs] of [
    [100, MINUTE_MS],
    [0.2, 200_000],
    [0.001, 30 * MINUTE_MS],
  ] as const) {
    const { clock, venue, start } = openScriptedVenue({ profile: { sweepMarketsPerSecond: perSecond } });
    venue.setMarkets(...Array.from({ length: 40 }, (_, number) => sampleMarket(`m${number}`)));
    await start();
    await clock.advance(pauseMs + 1_000);
    const [first] = intervalsBetween(venue.callsOf("listOpenMarkets").map(({ at }) => at));
    assert.equal(first, pauseMs);
  }
});

test("a long pause between sweeps ends when messages are lost", async () => {
  const { clock, venue, start, sweeps } = await startVenue();
  await start();
  await clock.advance(5 * MINUTE_MS);
  assert.equal(sweeps().length, 1);
  venue.stream?.onUp();
  venue.stream?.onDown("closed by peer");
  await clock.advance(1_000);
  assert.equal(sweeps().length, 2);
});
