import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { FakeSockets } from "../../../test/support/venues/fake-sockets.ts";
import type { MarketListing } from "../../domain/market.ts";
import type { StreamMessage } from "../../ports/venue.ts";
import { openMarketStream } from "./stream.ts";
import { countDrops, fixture } from "./test-fixtures.ts";
import { detectPolymarketDrift } from "./wire.ts";

const [yesBook, noBook] = fixture("stream/book-both-tokens") as { asset_id: string }[];
const TOKEN_YES = yesBook?.asset_id ?? "";
const TOKEN_NO = noBook?.asset_id ?? "";

const market = (marketId: string, tokenYes: string, tokenNo: string): MarketListing => ({
  venue: "polymarket",
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
  venueKeys: { tokenYes, tokenNo },
});
const RAIN = market("900123", TOKEN_YES, TOKEN_NO);
const many = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => market(`m${from + index}`, `1${from + index}`, `2${from + index}`));

function open() {
  // Just after the fixtures were told.
  const clock = new FakeClock(Date.UTC(2026, 10, 21, 3));
  const sockets = new FakeSockets();
  const { drops, drop } = countDrops();
  const told: StreamMessage[] = [];
  const states: string[] = [];
  const random = { uniform: () => 0.5, bytes: (length: number) => new Uint8Array(length) };
  const http = { send: () => Promise.reject(new Error("the stream asks nothing")) };
  const ports = {
    id: "polymarket",
    playMoney: false,
    http,
    sockets,
    clock,
    random,
    log: quietLog,
    drop,
    drift: () => {},
    detectors: detectPolymarketDrift(() => {}),
  };
  const handlers = {
    onMessage: (message: StreamMessage) => void told.push(message),
    onUp: () => void states.push("up"),
    onDown: (reason: string) => void states.push(reason),
  };
  const stream = openMarketStream({ ports, wsUrl: "ws://venue.test/ws/market", handlers });
  const say = (message: unknown) => sockets.last.say(JSON.stringify(message), clock.now());
  const sent = () => sockets.last.sent.map((text): unknown => (text === "PING" ? text : JSON.parse(text)));
  const quotes = () => told.flatMap((message) => (message.kind === "quote" ? [message.quote] : []));
  return { clock, sockets, drops, told, states, stream, say, sent, quotes };
}

function followRain() {
  const bench = open();
  bench.stream.follow([RAIN]);
  bench.sockets.last.accept();
  bench.say(fixture("stream/book-both-tokens"));
  return bench;
}

const change = (fields: object, timestamp = "1795229999600") => ({
  event_type: "price_change",
  timestamp,
  price_changes: [
    { asset_id: TOKEN_YES, price: "0.43", size: "10", side: "BUY", best_bid: "0.43", best_ask: "0.44", ...fields },
  ],
});

describe("polymarket: the market stream", () => {
  test("both tokens are subscribed on one connection, with the custom features", () => {
    const { sent, states } = followRain();
    assert.deepEqual(sent(), [{ type: "market", assets_ids: [TOKEN_YES, TOKEN_NO], custom_feature_enabled: true }]);
    assert.deepEqual(states, ["up"]);
  });

  test("an array frame with both books is one quote, from the YES book, at the venue's time", () => {
    const { quotes } = followRain();
    assert.deepEqual(quotes(), [
      { bid: 0.43, ask: 0.44, bidSize: 120.5, askSize: 75, lastPrice: 0.43, eventAt: 1795229999000 },
    ]);
  });

  test("a stream that answers pings and tells nothing of its markets any more is opened anew and counted", async () => {
    const { clock, sockets, say, drops, sent, quotes } = followRain();
    for (let turn = 0; turn < 30; turn++) {
      await clock.advance(2_000);
      say(change({ size: String(turn + 20) }, String(1795229999600 + turn)));
    }
    for (let turn = 0; turn < 12; turn++) {
      await clock.advance(10_000);
      sockets.last.say("PONG", clock.now());
    }
    await clock.advance(1_000);
    assert.deepEqual(drops, { stream_frozen: 1 });
    assert.equal(sockets.connections.length, 2);
    sockets.last.accept();
    assert.deepEqual(sent()[0], {
      ...{ type: "market", assets_ids: [TOKEN_YES, TOKEN_NO], custom_feature_enabled: true },
    });
    const before = quotes().length;
    say(fixture("stream/book-both-tokens"));
    assert.equal(quotes().length, before + 1);
  });

  test("changed levels are absolute sizes, 0 removes one, and the mirror token's are not counted again", () => {
    const { say, quotes, drops } = followRain();
    say(fixture("stream/price-change"));
    assert.deepEqual(quotes().at(-1), { bid: 0.42, ask: 0.44, bidSize: 80, askSize: 75, eventAt: 1795229999500 });
    assert.deepEqual(drops, {});
  });

  test("a change below the top tells nothing", () => {
    const { say, quotes } = followRain();
    say(change({ price: "0.30", size: "7" }));
    assert.equal(quotes().length, 1);
  });

  test("an advertised top that is not ours discards the book, and a fresh one is subscribed to", () => {
    const { say, sent, quotes, drops } = followRain();
    say(change({ best_bid: "0.41" }));
    assert.deepEqual(drops, { book_mismatch: 1 });
    assert.deepEqual(sent().slice(1), [
      { operation: "unsubscribe", assets_ids: [TOKEN_YES, TOKEN_NO] },
      { operation: "subscribe", assets_ids: [TOKEN_YES, TOKEN_NO], custom_feature_enabled: true },
    ]);
    say(change({ size: "99" }, "1795229999700"));
    assert.equal(quotes().length, 1, "changes to a book we do not have tell nothing");
    say(fixture("stream/book-both-tokens"));
    assert.equal(quotes().length, 2);
  });

  test("a book that keeps being wrong is not asked for again and again", async () => {
    const { say, sent, clock } = followRain();
    for (let turn = 0; turn < 5; turn++) {
      say(change({ best_bid: "0.41" }));
      say(fixture("stream/book-both-tokens"));
    }
    assert.equal(sent().length, 3);
    await clock.advance(5_000);
    say(change({ best_bid: "0.41" }));
    assert.equal(sent().filter((each) => each !== "PING").length, 5);
  });

  test("no advertised top is the empty string, and an empty side is null", () => {
    const { say, quotes, drops } = followRain();
    say(change({ price: "0.44", size: "0", side: "SELL", best_ask: "0.47" }));
    say(change({ price: "0.47", size: "0", side: "SELL", best_ask: "" }, "1795229999601"));
    assert.deepEqual(quotes().at(-1), { bid: 0.43, ask: null, bidSize: 120.5, askSize: null, eventAt: 1795229999601 });
    assert.deepEqual(drops, {});
  });

  test("messages older than the book are dropped and counted, equal times are not", () => {
    const { say, quotes, drops } = followRain();
    say(change({ size: "5" }, "1795229999000"));
    assert.equal(quotes().at(-1)?.bidSize, 5);
    say(change({ size: "6" }, "1795229998999"));
    assert.equal(quotes().at(-1)?.bidSize, 5);
    assert.deepEqual(drops, { out_of_order: 1 });
  });

  test("a time that has yet to come does not make what follows look old", () => {
    const { say, quotes, drops } = followRain();
    say(change({ size: "5" }, "1795233600000"));
    say(change({ size: "6" }, "1795229999700"));
    assert.equal(quotes().at(-1)?.bidSize, 6);
    assert.deepEqual(drops, {});
  });

  test("a crossed book is discarded and counted", () => {
    const { say, quotes, drops } = followRain();
    say(change({ price: "0.45", size: "5", best_bid: "0.45", best_ask: "0.44" }));
    assert.equal(quotes().length, 1);
    assert.deepEqual(drops, { crossed_book: 1 });
  });

  test("a trade of the NO token is told from the YES side, and moves the last price", () => {
    const { say, told, quotes } = followRain();
    say(fixture("stream/last-trade-no-token"));
    const trade = told.find((message) => message.kind === "trade");
    assert.equal(trade?.marketId, "900123");
    assert.deepEqual(quotes().at(-1), { lastPrice: 0.43, eventAt: 1795229999700 });
  });

  test("a tick change and a resolution ask for the market again, a new market is told once", () => {
    const { say, told } = followRain();
    say({
      event_type: "tick_size_change",
      asset_id: TOKEN_YES,
      old_tick_size: "0.01",
      new_tick_size: "0.001",
      timestamp: "1",
    });
    say({
      event_type: "market_resolved",
      id: "900123",
      assets_ids: [TOKEN_YES, TOKEN_NO],
      winning_asset_id: TOKEN_YES,
    });
    for (let turn = 0; turn < 3; turn++) say({ event_type: "new_market", id: "900999", assets_ids: ["1", "2"] });
    const rest = told.slice(1).map(({ kind, marketId }) => [kind, marketId]);
    assert.deepEqual(rest, [
      ["changed", "900123"],
      ["changed", "900123"],
      ["listed", "900999"],
    ]);
  });

  test("words, garbage and unknown messages are no messages; what is broken is counted", () => {
    const { sockets, say, told, drops } = followRain();
    for (const text of ["PONG", "NO NEW ASSETS", "", "{cut", '\u0000{"type":', "<!doctype html>"])
      sockets.last.say(text);
    for (const message of [
      null,
      7,
      [],
      {},
      { event_type: "best_bid_ask" },
      { event_type: "price_change" },
      { event_type: "book", asset_id: TOKEN_YES },
    ]) {
      say(message);
    }
    say(change({ price: "1.7" }));
    assert.equal(told.length, 1);
    assert.deepEqual(drops, { bad_frame: 3, bad_message: 5, price_out_of_range: 1 });
  });

  test("a book's last price that is none is left out and counted", () => {
    const { say, quotes, drops } = followRain();
    const [book] = fixture("stream/book-both-tokens") as readonly object[];
    say({ ...book, timestamp: "1795229999700", bids: [], last_trade_price: "1.43" });
    assert.deepEqual(
      [quotes().length, "lastPrice" in (quotes()[1] ?? {}), drops],
      [2, false, { price_out_of_range: 1 }],
    );
  });

  test("PING goes out every ten seconds", async () => {
    const { clock, sockets, sent } = followRain();
    for (let turn = 0; turn < 3; turn++) {
      await clock.advance(10_000);
      sockets.last.say("PONG");
    }
    assert.equal(sent().filter((each) => each === "PING").length, 3);
  });

  test("after a reconnect nothing held before is trusted until a whole book came", async () => {
    const { clock, sockets, say, states, quotes, sent } = followRain();
    sockets.last.drop("gone");
    await clock.advance(1_000);
    assert.equal(sockets.connections.length, 2);
    sockets.last.accept();
    assert.deepEqual(states, ["up", "gone", "up"]);
    assert.equal(sent().length, 1);
    say(change({ size: "3" }));
    assert.equal(quotes().length, 1);
    say(fixture("stream/book-both-tokens"));
    assert.equal(quotes().length, 2);
  });

  test("150 markets fit on a connection; up means that all connections are", () => {
    const { sockets, stream, states } = open();
    stream.follow(many(301));
    assert.equal(sockets.connections.length, 3);
    for (const connection of sockets.connections) {
      assert.deepEqual(states, []);
      connection.accept();
    }
    assert.deepEqual(states, ["up"]);
    const counts = sockets.connections.map(({ sent }) => JSON.parse(sent[0] ?? "{}").assets_ids.length);
    assert.deepEqual(counts, [300, 300, 2]);
  });

  test("at most 1,500 markets are taken, the first ones", () => {
    const { sockets, stream } = open();
    stream.follow(many(1_600));
    assert.equal(sockets.connections.length, 10);
  });

  test("following another set drops what left, joins what came, and closes an empty connection", () => {
    const { sockets, stream } = open();
    stream.follow(many(151));
    const [first, second] = sockets.connections;
    first?.accept();
    second?.accept();
    stream.follow([...many(149, 1), ...many(1, 500)]);
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
