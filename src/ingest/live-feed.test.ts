import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_AT, sampleMarket } from "../../test/support/markets/market-samples.ts";
import { openIngestWith, openScriptedVenue } from "../../test/support/venues/ingest-harness.ts";
import { VenueError } from "../domain/errors.ts";
import type { Trade } from "../domain/trade.ts";
import { MINUTE_MS } from "../lib/durations.ts";
import type { VenueProfile } from "../ports/venue.ts";
import type { LiveObserver } from "./live-feed.ts";

const tradeAt = (executedAt: number, tradeId = `t${executedAt}`, size = 10): Trade => ({
  tradeId,
  executedAt,
  yesPrice: 0.5,
  size,
  takerSide: "yes",
});

/** Creates an observer that records its calls as text. `onPrice` returns `confirms`. */
function recordingObserver(requestTakers: (marketId: string) => void = () => {}) {
  const lines: string[] = [];
  const observer: LiveObserver & { readonly lines: string[]; confirms: boolean } = {
    lines,
    confirms: false,
    onStart: (venue) => lines.push(`start ${venue}`),
    onPrice({ listing, yesPrice }, previous, at) {
      lines.push(`${listing.marketId} ${previous?.yesPrice ?? "new"} to ${yesPrice} at ${at - SAMPLE_AT}`);
      return this.confirms;
    },
    onTrade({ listing }, { tradeId, size, taker }, isRepeated) {
      const by = taker === undefined ? "" : ` by ${taker}`;
      lines.push(`${listing.marketId} ${isRepeated ? "again" : "trade"} ${tradeId} of ${size}${by}`);
      requestTakers(listing.marketId);
    },
  };
  return observer;
}

const quoteOf = (bid: number, ask: number) => ({ bid, ask, eventAt: null });

async function openFeed() {
  const harness = openIngestWith("m");
  const observer = recordingObserver();
  harness.live.observe(observer);
  await harness.start();
  const { venue, clock } = harness;
  const stream = (message: Parameters<NonNullable<typeof venue.stream>["onMessage"]>[0]) =>
    venue.stream?.onMessage(message);
  const quote = (bid: number, ask: number) =>
    stream({ kind: "quote", marketId: "m", quote: quoteOf(bid, ask), receivedAt: clock.now() });
  observer.lines.splice(0);
  return { ...harness, observer, stream, quote };
}

test("a changed price is reported once, whether it came from a stream or from a sweep", async () => {
  const { venue, clock, observer, quote } = await openFeed();
  await clock.advance(1_000);
  quote(0.6, 0.62);
  quote(0.6, 0.62);
  assert.deepEqual(observer.lines.splice(0), ["m 0.41 to 0.61 at 1000"]);
  venue.setMarkets(sampleMarket("m", { quote: { bid: 0.7, ask: 0.72 } }));
  await clock.advance(2 * MINUTE_MS);
  assert.equal(observer.lines.length, 1);
  assert.match(observer.lines[0] ?? "", /^m 0.61 to 0.71 at /);
});

test("a price that must be confirmed is requested again, and is reported even if it is unchanged", async () => {
  const { venue, clock, observer, quote } = await openFeed();
  venue.setMarkets(sampleMarket("m", { quote: { bid: 0.6, ask: 0.62 } }));
  observer.confirms = true;
  await clock.advance(1_000);
  quote(0.6, 0.62);
  observer.confirms = false;
  const reads = venue.callsOf("getMarkets").length;
  await clock.advance(2_000);
  assert.equal(venue.callsOf("getMarkets").length, reads + 1);
  assert.equal(observer.lines.length, 2);
  assert.match(observer.lines[1] ?? "", /^m 0.61 to 0.61 at/);
});

test("a trade is reported once, and once more each time its size grows", async () => {
  const { venue, clock, observer, stream } = await openFeed();
  await clock.advance(1_000);
  const at = clock.now();
  const trade = (size: number) =>
    stream({ kind: "trade", marketId: "m", trade: tradeAt(at, "a", size), receivedAt: at });
  trade(10);
  trade(10);
  trade(25);
  trade(10);
  venue.trades.set("m", [tradeAt(at, "a", 25)]);
  await clock.advance(MINUTE_MS);
  assert.deepEqual(
    observer.lines.filter((line) => line.includes(" a of")),
    ["m trade a of 10", "m again a of 25"],
  );
});

test("a streamed trade is reported once more when the trade list contains its taker", async () => {
  const { live, market, clock, observer } = await openFeed();
  const entry = market("m");
  assert.ok(entry !== null);
  const trade = tradeAt(clock.now(), "a", 25);
  for (const each of [trade, { ...trade, taker: "x", size: 20 }, trade, { ...trade, taker: "x" }])
    live.reportTrades(entry, [each]);
  live.reportTrades(entry, [{ ...trade, size: 30 }]);
  assert.deepEqual(observer.lines, ["m trade a of 25", "m again a of 25 by x", "m again a of 30 by x"]);
});

/** Opens a venue whose observer requests the takers of every trade after `isRequesting` is set. */
function openRequestingVenue(profile: Partial<VenueProfile>) {
  const harness = openScriptedVenue({ profile });
  const state = { isRequesting: false };
  harness.live.observe(
    recordingObserver((marketId) => {
      if (state.isRequesting) harness.requestTakers(marketId);
    }),
  );
  return { ...harness, state };
}

/** Share of a market's trade lists among all that are read while the takers of its streamed trades are requested. */
async function shareOfReads(takersFromTrades: boolean): Promise<number> {
  const { venue, clock, start, state } = openRequestingVenue({ takersFromTrades });
  venue.setMarkets(
    ...["large", "small", "m"].map((id, index) => sampleMarket(id, { activity: { volume24hUsd: 9 - index } })),
  );
  // Every read finds a new trade, because markets without new trades are read less often.
  const continueTrading = async (index: number) => {
    for (const id of ["large", "small", "m"]) venue.trades.set(id, [tradeAt(clock.now(), `${id} ${index}`)]);
    await clock.advance(100);
  };
  await start();
  for (let index = 0; index < 50; index++) await continueTrading(-index);
  state.isRequesting = true;
  const earlierReads = venue.callsOf("listTrades").length;
  for (let index = 1; index <= 300; index++) {
    const trade = tradeAt(clock.now(), `t${index}`);
    venue.stream?.onMessage({ kind: "trade", marketId: "m", trade, receivedAt: clock.now() });
    await continueTrading(index);
  }
  const reads = venue.callsOf("listTrades").slice(earlierReads);
  return reads.filter(({ marketIds }) => marketIds.includes("m")).length / reads.length;
}

test("while takers that only the trade list contains are requested, half of the reads are for these requests", async () => {
  assert.ok(Math.abs((await shareOfReads(true)) - (1 / 2 + 1 / 6)) < 0.02);
  assert.ok(Math.abs((await shareOfReads(false)) - 1 / 3) < 0.02);
});

test("each request reads the trades of the last three minutes once, and requests beyond 100 are ignored", async () => {
  const profile = { takersFromTrades: true, streamMarketsMax: 150 };
  const { venue, clock, start, state } = openRequestingVenue(profile);
  state.isRequesting = true;
  venue.setMarkets(...Array.from({ length: 150 }, (_, index) => sampleMarket(`m${index}`)));
  await start();
  await clock.advance(60_000);
  const at = clock.now();
  for (let index = 0; index < 150; index++) {
    const trade = tradeAt(at, `t${index}`);
    venue.stream?.onMessage({ kind: "trade", marketId: `m${index}`, trade, receivedAt: at });
  }
  await clock.advance(120_000);
  const calls = venue.callsOf("listTrades");
  const requested = calls.filter((call, index) => venue.tradesSince[index]?.[1] === call.at - 3 * MINUTE_MS);
  const ids = requested.flatMap(({ marketIds }) => marketIds);
  assert.deepEqual([ids.length, new Set(ids).size, ids[0], ids.at(-1)], [100, 100, "m0", "m99"]);
});

test("a request for takers is retried if its read fails", async () => {
  const { venue, clock, start, state } = openRequestingVenue({ takersFromTrades: true, streamMarketsMax: 1 });
  state.isRequesting = true;
  venue.setMarkets(sampleMarket("m"));
  await start();
  await clock.advance(5_000);
  venue.failing.set("listTrades", new VenueError("timeout", "no response", { retryable: true }));
  venue.stream?.onMessage({ kind: "trade", marketId: "m", trade: tradeAt(clock.now(), "a"), receivedAt: clock.now() });
  await clock.advance(5_000);
  venue.failing.clear();
  const earlierReads = venue.tradesSince.length;
  await clock.advance(60_000);
  const reads = venue.callsOf("listTrades").slice(earlierReads);
  const requested = reads.filter(
    (call, index) => venue.tradesSince[earlierReads + index]?.[1] === call.at - 3 * MINUTE_MS,
  );
  assert.equal(requested.length, 1);
});

test("polled trades without takers do not request takers", async () => {
  const { venue, clock, start, state } = openRequestingVenue({ takersFromTrades: true, streamMarketsMax: 1 });
  state.isRequesting = true;
  venue.setMarkets(sampleMarket("m"));
  await start();
  for (let second = 0; second < 60; second++) {
    venue.trades.set("m", [tradeAt(clock.now(), `t${second}`)]);
    await clock.advance(1_000);
  }
  const requestedReads = venue
    .callsOf("listTrades")
    .filter((call, index) => venue.tradesSince[index]?.[1] === call.at - 3 * MINUTE_MS);
  assert.deepEqual(requestedReads, []);
});

test("trades before this node's first read of the venue, over an hour old or in the future are not reported", async () => {
  const { venue, clock, live, market, observer } = await openFeed();
  venue.trades.set("m", [tradeAt(SAMPLE_AT - 1), tradeAt(SAMPLE_AT - 20 * 60 * MINUTE_MS)]);
  await clock.advance(MINUTE_MS);
  const entry = market("m");
  assert.ok(entry !== null);
  await clock.advance(120 * MINUTE_MS);
  live.reportTrades(entry, [tradeAt(clock.now() - 61 * MINUTE_MS, "old"), tradeAt(clock.now() + 5_000, "future")]);
  assert.deepEqual(observer.lines, []);
  live.reportTrades(entry, [tradeAt(clock.now() - 59 * MINUTE_MS, "recent")]);
  assert.deepEqual(observer.lines, ["m trade recent of 10"]);
});

test("restored markets and backfilled history are not reported", async () => {
  const { board, pastPrices, clock, market, venue, observer } = await openFeed();
  venue.history.set("m", [
    { startAt: SAMPLE_AT - 60 * MINUTE_MS, endAt: SAMPLE_AT, yesPrice: 0.1, bid: null, ask: null, volumeUsd: null },
  ]);
  board.restore(sampleMarket("stored", { quote: { bid: 0.1, ask: 0.12 } }), 77);
  const entry = market("m");
  assert.ok(entry !== null);
  await Promise.allSettled([pastPrices.read(entry, "48h", 10), clock.advance(MINUTE_MS)]);
  assert.ok(venue.callsOf("getHistory").length > 0);
  assert.deepEqual(observer.lines, []);
});

test("stores a bounded number of trades", async () => {
  const { live, market, clock, observer } = await openFeed();
  const entry = market("m");
  assert.ok(entry !== null);
  const first = tradeAt(clock.now(), "first");
  live.reportTrades(entry, [first]);
  live.reportTrades(
    entry,
    Array.from({ length: 50_000 }, (_, index) => tradeAt(clock.now(), `t${index}`)),
  );
  observer.lines.splice(0);
  live.reportTrades(entry, [tradeAt(clock.now(), "t49999")]);
  assert.deepEqual(observer.lines, []);
  live.reportTrades(entry, [first]);
  assert.equal(observer.lines.length, 1, "the oldest was forgotten; the key of its event prevents a second event");
});
