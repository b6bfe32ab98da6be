import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sampleMarket } from "../../../test/support/markets/market-samples.ts";
import { streamHarness } from "../../../test/support/venues/adapter-harness.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { openStream } from "./stream.ts";
import { StreamSettlements } from "./stream-settlements.ts";
import { createPolymarketDriftDetectors } from "./wire.ts";

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
  const stream = openStream({
    ports: {
      ...ports,
      driftDetectors: createPolymarketDriftDetectors(() => {}),
      settlements: new StreamSettlements(clock),
    },
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

/** The book of the YES token in the fixture, as the venue sends it later: with another time, without a last price. */
const bookAt = (timestamp: string, fields: object = {}) => {
  return { ...yesBook, last_trade_price: undefined, timestamp, ...fields };
};

const trade = (fields: object, timestamp = "1795229999700") => ({
  event_type: "last_trade_price",
  asset_id: TOKEN_YES,
  price: "0.44",
  size: "10",
  side: "BUY",
  fee_rate_bps: "0",
  timestamp,
  transaction_hash: "0xab10",
  ...fields,
});

describe("polymarket stream: connections and subscriptions", () => {
  test("subscribes to both tokens on one connection, with the custom features enabled", () => {
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

  test("after a reconnect, emits the venue's best prices, but no sizes until the next book arrives", async () => {
    const { clock, sockets, receive, states, quotes, sent } = setUpFollowing();
    sockets.last.drop("connection lost");
    await clock.advance(1_000);
    assert.equal(sockets.connections.length, 2);
    sockets.last.accept();
    assert.deepEqual(states, ["up", "down: connection lost", "up"]);
    assert.equal(sent().length, 1);
    receive(change({ price: "0.41", size: "3" }));
    await clock.advance(1_000);
    assert.deepEqual(quotes().slice(1), [
      { bid: 0.43, ask: 0.44, bidSize: null, askSize: null, eventAt: 1795229999600 },
    ]);
    receive(bookAt("1795229999700"));
    assert.deepEqual(quotes().slice(2), [
      { bid: 0.43, ask: 0.44, bidSize: 120.5, askSize: 75, eventAt: 1795229999700 },
    ]);
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

  test("unsubscribes from removed markets, subscribes to added markets and closes an empty connection", () => {
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

  test("applies changed levels as absolute sizes and ignores those of the NO token", async () => {
    const { clock, receive, quotes, drops } = setUpFollowing();
    receive(readFixture("stream/price-change"));
    assert.deepEqual(quotes().at(-1), { bid: 0.42, ask: 0.44, bidSize: 80, eventAt: 1795229999500 });
    await clock.advance(1_000);
    assert.deepEqual([quotes().length, drops], [2, {}]);
  });

  test("emits nothing for a change below the top of book", async () => {
    const { clock, receive, quotes } = setUpFollowing();
    receive(change({ price: "0.30", size: "7" }));
    await clock.advance(1_000);
    assert.equal(quotes().length, 1);
  });

  test("reads an empty advertised price, 0 and 1 as an empty side", async () => {
    for (const [none, bestBid] of [
      ["", "0.43"],
      ["1", "0.43"],
    ] as const) {
      const { clock, receive, quotes, drops } = setUpFollowing();
      receive(change({ price: "0.44", size: "0", side: "SELL", best_bid: bestBid, best_ask: "0.47" }));
      receive(change({ price: "0.47", size: "0", side: "SELL", best_bid: bestBid, best_ask: none }, "1795229999601"));
      await clock.advance(1_000);
      const expected = { bid: 0.43, ask: null, askSize: null, eventAt: 1795229999601 };
      assert.deepEqual([quotes().at(-1), drops], [expected, {}]);
    }
  });

  test("drops and counts messages older than the book but not those with the same time", () => {
    const { receive, quotes, drops } = setUpFollowing();
    receive(change({ size: "5" }, "1795229999000"));
    assert.equal(quotes().at(-1)?.bidSize, 5);
    receive(change({ size: "6" }, "1795229998999"));
    receive(bookAt("1795229998999", { bids: [] }));
    assert.equal(quotes().at(-1)?.bidSize, 5);
    assert.deepEqual(drops, { out_of_order: 2 });
  });

  test("does not treat messages as old after a message with a timestamp in the future", () => {
    const { receive, quotes, drops } = setUpFollowing();
    receive(change({ size: "5" }, "1795233600000"));
    receive(change({ size: "6" }, "1795229999700"));
    assert.equal(quotes().at(-1)?.bidSize, 6);
    assert.deepEqual(drops, {});
  });

  test("counts crossed best prices and emits no quote", () => {
    const { receive, quotes, drops } = setUpFollowing();
    receive(change({ price: "0.45", size: "5", best_bid: "0.45", best_ask: "0.44" }));
    assert.equal(quotes().length, 1);
    assert.deepEqual(drops, { crossed_book: 1 });
  });

  test("counts invalid best prices and uses the local book instead", () => {
    const { receive, quotes, drops } = setUpFollowing();
    receive(change({ size: "7", best_bid: "43" }));
    assert.deepEqual(quotes().at(-1), { bid: 0.43, ask: 0.44, bidSize: 7, askSize: 75, eventAt: 1795229999600 });
    assert.deepEqual(drops, { price_out_of_range: 1 });
  });
});

describe("polymarket stream: bursts", () => {
  const BURST_AT = "1795229999600";
  /** A sale of 200 at 0.42 or better: it empties the bid at 0.43, and the rest is the new best ask at 0.42. */
  const BURST = [
    change({ price: "0.42", size: "79.5", side: "SELL", best_bid: "0.41", best_ask: "0.42" }),
    change({ price: "0.43", size: "0", side: "BUY", best_bid: "0.41", best_ask: "0.42" }),
    change({ price: "0.41", size: "350", side: "BUY", best_bid: "0.41", best_ask: "0.42" }),
  ];
  const AFTER = { bids: [{ price: "0.41", size: "350" }], asks: [{ price: "0.42", size: "79.5" }] };

  test("every quote of a burst has the best prices after the match, and true sizes or none", () => {
    const { receive, quotes, sent, drops } = setUpFollowing();
    for (const frame of BURST) receive(frame);
    receive(bookAt(BURST_AT, AFTER));
    const eventAt = Number(BURST_AT);
    assert.deepEqual(quotes().slice(1), [
      { bid: 0.41, ask: 0.42, bidSize: null, askSize: 79.5, eventAt },
      { bid: 0.41, ask: 0.42, bidSize: 350, askSize: 79.5, eventAt },
    ]);
    assert.deepEqual([sent().length, drops], [1, {}]);
  });

  test("completes the sizes when a burst without a book has ended", async () => {
    for (const end of ["pause", "next frame"]) {
      const { clock, receive, quotes, sent, drops } = setUpFollowing();
      for (const frame of BURST.slice(0, 2)) receive(frame);
      if (end === "pause") await clock.advance(500);
      else receive(change({ price: "0.2", size: "1", best_bid: "0.41", best_ask: "0.42" }, "1795229999601"));
      const expected = { bid: 0.41, ask: 0.42, bidSize: 500, askSize: 79.5, eventAt: Number(BURST_AT) };
      assert.deepEqual([quotes().at(-1), sent().length, drops], [expected, 1, {}], end);
    }
  });

  test("a burst lasts until no frame has arrived for 500 ms", async () => {
    const { clock, receive, sent, drops } = setUpFollowing();
    for (const frame of BURST) {
      receive(frame);
      await clock.advance(400);
    }
    await clock.advance(1_000);
    assert.deepEqual([sent().length, drops], [1, {}]);
  });

  test("accepts a frame whose bid is at a local ask, and removes that ask without a new subscription", async () => {
    const { clock, receive, quotes, sent, drops } = setUpFollowing();
    receive(change({ price: "0.44", size: "78.68", best_bid: "0.44", best_ask: "0.47" }));
    const eventAt = Number(BURST_AT);
    assert.deepEqual(quotes().at(-1), { bid: 0.44, ask: 0.47, bidSize: 78.68, askSize: null, eventAt });
    await clock.advance(500);
    assert.deepEqual(quotes().at(-1), { bid: 0.44, ask: 0.47, bidSize: 78.68, askSize: 300, eventAt });
    assert.deepEqual([sent().length, drops], [1, { stale_level: 1 }]);
  });

  test("renews the subscription if the local book has no level at the advertised best price", async () => {
    const { clock, receive, sent, quotes, drops } = setUpFollowing();
    receive(change({ price: "0.2", size: "9", best_bid: "0.425" }));
    assert.equal(sent().length, 1);
    await clock.advance(500);
    assert.deepEqual(drops, { stale_level: 1, book_mismatch: 1 });
    assert.deepEqual(sent().slice(1), [
      { operation: "unsubscribe", assets_ids: [TOKEN_YES, TOKEN_NO] },
      { operation: "subscribe", assets_ids: [TOKEN_YES, TOKEN_NO], custom_feature_enabled: true },
    ]);
    assert.deepEqual(quotes().slice(1), [{ bid: 0.425, ask: 0.44, bidSize: null, eventAt: Number(BURST_AT) }]);
    receive(change({ price: "0.2", size: "9", best_bid: "0.425" }, "1795229999650"));
    assert.deepEqual(quotes().slice(2), [
      { bid: 0.425, ask: 0.44, bidSize: null, askSize: null, eventAt: 1795229999650 },
    ]);
    // The snapshot may be older than frames that have arrived.
    await clock.advance(500);
    receive(bookAt("1795229999000"));
    receive(change({ price: "0.43", size: "0", best_bid: "0.41" }, "1795229999700"));
    await clock.advance(500);
    assert.deepEqual(quotes().at(-1), { bid: 0.41, ask: 0.44, bidSize: 500, askSize: 75, eventAt: 1795229999700 });
    assert.deepEqual([sent().length, drops.book_mismatch], [3, 1]);
  });

  /** Sends one frame and then a frame with another timestamp, which ends the burst of the first. */
  const setUpFaults = () => {
    const harness = setUpFollowing();
    let at = 1795229999600;
    const subscriptions = () => harness.sent().filter((each) => Object(each).operation === "subscribe").length;
    const sendMismatch = () => {
      for (const price of ["0.425", "0.426"]) harness.receive(change({ price: "0.2", best_bid: price }, String(++at)));
    };
    return { ...harness, subscriptions, sendMismatch, sendBook: () => harness.receive(bookAt(String(++at))) };
  };

  test("requests a snapshot of an inconsistent book at most every 5 seconds", async () => {
    const { clock, sendBook, sendMismatch, subscriptions } = setUpFaults();
    for (let round = 0; round < 5; round++) {
      sendMismatch();
      sendBook();
    }
    assert.equal(subscriptions(), 1);
    await clock.advance(5_000);
    sendMismatch();
    assert.equal(subscriptions(), 2);
  });

  test("repeats the request for a snapshot that does not arrive, and doubles the wait each time", async () => {
    const { clock, sockets, sendMismatch, subscriptions } = setUpFaults();
    const requestedAt: number[] = [];
    for (let second = 0; second <= 80; second++) {
      const before = subscriptions();
      sendMismatch();
      if (subscriptions() > before) requestedAt.push(second);
      await clock.advance(1_000);
      sockets.last.receive("PONG", clock.now());
    }
    assert.deepEqual(requestedAt, [0, 5, 15, 35, 75]);
  });

  test("counts a book with more than 10,000 levels on one side and reads no sizes from it", async () => {
    const { clock, receive, quotes, drops } = setUpFollowing();
    const bids = Array.from({ length: 10_001 }, (_, index) => ({ price: String((index + 1) / 1e6), size: "5" }));
    receive(bookAt("1795229999700", { bids }));
    assert.deepEqual([quotes().length, drops], [1, { book_too_large: 1 }]);
    receive(change({ price: "0.2", best_bid: "0.42" }, "1795229999800"));
    await clock.advance(1_000);
    assert.deepEqual(quotes().at(-1), { bid: 0.42, ask: 0.44, bidSize: null, eventAt: 1795229999800 });
  });
});

describe("polymarket stream: trades, lifecycle and invalid messages", () => {
  test("converts a trade of the NO token to the YES side and updates the last price", () => {
    const { receive, messages, quotes } = setUpFollowing();
    receive(readFixture("stream/last-trade-no-token"));
    assert.deepEqual(quotes().at(-1), { lastPrice: 0.43 });
    const message = messages.find(({ kind }) => kind === "trade");
    assert.equal(message?.marketId, "900123");
    assert.deepEqual(message?.kind === "trade" ? message.trade : null, {
      tradeId: "0xab05:no",
      executedAt: 1795229999700,
      yesPrice: 0.43,
      size: 12.5,
      takerSide: "no",
    });
  });

  test("the timestamp of a trade neither changes that of a quote nor makes a later book change appear old", () => {
    const { receive, quotes } = setUpFollowing();
    receive(trade({}, "1795229999900"));
    receive(change({ size: "5" }, "1795229999800"));
    assert.deepEqual(
      quotes()
        .slice(1)
        .map(({ eventAt }) => eventAt),
      [undefined, 1795229999800],
    );
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
    const tooDeep = `${"[".repeat(65)}${"]".repeat(65)}`;
    for (const text of ["PONG", "NO NEW ASSETS", "", "{cut", '\u0000{"type":', "<!doctype html>", tooDeep])
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
    assert.deepEqual(drops, { bad_frame: 4, bad_message: 5, price_out_of_range: 1 });
  });
});
