import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleMarket } from "../../../test/support/markets/market-samples.ts";
import { streamHarness } from "../../../test/support/venues/adapter-harness.ts";
import { openStream } from "./stream.ts";
import { StreamSettlements } from "./stream-settlements.ts";
import { createPolymarketDriftDetectors } from "./wire.ts";

const BOOK_AT = 1_795_229_999_000;
const MARKET = sampleMarket("900123", { listing: { venueKeys: { tokenYes: "71", tokenNo: "52" } } }).listing;
const BOOK = {
  event_type: "book",
  asset_id: "71",
  timestamp: String(BOOK_AT),
  bids: [
    { price: "0.41", size: "500" },
    { price: "0.43", size: "120.5" },
  ],
  asks: [
    { price: "0.47", size: "300" },
    { price: "0.44", size: "75" },
  ],
};

/** A connected stream that follows one market. */
function setUp() {
  const harness = streamHarness(BOOK_AT + 1_000);
  const { ports, clock, sockets, handlers } = harness;
  const stream = openStream({
    ports: {
      ...ports,
      driftDetectors: createPolymarketDriftDetectors(() => {}),
      settlements: new StreamSettlements(clock),
    },
    wsUrl: "ws://venue.test/ws/market",
    handlers,
  });
  stream.follow([MARKET]);
  sockets.last.accept();
  const receive = (message: unknown) => sockets.last.receive(JSON.stringify(message), clock.now());
  const change = (at: number, ...changes: readonly object[]) =>
    receive({
      event_type: "price_change",
      timestamp: String(BOOK_AT + at),
      price_changes: changes.map((fields) => ({ asset_id: "71", best_bid: "0.43", best_ask: "0.44", ...fields })),
    });
  const levels = () => {
    const book = stream.bookOf?.(MARKET.marketId) ?? null;
    return book === null ? null : [book.bids, book.asks].map((side) => side.map(({ price, size }) => [price, size]));
  };
  return { ...harness, stream, receive, change, levels };
}

test("tracks the complete book, best levels first, with the venue's time of the last change", () => {
  const { stream, receive, change, clock, levels } = setUp();
  assert.equal(stream.bookOf?.("900123"), null);
  receive(BOOK);
  assert.deepEqual(stream.bookOf?.("900123"), {
    bids: [
      { price: 0.43, size: 120.5 },
      { price: 0.41, size: 500 },
    ],
    asks: [
      { price: 0.44, size: 75 },
      { price: 0.47, size: 300 },
    ],
    lastPrice: null,
    eventAt: BOOK_AT,
    receivedAt: clock.now(),
  });
  change(100, { price: "0.42", size: "9", side: "BUY" }, { price: "0.47", size: "0", side: "SELL" });
  assert.deepEqual(levels(), [
    [
      [0.43, 120.5],
      [0.42, 9],
      [0.41, 500],
    ],
    [[0.44, 75]],
  ]);
  assert.equal(stream.bookOf?.("900123")?.eventAt, BOOK_AT + 100);
  assert.equal(stream.bookOf?.("other"), null);
});

test("during a burst, omits levels that the match removed, and serves no book without a level at the best price", () => {
  const { receive, change, levels } = setUp();
  receive(BOOK);
  // The match takes the ask at 0.44. Its own frame follows later.
  change(200, { price: "0.45", size: "30", side: "SELL", best_ask: "0.45" });
  assert.deepEqual(levels()?.[1], [
    [0.45, 30],
    [0.47, 300],
  ]);
  change(300, { price: "0.40", size: "5", side: "BUY", best_bid: "0.46", best_ask: "0.47" });
  assert.equal(levels(), null);
});

test("serves no book while the stream is down, and none after a reconnect before the next snapshot", async () => {
  const { clock, sockets, receive, change, levels } = setUp();
  receive(BOOK);
  assert.notEqual(levels(), null);
  sockets.last.drop("connection lost");
  assert.equal(levels(), null);
  await clock.advance(1_000);
  sockets.last.accept();
  assert.equal(levels(), null);
  change(300, { price: "0.42", size: "9", side: "BUY" });
  assert.equal(levels(), null);
  receive({ ...BOOK, timestamp: String(BOOK_AT + 400) });
  assert.equal(levels()?.length, 2);
});

test("serves no book if the stream has sent nothing about its markets for 10 seconds", async () => {
  const { clock, sockets, receive, change, levels } = setUp();
  receive(BOOK);
  await clock.advance(10_000);
  sockets.last.receive("PONG", clock.now());
  assert.notEqual(levels(), null);
  await clock.advance(1);
  assert.equal(levels(), null);
  change(11_000, { price: "0.42", size: "9", side: "BUY" });
  assert.equal(levels()?.[0]?.length, 3);
});

test("serves no book that is crossed", () => {
  const { receive, levels } = setUp();
  receive({ ...BOOK, bids: [{ price: "0.45", size: "10" }] });
  assert.equal(levels(), null);
});

test("serves no book after a fault, after `unfollow` and after `close`", async () => {
  const { clock, stream, receive, change, levels } = setUp();
  receive(BOOK);
  change(100, { price: "0.30", size: "1", side: "BUY", best_bid: "0.40", best_ask: "0.44" });
  await clock.advance(1_000);
  change(1_200, { price: "0.31", size: "1", side: "BUY", best_bid: "0.40", best_ask: "0.44" });
  assert.equal(levels(), null);
  receive({ ...BOOK, timestamp: String(BOOK_AT + 1_300) });
  assert.notEqual(levels(), null);
  stream.follow([]);
  assert.equal(levels(), null);
  stream.follow([MARKET]);
  assert.equal(levels(), null);
  stream.close();
  assert.equal(levels(), null);
});
