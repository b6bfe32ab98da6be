import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import type { MarketListing } from "../../domain/market.ts";
import type { SocketIoHandlers, SocketIoOut } from "../../ports/socket-io-out.ts";
import type { StreamMessage } from "../../ports/venue.ts";
import { openLimitlessStream } from "./stream.ts";
import { detectLimitlessDrift } from "./wire.ts";

const SLUG = "rain-nyc-dec-1-1795000000000";
const ADDRESS = "0x9aB4F0c2D31e6e0a1B5C7D8E9f00112233445566";
const NOW = Date.UTC(2026, 10, 21, 4);

function fixture(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), "utf8")) as Record<
    string,
    unknown
  >;
}

function listing(marketId: string, venueKeys: Record<string, string>): MarketListing {
  return {
    venue: "limitless",
    marketId,
    eventId: null,
    title: marketId,
    outcomeLabel: null,
    url: null,
    category: null,
    status: "active",
    paused: false,
    outcome: null,
    rules: null,
    openAt: null,
    closeAt: null,
    expectedResolutionAt: null,
    resolvedAt: null,
    tickSize: null,
    takerFee: null,
    venueKeys,
  };
}

const CLOB = listing(SLUG, { slug: SLUG, kind: "clob" });
const AMM = listing(ADDRESS, { slug: "eth-above-5000", kind: "amm" });

/** The far end of the connection: what was sent to it, and a hand to send with. */
function start(marketsMax = 10) {
  const clock = new FakeClock(NOW);
  const sent: [string, unknown][] = [];
  const messages: StreamMessage[] = [];
  const dropped: Record<string, number> = {};
  const states: string[] = [];
  const emit = (event: string, payload: unknown) => {
    sent.push([event, payload]);
  };
  let peer: SocketIoHandlers | null = null;
  let isClosed = false;
  let connections = 0;
  const socketIo: SocketIoOut = {
    connect(_url, _options, handlers) {
      peer = handlers;
      connections += 1;
      return { emit, close: () => (isClosed = true) };
    },
  };
  const stream = openLimitlessStream(
    {
      socketIo,
      wsUrl: "ws://127.0.0.1:1",
      marketsMax,
      clock,
      log: quietLog,
      watch: detectLimitlessDrift(() => {}),
      drop(reason, count = 1) {
        dropped[reason] = (dropped[reason] ?? 0) + count;
      },
    },
    {
      onMessage: (message) => messages.push(message),
      onUp: () => states.push("up"),
      onDown: (reason) => states.push(reason),
    },
  );
  const handlers = (): SocketIoHandlers => {
    assert.ok(peer !== null);
    return peer;
  };
  return {
    clock,
    stream,
    sent,
    messages,
    dropped,
    states,
    isClosed: () => isClosed,
    connects: () => connections,
    up: () => handlers().onUp(emit),
    down: () => handlers().onDown("transport close"),
    receive: (event: string, payload: unknown) => handlers().onEvent(event, payload, NOW),
  };
}

const subscriptions = (sent: [string, unknown][]) =>
  sent.filter(([event]) => event === "subscribe_market_prices").map(([, payload]) => payload);

test("every change of the set sends the whole set, because a subscription replaces the one before", () => {
  const { stream, sent, up } = start();
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

test("after a reconnect the whole set and the lifecycle are subscribed again", () => {
  const { stream, sent, states, up, down } = start();
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
  assert.deepEqual(states, ["up", "transport close", "up"]);
});

test("every connection that is lost or could not be made is counted, and none that we end", () => {
  const { stream, dropped, up, down } = start();
  down();
  up();
  down();
  assert.deepEqual(dropped, { stream_connection_lost: 2 });
  stream.close();
  down();
  assert.deepEqual(dropped, { stream_connection_lost: 2 });
});

test("no more markets are followed than the stream may carry, the first ones", () => {
  const { stream, sent, up } = start(1);
  stream.follow([CLOB, AMM]);
  up();
  assert.deepEqual(subscriptions(sent), [{ marketSlugs: [SLUG], marketAddresses: [] }]);
});

test("a book frame is a quote with the venue's time, whatever its version says", () => {
  const { stream, messages, up, receive } = start();
  stream.follow([CLOB]);
  up();
  const frame = fixture("stream-orderbook-update");
  receive("orderbookUpdate", frame);
  receive("orderbookUpdate", { ...frame, version: 0, timestamp: "2026-11-21T01:02:04.000Z" });
  assert.deepEqual(
    messages.map((message) => [message.kind, message.marketId, message.kind === "quote" && message.quote.eventAt]),
    [
      ["quote", SLUG, Date.UTC(2026, 10, 21, 1, 2, 3, 123)],
      ["quote", SLUG, Date.UTC(2026, 10, 21, 1, 2, 4)],
    ],
  );
});

test("a frame that a newer one overtook is dropped and counted", () => {
  const { stream, messages, dropped, up, receive } = start();
  stream.follow([CLOB]);
  up();
  const frame = fixture("stream-orderbook-update");
  receive("orderbookUpdate", frame);
  receive("orderbookUpdate", { ...frame, timestamp: "2026-11-21T01:02:03.000Z" });
  assert.equal(messages.length, 1);
  assert.deepEqual(dropped, { stream_frame_overtaken: 1 });
});

test("a time far ahead of ours is not believed and does not block the frames after it", () => {
  const { stream, messages, dropped, up, receive } = start();
  stream.follow([CLOB]);
  up();
  const frame = fixture("stream-orderbook-update");
  receive("orderbookUpdate", { ...frame, timestamp: "2031-01-01T00:00:00.000Z" });
  receive("orderbookUpdate", frame);
  assert.deepEqual(
    messages.map((message) => message.kind === "quote" && message.quote.eventAt),
    [null, Date.UTC(2026, 10, 21, 1, 2, 3, 123)],
  );
  assert.deepEqual(dropped, { stream_time_ahead: 1 });
});

test("an AMM's price comes under its id, in either shape and any spelling of the address", () => {
  const { stream, messages, up, receive } = start();
  stream.follow([AMM]);
  up();
  const frame = fixture("stream-new-price-data");
  receive("newPriceData", { ...frame, marketAddress: ADDRESS.toLowerCase() });
  receive("newPriceData", { ...fixture("stream-new-price-data-older-shape"), timestamp: NOW });
  assert.deepEqual(
    messages.map((message) => [message.marketId, message.kind === "quote" && message.quote.indicativePrice]),
    [
      [ADDRESS, 0.22],
      [ADDRESS, 0.65],
    ],
  );
});

test("a resolution that is told twice is passed on once, and a new market as listed", () => {
  const { stream, messages, up, receive } = start();
  stream.follow([CLOB, AMM]);
  up();
  for (const slug of [SLUG, SLUG, "eth-above-5000"]) receive("marketResolved", { slug, winningIndex: 0 });
  receive("marketCreated", { slug: "new-one", type: "CLOB" });
  assert.deepEqual(
    messages.map((message) => [message.kind, message.marketId]),
    [
      ["changed", SLUG],
      ["changed", ADDRESS],
      ["listed", "new-one"],
    ],
  );
});

test("garbage frames, frames of other markets and refusals are counted and nothing is told", () => {
  const { stream, messages, dropped, up, receive } = start();
  stream.follow([CLOB, AMM]);
  up();
  receive("orderbookUpdate", null);
  receive("orderbookUpdate", { marketSlug: SLUG });
  receive("newPriceData", "x");
  receive("marketResolved", { slug: 5 });
  receive("orderbookUpdate", { ...fixture("stream-orderbook-update"), marketSlug: "another" });
  receive("exception", { status: "error", message: "no" });
  receive("newPriceData", { marketAddress: ADDRESS, updatedPrices: [{ yesPrice: 47 }] });
  receive("constructor", {});
  receive("oraclePriceData", { value: 1 });
  assert.deepEqual(messages, []);
  assert.deepEqual(dropped, {
    bad_stream_frame: 4,
    stream_frame_not_followed: 1,
    stream_exception: 1,
    price_out_of_range: 1,
  });
});

test("a closed stream tells nothing any more", () => {
  const { stream, messages, states, up, down, receive, isClosed } = start();
  stream.follow([CLOB]);
  up();
  stream.close();
  receive("orderbookUpdate", fixture("stream-orderbook-update"));
  down();
  assert.ok(isClosed());
  assert.deepEqual(messages, []);
  assert.deepEqual(states, ["up"]);
});

test("a stream gone quiet is asked for its snapshots, and opened anew only where none come; both are counted", async () => {
  const { clock, stream, sent, states, dropped, connects, up, receive } = start();
  up();
  stream.follow([CLOB]);
  await clock.advance(5 * 60_000 + 10_000);
  assert.deepEqual([subscriptions(sent).length, connects(), dropped], [2, 1, { stream_frozen: 1 }]);
  receive("orderbookUpdate", fixture("stream-orderbook-update"));
  await clock.advance(60_000);
  assert.deepEqual([subscriptions(sent).length, connects()], [2, 1]);
  await clock.advance(30 * 60_000 + 10_000);
  assert.equal(connects(), 2);
  assert.equal(states.at(-1), "no market data came");
  up();
  assert.deepEqual(subscriptions(sent).at(-1), { marketSlugs: [SLUG], marketAddresses: [] });
  stream.close();
  assert.equal(clock.pending, 0);
});

test("a stream that follows nothing may be quiet for ever", async () => {
  const { clock, connects, dropped, up } = start();
  up();
  await clock.advance(2 * 3_600_000);
  assert.deepEqual([connects(), dropped], [1, {}]);
});
