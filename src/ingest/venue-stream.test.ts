import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_AT, sampleMarket } from "../../test/support/market-samples.ts";
import { type IngestHarness, openIngestHarness } from "../../test/support/venues/ingest-harness.ts";
import { ScriptedVenue } from "../../test/support/venues/scripted-venue.ts";
import { VenueError } from "../domain/errors.ts";
import type { StreamMessage } from "../ports/venue.ts";

async function started(
  options: ConstructorParameters<typeof ScriptedVenue>[2] = {},
): Promise<IngestHarness & { venue: ScriptedVenue; tell(message: StreamMessage): void }> {
  const bench = openIngestHarness((clock) => [new ScriptedVenue("alpha", clock, options)]);
  const [venue] = bench.venues;
  if (venue === undefined) throw new Error("a bench has a venue");
  venue.show(sampleMarket("a"), sampleMarket("b", { activity: { volume24hUsd: 9 } }));
  await bench.start();
  await bench.clock.advance(1_000);
  return { ...bench, venue, tell: (message) => venue.stream?.onMessage(message) };
}

const quote = (marketId: string, parts: object): StreamMessage => ({
  kind: "quote",
  marketId,
  quote: parts,
  receivedAt: SAMPLE_AT + 2_000,
});

test("a streamed quote reaches the board at once and the store as a tick", async () => {
  const { tell, ticks, market, stop } = await started();
  const before = ticks.ticks.length;
  tell(quote("a", { bid: 0.6, ask: 0.62, eventAt: SAMPLE_AT + 500 }));
  assert.equal(market("a")?.yesPrice, 0.61);
  const [tick, ...others] = ticks.ticks.slice(before);
  assert.deepEqual(
    [tick?.bid, tick?.eventAt, tick?.receivedAt, others.length],
    [0.6, SAMPLE_AT + 500, SAMPLE_AT + 2_000, 0],
  );
  tell(quote("a", { bid: 0.6, ask: 0.62, eventAt: SAMPLE_AT + 501 }));
  assert.equal(ticks.ticks.length, before + 1);
  await stop();
});

test("quotes that cannot be used are counted by reason and change nothing", async () => {
  const { tell, venue, health, market, stop } = await started();
  tell(quote("a", { bid: 0.5, ask: 0.52, eventAt: SAMPLE_AT + 500 }));
  tell(quote("a", { bid: 0.1, ask: 0.12, eventAt: SAMPLE_AT + 499 }));
  tell(quote("a", { bid: 0.9, eventAt: SAMPLE_AT + 600 }));
  tell(quote("unknown", { bid: 0.9 }));
  tell({
    kind: "trade",
    marketId: "unknown",
    trade: { tradeId: "t", executedAt: SAMPLE_AT, yesPrice: 0.5, size: 1, takerSide: null },
    receivedAt: SAMPLE_AT,
  });
  assert.equal(market("a")?.quote.bid, 0.5);
  assert.deepEqual(health(venue).report(0).drops, { out_of_order: 1, crossed_book: 1, unknown_market: 2 });
  await stop();
});

test("a streamed trade becomes the last price and is stored once, however often it is told", async () => {
  const { clock, tell, store, market, stop } = await started();
  const trade = { tradeId: "t1", executedAt: SAMPLE_AT + 900, yesPrice: 0.7, size: 5, takerSide: "yes" as const };
  tell({ kind: "trade", marketId: "a", trade, receivedAt: SAMPLE_AT + 1_000 });
  tell({ kind: "trade", marketId: "a", trade, receivedAt: SAMPLE_AT + 1_000 });
  assert.equal(market("a")?.quote.lastPrice, 0.7);
  await clock.advance(1_000);
  assert.deepEqual([...store.trades.keys()], ["1/t1"]);
  await stop();
});

test("a market that the stream lists is read at once; a known one is not, and a failure is only counted", async () => {
  const { clock, tell, venue, health, market, stop } = await started();
  venue.markets.set("new", sampleMarket("new"));
  const listed = (marketId: string) => tell({ kind: "listed", marketId, receivedAt: clock.now() });
  listed("new");
  listed("a");
  await clock.settle();
  assert.ok(market("new"));
  venue.failing.set("findMarket", new VenueError("timeout", "no answer", { retryable: true }));
  listed("other");
  await clock.settle();
  assert.deepEqual(
    venue.asked("findMarket").map(({ marketIds }) => marketIds[0]),
    ["new", "other"],
  );
  assert.equal(health(venue).report(0).drops.new_market_unread, 1);
  await stop();
});

test("the stream follows the most traded open markets, as many as it can carry, and follows their changes", async () => {
  const { clock, venue, stop } = await started({ profile: { streamMarketsMax: 1 } });
  await clock.advance(5_000);
  assert.deepEqual(venue.followed, ["b"]);
  venue.show(sampleMarket("a", { activity: { volume24hUsd: 99 } }));
  await clock.advance(66_000);
  assert.deepEqual(venue.followed, ["a"]);
  await stop();
});

test("health tells whether the stream is up, down, or not there at all", async () => {
  const { venue, health, stop } = await started();
  const state = () => health(venue).report(0).stream;
  assert.equal(state(), "down");
  venue.stream?.onUp();
  assert.equal(state(), "up");
  venue.stream?.onDown("closed by peer");
  assert.equal(state(), "down");
  await stop();
  const without = await started({ hasStream: false });
  assert.equal(without.health(without.venue).report(0).stream, "none");
  await without.stop();
});

test("a venue that speaks by its stream is alive, even when nothing else is asked", async () => {
  const { clock, tell, venue, health, stop } = await started({
    profile: { sweepPauseMs: 3_600_000, staleAfterMs: 10_000 },
  });
  await clock.advance(5_000);
  venue.failing.set("listTrades", new VenueError("timeout", "no answer", { retryable: true }));
  venue.failing.set("getHistory", new VenueError("timeout", "no answer", { retryable: true }));
  await clock.advance(60_000);
  assert.notEqual(health(venue).report(0).status, "ok");
  tell(quote("a", { bid: 0.41 }));
  assert.equal(health(venue).report(0).status, "ok");
  await stop();
});

test("a time that has yet to come is not believed: what follows is not old", async () => {
  const { tell, venue, health, market, stop } = await started();
  tell(quote("a", { bid: 0.5, ask: 0.52, eventAt: SAMPLE_AT + 600_000 }));
  tell(quote("a", { bid: 0.6, ask: 0.62, eventAt: SAMPLE_AT + 1_500 }));
  assert.deepEqual([market("a")?.quote.bid, market("a")?.quote.eventAt], [0.6, SAMPLE_AT + 1_500]);
  assert.deepEqual(health(venue).report(0).drops, { time_ahead: 1 });
  await stop();
});

test("a stream that was away is counted, and what it may have told meanwhile is read at once", async () => {
  const { clock, venue, health, stop } = await started();
  const sweeps = () => venue.asked("listOpenMarkets").length;
  venue.stream?.onUp();
  await clock.advance(5_000);
  assert.equal(sweeps(), 1);
  venue.stream?.onDown("reset");
  await clock.advance(1_000);
  assert.equal(sweeps(), 2);
  venue.stream?.onUp();
  await clock.advance(1_000);
  assert.equal(sweeps(), 3);
  // Now and then for half a minute, and as usual from then on.
  await clock.advance(31_000);
  const soon = sweeps();
  assert.ok(soon >= 12 && soon <= 16, String(soon));
  await clock.advance(55_000);
  assert.equal(sweeps(), soon);
  assert.deepEqual(health(venue).report(0).drops, { stream_down: 1 });
  await stop();
});
