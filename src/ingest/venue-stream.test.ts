import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_AT, sampleMarket } from "../../test/support/markets/market-samples.ts";
import { openScriptedVenue } from "../../test/support/venues/ingest-harness.ts";
import { VenueError } from "../domain/errors.ts";
import { HOUR_MS } from "../lib/durations.ts";
import type { StreamMessage } from "../ports/venue.ts";

async function startVenue(options?: Parameters<typeof openScriptedVenue>[0]) {
  const harness = openScriptedVenue(options);
  harness.venue.setMarkets(sampleMarket("a"), sampleMarket("b", { activity: { volume24hUsd: 9 } }));
  await harness.start();
  await harness.clock.advance(1_000);
  return { ...harness, send: (message: StreamMessage) => harness.venue.stream?.onMessage(message) };
}

const quote = (marketId: string, parts: object): StreamMessage => ({
  kind: "quote",
  marketId,
  quote: parts,
  receivedAt: SAMPLE_AT + 2_000,
});

test("a streamed quote updates the board immediately and writes a tick", async () => {
  const { send, ticks, market } = await startVenue();
  const before = ticks.ticks.length;
  send(quote("a", { bid: 0.6, ask: 0.62, eventAt: SAMPLE_AT + 500 }));
  assert.equal(market("a")?.yesPrice, 0.61);
  const [tick, ...others] = ticks.ticks.slice(before);
  assert.deepEqual(
    [tick?.bid, tick?.eventAt, tick?.receivedAt, others.length],
    [0.6, SAMPLE_AT + 500, SAMPLE_AT + 2_000, 0],
  );
  send(quote("a", { bid: 0.6, ask: 0.62, eventAt: SAMPLE_AT + 501 }));
  assert.equal(ticks.ticks.length, before + 1);
});

test("unusable messages are counted by reason and do not change the board", async () => {
  const { send, venue, health, market } = await startVenue();
  send(quote("a", { bid: 0.5, ask: 0.52, eventAt: SAMPLE_AT + 500 }));
  send(quote("a", { bid: 0.1, ask: 0.12, eventAt: SAMPLE_AT + 499 }));
  send(quote("a", { bid: 0.9, eventAt: SAMPLE_AT + 600 }));
  send(quote("unknown", { bid: 0.9 }));
  send({
    kind: "trade",
    marketId: "unknown",
    trade: { tradeId: "t", executedAt: SAMPLE_AT, yesPrice: 0.5, size: 1, takerSide: null },
    receivedAt: SAMPLE_AT,
  });
  assert.equal(market("a")?.quote.bid, 0.5);
  assert.deepEqual(health(venue).report(0).drops, { out_of_order: 1, crossed_book: 1, unknown_market: 2 });
});

test("a streamed trade sets the last price and is stored once, even if it is sent twice", async () => {
  const { clock, send, store, market } = await startVenue();
  const trade = { tradeId: "t1", executedAt: SAMPLE_AT + 900, yesPrice: 0.7, size: 5, takerSide: "yes" as const };
  send({ kind: "trade", marketId: "a", trade, receivedAt: SAMPLE_AT + 1_000 });
  send({ kind: "trade", marketId: "a", trade, receivedAt: SAMPLE_AT + 1_000 });
  assert.equal(market("a")?.quote.lastPrice, 0.7);
  await clock.advance(1_000);
  assert.deepEqual([...store.trades.keys()], ["1/t1"]);
});

test("subscribes to the most traded markets up to the stream's limit, and updates the subscription as volumes change", async () => {
  const { clock, venue } = await startVenue({ profile: { streamMarketsMax: 1 } });
  await clock.advance(5_000);
  assert.deepEqual(venue.followed, ["b"]);
  venue.setMarkets(sampleMarket("a", { activity: { volume24hUsd: 99 } }));
  await clock.advance(66_000);
  assert.deepEqual(venue.followed, ["a"]);
});

test("health reports whether the stream is up, down or not available", async () => {
  const { venue, health } = await startVenue();
  const state = () => health(venue).report(0).stream;
  assert.equal(state(), "down");
  venue.stream?.onUp();
  assert.equal(state(), "up");
  venue.stream?.onDown("closed by peer");
  assert.equal(state(), "down");
  const without = await startVenue({ hasStream: false });
  assert.equal(without.health(without.venue).report(0).stream, "none");
});

test("a stream message sets the venue's status back to ok although requests still fail", async () => {
  const { clock, send, venue, health } = await startVenue({
    profile: { sweepPauseMs: HOUR_MS, staleAfterMs: 10_000 },
  });
  await clock.advance(5_000);
  venue.failing.set("listTrades", new VenueError("timeout", "no response", { retryable: true }));
  venue.failing.set("getHistory", new VenueError("timeout", "no response", { retryable: true }));
  await clock.advance(60_000);
  assert.notEqual(health(venue).report(0).status, "ok");
  send(quote("a", { bid: 0.41 }));
  assert.equal(health(venue).report(0).status, "ok");
});

test("ignores a timestamp in the future and accepts subsequent quotes", async () => {
  const { send, venue, health, market } = await startVenue();
  send(quote("a", { bid: 0.5, ask: 0.52, eventAt: SAMPLE_AT + 600_000 }));
  send(quote("a", { bid: 0.6, ask: 0.62, eventAt: SAMPLE_AT + 1_500 }));
  assert.deepEqual([market("a")?.quote.bid, market("a")?.quote.eventAt], [0.6, SAMPLE_AT + 1_500]);
  assert.deepEqual(health(venue).report(0).drops, { time_ahead: 1 });
});

test("counts a stream disconnection and sweeps immediately to replace the lost messages", async () => {
  const { clock, venue, health } = await startVenue();
  const sweeps = () => venue.callsOf("listOpenMarkets").length;
  venue.stream?.onUp();
  await clock.advance(5_000);
  assert.equal(sweeps(), 1);
  venue.stream?.onDown("reset");
  await clock.advance(1_000);
  assert.equal(sweeps(), 2);
  venue.stream?.onUp();
  await clock.advance(1_000);
  assert.equal(sweeps(), 3);
  // Sweeps are frequent for 30 seconds, then the usual pause applies.
  await clock.advance(31_000);
  const frequent = sweeps();
  assert.ok(frequent >= 12 && frequent <= 16, String(frequent));
  await clock.advance(55_000);
  assert.equal(sweeps(), frequent);
  assert.deepEqual(health(venue).report(0).drops, { stream_down: 1 });
});
