import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleMarket } from "../../../test/support/markets/market-samples.ts";
import { streamHarness } from "../../../test/support/venues/adapter-harness.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import type { MarketListing } from "../../domain/market.ts";
import { HOUR_MS } from "../../lib/durations.ts";
import type { SocketIoHandlers, SocketIoOut } from "../../ports/socket-io-out.ts";
import { FRAME_BOOK_AGE_MS_MAX, FRAME_BOOK_LEVELS_MAX, openStream } from "./stream.ts";
import { createLimitlessDriftDetectors } from "./wire.ts";

const fixture = fixtureReader(import.meta.url);
const SLUG = "rain-nyc-dec-1-1795000000000";
const ADDRESS = "0x9aB4F0c2D31e6e0a1B5C7D8E9f00112233445566";
const NOW = Date.UTC(2026, 10, 21, 4);

const bookFrame = fixture("stream/book") as object;

const listing = (marketId: string, venueKeys: Record<string, string>) =>
  sampleMarket(marketId, { listing: { venueKeys } }).listing;

const CLOB = listing(SLUG, { slug: SLUG, kind: "clob" });
const AMM = listing(ADDRESS, { slug: "eth-above-5000", kind: "amm" });

/** A stream over a fake Socket.IO connection that records sent events and can deliver frames. */
function setUp(marketsMax = 10) {
  const harness = streamHarness(NOW);
  const { clock, log, countDrop } = harness.ports;
  const sent: [string, unknown][] = [];
  const emit = (event: string, payload: unknown) => {
    sent.push([event, payload]);
  };
  let connectedHandlers: SocketIoHandlers | null = null;
  let isClosed = false;
  let connections = 0;
  const socketIo: SocketIoOut = {
    connect(_url, _options, handlers) {
      connectedHandlers = handlers;
      connections += 1;
      return { emit, close: () => (isClosed = true) };
    },
  };
  const driftDetectors = createLimitlessDriftDetectors(() => {});
  const stream = openStream(
    { socketIo, wsUrl: "ws://127.0.0.1:1", marketsMax, clock, log, driftDetectors, countDrop },
    harness.handlers,
  );
  const handlers = (): SocketIoHandlers => {
    assert.ok(connectedHandlers !== null);
    return connectedHandlers;
  };
  return {
    ...harness,
    stream,
    sent,
    isClosed: () => isClosed,
    connectionCount: () => connections,
    up: () => handlers().onUp(emit),
    down: () => handlers().onDown("transport close"),
    receive: (event: string, payload: unknown) => handlers().onEvent(event, payload, NOW),
  };
}

/** A connected stream that follows the markets. */
function setUpFollowing(...listings: readonly MarketListing[]) {
  const harness = setUp();
  harness.stream.follow(listings);
  harness.up();
  return harness;
}

const subscriptions = (sent: [string, unknown][]) =>
  sent.filter(([event]) => event === "subscribe_market_prices").map(([, payload]) => payload);

test("each change of the followed markets subscribes to the complete set, because a subscription replaces the previous one", () => {
  const { stream, sent, up } = setUp();
  up();
  stream.follow([CLOB]);
  stream.follow([CLOB, AMM]);
  stream.follow([]);
  assert.deepEqual(subscriptions(sent), [
    { marketSlugs: [SLUG], marketAddresses: [] },
    { marketSlugs: [SLUG], marketAddresses: [ADDRESS] },
    { marketSlugs: [], marketAddresses: [] },
  ]);
});

test("subscribes to the complete set and the lifecycle events again after a reconnect", () => {
  const { stream, sent, states, up, down } = setUp();
  stream.follow([CLOB, AMM]);
  assert.equal(sent.length, 0);
  up();
  down();
  stream.follow([AMM]);
  up();
  assert.deepEqual(subscriptions(sent), [
    { marketSlugs: [SLUG], marketAddresses: [ADDRESS] },
    { marketSlugs: [], marketAddresses: [ADDRESS] },
  ]);
  assert.equal(sent.filter(([event]) => event === "subscribe_market_lifecycle").length, 2);
  assert.deepEqual(states, ["up", "down: transport close", "up"]);
});

test("counts each lost or failed connection, but not a connection that the client closes", () => {
  const { stream, drops, up, down } = setUp();
  down();
  up();
  down();
  assert.deepEqual(drops, { stream_connection_lost: 2 });
  stream.close();
  down();
  assert.deepEqual(drops, { stream_connection_lost: 2 });
});

test("follows the first markets up to the stream's maximum", () => {
  const { stream, sent, up } = setUp(1);
  stream.follow([CLOB, AMM]);
  up();
  assert.deepEqual(subscriptions(sent), [{ marketSlugs: [SLUG], marketAddresses: [] }]);
});

test("a book frame becomes a quote with the venue's time, regardless of its version", () => {
  const { messages, receive } = setUpFollowing(CLOB);
  receive("orderbookUpdate", bookFrame);
  receive("orderbookUpdate", { ...bookFrame, version: 0, timestamp: "2026-11-21T01:02:04.000Z" });
  assert.deepEqual(
    messages.map((message) => [message.kind, message.marketId, message.kind === "quote" && message.quote.eventAt]),
    [
      ["quote", SLUG, Date.UTC(2026, 10, 21, 1, 2, 3, 123)],
      ["quote", SLUG, Date.UTC(2026, 10, 21, 1, 2, 4)],
    ],
  );
});

test("drops and counts a frame that is older than a delivered frame", () => {
  const { messages, drops, receive } = setUpFollowing(CLOB);
  receive("orderbookUpdate", bookFrame);
  receive("orderbookUpdate", { ...bookFrame, timestamp: "2026-11-21T01:02:03.000Z" });
  assert.equal(messages.length, 1);
  assert.deepEqual(drops, { stream_frame_overtaken: 1 });
});

const BOOK = {
  bids: [{ price: 0.43, size: 120.5 }],
  asks: [],
  lastPrice: null,
  eventAt: Date.UTC(2026, 10, 21, 1, 2, 3, 123),
  receivedAt: NOW,
};

test("the book of a followed market is that of its newest frame, for 15 seconds", async () => {
  const { clock, stream, receive } = setUpFollowing(CLOB, AMM);
  assert.equal(stream.bookOf?.(SLUG), null);
  receive("orderbookUpdate", bookFrame);
  receive("orderbookUpdate", { ...bookFrame, timestamp: "2026-11-21T01:02:03.000Z", orderbook: levelsFrame(2) });
  assert.deepEqual(stream.bookOf?.(SLUG), BOOK);
  assert.equal(stream.bookOf?.(ADDRESS), null);
  await clock.advance(FRAME_BOOK_AGE_MS_MAX);
  assert.deepEqual(stream.bookOf?.(SLUG), BOOK);
  await clock.advance(1);
  assert.equal(stream.bookOf?.(SLUG), null);
  assert.ok(FRAME_BOOK_AGE_MS_MAX <= 15_000);
});

const levelsFrame = (count: number) => ({
  ...(bookFrame as { orderbook: object }).orderbook,
  bids: Array.from({ length: count }, (_, index) => ({ price: (index + 1) / 1_000, size: 1_000_000 })),
});

test("a frame without levels, with too many, with crossed levels or with a time in the future leaves no book", () => {
  const { stream, receive } = setUpFollowing(CLOB);
  const isKept = (frame: object) => {
    receive("orderbookUpdate", bookFrame);
    receive("orderbookUpdate", { ...bookFrame, ...frame });
    return stream.bookOf?.(SLUG) !== null;
  };
  const crossed = { ...levelsFrame(1), asks: [{ price: 0.001, size: 1 }] };
  assert.ok(FRAME_BOOK_LEVELS_MAX <= 400);
  assert.ok(isKept({ orderbook: levelsFrame(FRAME_BOOK_LEVELS_MAX) }));
  assert.ok(!isKept({ orderbook: levelsFrame(FRAME_BOOK_LEVELS_MAX + 1) }));
  assert.ok(!isKept({ orderbook: levelsFrame(0) }));
  assert.ok(!isKept({ orderbook: crossed }));
  assert.ok(!isKept({ timestamp: "2031-01-01T00:00:00.000Z" }));
});

test("a book is deleted when the connection is lost, the market is resolved or no longer followed, or the stream is closed", () => {
  const { stream, up, down, receive } = setUp();
  const readBook = () => {
    receive("orderbookUpdate", bookFrame);
    assert.deepEqual(stream.bookOf?.(SLUG), BOOK);
  };
  stream.follow([CLOB]);
  up();
  readBook();
  down();
  up();
  assert.equal(stream.bookOf?.(SLUG), null);
  readBook();
  receive("marketResolved", { slug: SLUG, winningIndex: 0 });
  assert.equal(stream.bookOf?.(SLUG), null);
  readBook();
  stream.follow([AMM]);
  stream.follow([CLOB]);
  assert.equal(stream.bookOf?.(SLUG), null);
  readBook();
  stream.close();
  assert.equal(stream.bookOf?.(SLUG), null);
});

test("discards a timestamp far in the future and accepts the frames after it", () => {
  const { quotes, drops, receive } = setUpFollowing(CLOB);
  receive("orderbookUpdate", { ...bookFrame, timestamp: "2031-01-01T00:00:00.000Z" });
  receive("orderbookUpdate", bookFrame);
  assert.deepEqual(
    quotes().map(({ eventAt }) => eventAt),
    [null, Date.UTC(2026, 10, 21, 1, 2, 3, 123)],
  );
  assert.deepEqual(drops, { stream_time_ahead: 1 });
});

test("reads AMM prices in both frame formats, regardless of the case of the address", () => {
  const { messages, receive } = setUpFollowing(AMM);
  const frame = fixture("stream/price") as object;
  receive("newPriceData", { ...frame, marketAddress: ADDRESS.toLowerCase() });
  receive("newPriceData", { ...(fixture("stream/price-older-shape") as object), timestamp: NOW });
  assert.deepEqual(
    messages.map((message) => [message.marketId, message.kind === "quote" && message.quote.indicativePrice]),
    [
      [ADDRESS, 0.22],
      [ADDRESS, 0.65],
    ],
  );
});

test("delivers a repeated resolution once, and a new market as listed", () => {
  const { received, drops, receive } = setUpFollowing(CLOB, AMM);
  for (const slug of [SLUG, SLUG, SLUG, "eth-above-5000"]) receive("marketResolved", { slug, winningIndex: 0 });
  receive("marketCreated", { slug: "new-one", type: "CLOB" });
  assert.deepEqual(received(), [`changed ${SLUG}`, `changed ${ADDRESS}`, "listed new-one"]);
  assert.deepEqual(drops, {});
});

test("ignores confirmations of a subscription and prices of the underlying asset, and counts no drop", () => {
  const { messages, drops, receive } = setUpFollowing(CLOB);
  receive("system", { message: "Successfully subscribed to market price updates", markets: [SLUG] });
  receive("oraclePriceData", { marketAddress: null, marketSlug: SLUG, source: "feed", timestamp: NOW, value: 2_440.9 });
  assert.deepEqual(messages, []);
  assert.deepEqual(drops, {});
});

test("counts invalid frames, frames of other markets and rejections without delivering a message", () => {
  const { messages, drops, receive } = setUpFollowing(CLOB, AMM);
  receive("orderbookUpdate", null);
  receive("orderbookUpdate", { marketSlug: SLUG });
  receive("newPriceData", "x");
  receive("marketResolved", { slug: 5 });
  receive("orderbookUpdate", { ...bookFrame, marketSlug: "another" });
  receive("exception", { status: "error", message: "no" });
  receive("newPriceData", { marketAddress: ADDRESS, updatedPrices: [{ yesPrice: 47 }] });
  receive("constructor", {});
  assert.deepEqual(messages, []);
  assert.deepEqual(drops, {
    bad_stream_frame: 4,
    stream_frame_not_followed: 1,
    stream_exception: 1,
    price_out_of_range: 1,
  });
});

test("a closed stream delivers no more messages", () => {
  const { stream, messages, states, down, receive, isClosed } = setUpFollowing(CLOB);
  stream.close();
  receive("orderbookUpdate", bookFrame);
  down();
  assert.ok(isClosed());
  assert.deepEqual(messages, []);
  assert.deepEqual(states, ["up"]);
});

test("a stalled stream counts a drop and subscribes again, and reconnects if no snapshot arrives", async () => {
  const { clock, stream, sent, states, drops, connectionCount, up, receive } = setUp();
  up();
  stream.follow([CLOB]);
  await clock.advance(5 * 60_000 + 10_000);
  assert.deepEqual([subscriptions(sent).length, connectionCount(), drops], [2, 1, { stream_frozen: 1 }]);
  receive("orderbookUpdate", bookFrame);
  await clock.advance(60_000);
  assert.deepEqual([subscriptions(sent).length, connectionCount()], [2, 1]);
  await clock.advance(30 * 60_000 + 10_000);
  assert.equal(connectionCount(), 2);
  assert.equal(states.at(-1), "down: no market data received");
  up();
  assert.deepEqual(subscriptions(sent).at(-1), { marketSlugs: [SLUG], marketAddresses: [] });
  stream.close();
  assert.equal(clock.pending, 0);
});

test("a stream that follows no markets never counts as stalled", async () => {
  const { clock, connectionCount, drops, up } = setUp();
  up();
  await clock.advance(2 * HOUR_MS);
  assert.deepEqual([connectionCount(), drops], [1, {}]);
});
