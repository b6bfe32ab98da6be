import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sampleMarket } from "../../../test/support/market-samples.ts";
import { streamHarness } from "../../../test/support/venues/adapter-harness.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { openMarketStream } from "./stream.ts";
import { detectPolymarketDrift } from "./wire.ts";

const readFixture = fixtureReader(import.meta.url);
const [yesBook, noBook] = readFixture("stream/book-both-tokens") as { asset_id: string }[];
const TOKEN_YES = yesBook?.asset_id ?? "";
const TOKEN_NO = noBook?.asset_id ?? "";

const market = (marketId: string, tokenYes: string, tokenNo: string) =>
  sampleMarket(marketId, { listing: { venueKeys: { tokenYes, tokenNo } } }).listing;
const markets = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => market(`m${from + index}`, `1${from + index}`, `2${from + index}`));

function setUp() {
  // Shortly after the timestamps in the fixtures.
  const harness = streamHarness(Date.UTC(2026, 10, 21, 3));
  const { ports, clock, sockets, handlers } = harness;
  const stream = openMarketStream({
    ports: { ...ports, driftDetectors: detectPolymarketDrift(() => {}) },
    wsUrl: "ws://venue.test/ws/market",
    handlers,
  });
  const receive = (message: unknown) => sockets.last.receive(JSON.stringify(message), clock.now());
  const sent = () => sockets.last.sent.map((text): unknown => (text === "PING" ? text : JSON.parse(text)));
  return { ...harness, stream, receive, sent };
}

/** A stream that is connected, follows one market and has its book. */
function setUpFollowing() {
  const harness = setUp();
  harness.stream.follow([market("900123", TOKEN_YES, TOKEN_NO)]);
  harness.sockets.last.accept();
  harness.receive(readFixture("stream/book-both-tokens"));
  return harness;
}

const change = (fields: object, timestamp = "1795229999600") => ({
  event_type: "price_change",
  timestamp,
  price_changes: [
    { asset_id: TOKEN_YES, price: "0.43", size: "10", side: "BUY", best_bid: "0.43", best_ask: "0.44", ...fields },
  ],
});

describe("polymarket stream: connections and subscriptions", () => {
  test("subscribes both tokens on one connection, with the custom features", () => {
    const { sent, states } = setUpFollowing();
    assert.deepEqual(sent(), [{ type: "market", assets_ids: [TOKEN_YES, TOKEN_NO], custom_feature_enabled: true }]);
    assert.deepEqual(states, ["up"]);
  });

  test("reconnects and counts a stall if the venue responds to pings but sends nothing about the markets", async () => {
    const { clock, sockets, receive, drops, sent, quotes } = setUpFollowing();
    for (let round = 0; round < 30; round++) {
      await clock.advance(2_000);
      receive(change({ size: String(round + 20) }, String(1795229999600 + round)));
    }
    for (let round = 0; round < 12; round++) {
      await clock.advance(10_000);
      sockets.last.receive("PONG", clock.now());
    }
    await clock.advance(1_000);
    assert.deepEqual(drops, { stream_frozen: 1 });
    assert.equal(sockets.connections.length, 2);
    sockets.last.accept();
    assert.deepEqual(sent()[0], { type: "market", assets_ids: [TOKEN_YES, TOKEN_NO], custom_feature_enabled: true });
    const before = quotes().length;
    receive(readFixture("stream/book-both-tokens"));
    assert.equal(quotes().length, before + 1);
  });

  test("sends PING every ten seconds", async () => {
    const { clock, sockets, sent } = setUpFollowing();
    for (let round = 0; round < 3; round++) {
      await clock.advance(10_000);
      sockets.last.receive("PONG");
    }
    assert.equal(sent().filter((each) => each === "PING").length, 3);
  });

  test("emits no quote after a reconnect before the next book snapshot", async () => {
    const { clock, sockets, receive, states, quotes, sent } = setUpFollowing();
    sockets.last.drop("connection lost");
    await clock.advance(1_000);
    assert.equal(sockets.connections.length, 2);
    sockets.last.accept();
    assert.deepEqual(states, ["up", "down: connection lost", "up"]);
    assert.equal(sent().length, 1);
    receive(change({ size: "3" }));
    assert.equal(quotes().length, 1);
    receive(readFixture("stream/book-both-tokens"));
    assert.equal(quotes().length, 2);
  });

  test("opens a connection per 150 markets and calls `onUp` when all are connected", () => {
    const { sockets, stream, states } = setUp();
    stream.follow(markets(301));
    assert.equal(sockets.connections.length, 3);
    for (const connection of sockets.connections) {
      assert.deepEqual(states, []);
      connection.accept();
    }
    assert.deepEqual(states, ["up"]);
    const counts = sockets.connections.map(({ sent }) => JSON.parse(sent[0] ?? "{}").assets_ids.length);
    assert.deepEqual(counts, [300, 300, 2]);
  });

  test("follows at most the first 1,500 markets", () => {
    const { sockets, stream } = setUp();
    stream.follow(markets(1_600));
    assert.equal(sockets.connections.length, 10);
  });

  test("unsubscribes removed markets, subscribes added ones and closes an empty connection", () => {
    const { sockets, stream } = setUp();
    stream.follow(markets(151));
    const [first, second] = sockets.connections;
    first?.accept();
    second?.accept();
    stream.follow([...markets(149, 1), ...markets(1, 500)]);
    assert.equal(second?.isClosed, true);
    assert.deepEqual(
      first?.sent.slice(1).map((text) => JSON.parse(text)),
      [
        { operation: "unsubscribe", assets_ids: ["10", "20"] },
        { operation: "subscribe", assets_ids: ["1500", "2500"], custom_feature_enabled: true },
      ],
    );
    stream.close();
    assert.equal(first?.isClosed, true);
  });
});

describe("polymarket stream: order books", () => {
  test("emits one quote with the venue's timestamp for an array frame with both books", () => {
    const { quotes } = setUpFollowing();
    assert.deepEqual(quotes(), [
      { bid: 0.43, ask: 0.44, bidSize: 120.5, askSize: 75, lastPrice: 0.43, eventAt: 1795229999000 },
    ]);
  });

  test("applies changed levels as absolute sizes and ignores those of the NO token", () => {
    const { receive, quotes, drops } = setUpFollowing();
    receive(readFixture("stream/price-change"));
    assert.deepEqual(quotes().at(-1), { bid: 0.42, ask: 0.44, bidSize: 80, askSize: 75, eventAt: 1795229999500 });
    assert.deepEqual(drops, {});
  });

  test("emits nothing for a change below the top of book", () => {
    const { receive, quotes } = setUpFollowing();
    receive(change({ price: "0.30", size: "7" }));
    assert.equal(quotes().length, 1);
  });

  test("discards the book and renews the subscription if the advertised top of book differs", () => {
    const { receive, sent, quotes, drops } = setUpFollowing();
    receive(change({ best_bid: "0.41" }));
    assert.deepEqual(drops, { book_mismatch: 1 });
    assert.deepEqual(sent().slice(1), [
      { operation: "unsubscribe", assets_ids: [TOKEN_YES, TOKEN_NO] },
      { operation: "subscribe", assets_ids: [TOKEN_YES, TOKEN_NO], custom_feature_enabled: true },
    ]);
    receive(change({ size: "99" }, "1795229999700"));
    assert.equal(quotes().length, 1, "changes without a book emit no quote");
    receive(readFixture("stream/book-both-tokens"));
    assert.equal(quotes().length, 2);
  });

  test("requests a snapshot of an inconsistent book at most every 5 seconds", async () => {
    const { receive, sent, clock } = setUpFollowing();
    for (let round = 0; round < 5; round++) {
      receive(change({ best_bid: "0.41" }));
      receive(readFixture("stream/book-both-tokens"));
    }
    assert.equal(sent().length, 3);
    await clock.advance(5_000);
    receive(change({ best_bid: "0.41" }));
    assert.equal(sent().filter((each) => each !== "PING").length, 5);
  });

  test("reads an empty advertised price as an empty side", () => {
    const { receive, quotes, drops } = setUpFollowing();
    receive(change({ price: "0.44", size: "0", side: "SELL", best_ask: "0.47" }));
    receive(change({ price: "0.47", size: "0", side: "SELL", best_ask: "" }, "1795229999601"));
    assert.deepEqual(quotes().at(-1), { bid: 0.43, ask: null, bidSize: 120.5, askSize: null, eventAt: 1795229999601 });
    assert.deepEqual(drops, {});
  });

  test("drops and counts messages older than the book but not those with the same time", () => {
    const { receive, quotes, drops } = setUpFollowing();
    receive(change({ size: "5" }, "1795229999000"));
    assert.equal(quotes().at(-1)?.bidSize, 5);
    receive(change({ size: "6" }, "1795229998999"));
    assert.equal(quotes().at(-1)?.bidSize, 5);
    assert.deepEqual(drops, { out_of_order: 1 });
  });

  test("does not treat messages as old after a message with a timestamp in the future", () => {
    const { receive, quotes, drops } = setUpFollowing();
    receive(change({ size: "5" }, "1795233600000"));
    receive(change({ size: "6" }, "1795229999700"));
    assert.equal(quotes().at(-1)?.bidSize, 6);
    assert.deepEqual(drops, {});
  });

  test("discards and counts a crossed book", () => {
    const { receive, quotes, drops } = setUpFollowing();
    receive(change({ price: "0.45", size: "5", best_bid: "0.45", best_ask: "0.44" }));
    assert.equal(quotes().length, 1);
    assert.deepEqual(drops, { crossed_book: 1 });
  });

  test("omits and counts an invalid last price of a book", () => {
    const { receive, quotes, drops } = setUpFollowing();
    const [book] = readFixture("stream/book-both-tokens") as readonly object[];
    receive({ ...book, timestamp: "1795229999700", bids: [], last_trade_price: "1.43" });
    assert.deepEqual(
      [quotes().length, "lastPrice" in (quotes()[1] ?? {}), drops],
      [2, false, { price_out_of_range: 1 }],
    );
  });
});

describe("polymarket stream: trades, lifecycle and invalid messages", () => {
  test("converts a trade of the NO token to the YES side and updates the last price", () => {
    const { receive, messages, quotes } = setUpFollowing();
    receive(readFixture("stream/last-trade-no-token"));
    const trade = messages.find((message) => message.kind === "trade");
    assert.equal(trade?.marketId, "900123");
    assert.deepEqual(quotes().at(-1), { lastPrice: 0.43, eventAt: 1795229999700 });
  });

  test("reports tick size changes and resolutions as `changed`, and a new market once as `listed`", () => {
    const { receive, received } = setUpFollowing();
    receive({
      event_type: "tick_size_change",
      asset_id: TOKEN_YES,
      old_tick_size: "0.01",
      new_tick_size: "0.001",
      timestamp: "1",
    });
    receive({
      event_type: "market_resolved",
      id: "900123",
      assets_ids: [TOKEN_YES, TOKEN_NO],
      winning_asset_id: TOKEN_YES,
    });
    for (let round = 0; round < 3; round++) receive({ event_type: "new_market", id: "900999", assets_ids: ["1", "2"] });
    assert.deepEqual(received().slice(1), ["changed 900123", "changed 900123", "listed 900999"]);
  });

  test("ignores plain text and unknown messages, and counts invalid ones", () => {
    const { sockets, receive, messages, drops } = setUpFollowing();
    for (const text of ["PONG", "NO NEW ASSETS", "", "{cut", '\u0000{"type":', "<!doctype html>"])
      sockets.last.receive(text);
    for (const message of [
      null,
      7,
      [],
      {},
      { event_type: "best_bid_ask" },
      { event_type: "price_change" },
      { event_type: "book", asset_id: TOKEN_YES },
    ]) {
      receive(message);
    }
    receive(change({ price: "1.7" }));
    assert.equal(messages.length, 1);
    assert.deepEqual(drops, { bad_frame: 3, bad_message: 5, price_out_of_range: 1 });
  });
});
