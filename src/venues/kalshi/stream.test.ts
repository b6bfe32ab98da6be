import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import type { MarketListing } from "../../domain/market.ts";
import type { SocketHandlers, SocketOut } from "../../ports/socket-out.ts";
import type { StreamMessage } from "../../ports/venue.ts";
import { countDrops, readFixture } from "./fixtures/support.ts";
import { openKalshiStream } from "./stream.ts";
import { detectKalshiDrift } from "./wire.ts";

const TICKER = "KXRAINNYC-26DEC01-T1";

interface Command {
  readonly cmd: string;
  readonly params: {
    readonly channels?: readonly string[];
    readonly market_tickers?: readonly string[];
    readonly sid?: number;
    readonly sids?: readonly number[];
    readonly action?: string;
  };
}

/** A stream whose socket the test plays the venue's part on. */
function setUp(marketsMax = 100) {
  const clock = new FakeClock();
  const { drop, dropped } = countDrops();
  const connections: { readonly handlers: SocketHandlers; readonly headers: Readonly<Record<string, string>> }[] = [];
  let sent: Command[] = [];
  const sockets: SocketOut = {
    connect(_url, { headers = {} }, handlers) {
      connections.push({ handlers, headers });
      return { send: () => {}, close: () => handlers.onClose("closed") };
    },
  };
  const told: StreamMessage[] = [];
  const changes: string[] = [];
  const stream = openKalshiStream({
    ports: {
      sockets,
      clock,
      random: { uniform: () => 0, bytes: (length) => new Uint8Array(length) },
      log: quietLog,
      drop,
      detectors: detectKalshiDrift(() => {}),
    },
    wsUrl: "wss://venue.test/trade-api/ws/v2",
    signer: (method, path, timestampMs) => ({ signed: `${method} ${path} ${timestampMs}` }),
    handlers: {
      onMessage: (message) => told.push(message),
      onUp: () => changes.push("up"),
      onDown: (reason) => changes.push(`down: ${reason}`),
    },
    marketsMax,
  });
  const current = () => {
    const connection = connections.at(-1);
    assert.ok(connection);
    return connection;
  };
  const say = (message: unknown) => current().handlers.onMessage(JSON.stringify(message), clock.now());
  let sids = 0;
  return {
    ...{ clock, stream, told, changes, dropped, connections, say },
    open: () =>
      current().handlers.onOpen({
        send: (text) => sent.push(JSON.parse(text)),
        close: () => current().handlers.onClose("silence"),
      }),
    /** Commands since the last look. */
    commands() {
      const commands = sent;
      sent = [];
      return commands;
    },
    /** Confirms a subscription to each channel and gives the sid of the last. */
    confirm(...channels: string[]) {
      for (const channel of channels) say({ type: "subscribed", msg: { channel, sid: ++sids } });
      return sids;
    },
  };
}

const market = (marketId: string) => ({ marketId }) as MarketListing;

test("the handshake is signed anew for each attempt", async () => {
  const { clock, connections } = setUp();
  const now = clock.now();
  assert.equal(connections[0]?.headers.signed, `GET /trade-api/ws/v2 ${now}`);
  connections[0]?.handlers.onClose("refused");
  await clock.advance(1_000);
  assert.equal(connections.length, 2);
  assert.notEqual(connections[1]?.headers.signed, connections[0]?.headers.signed);
});

test("without followed markets only the lifecycle is subscribed: no list of markets would mean all there are", () => {
  const { open, commands, confirm, changes, stream } = setUp();
  open();
  stream.follow([]);
  assert.deepEqual(
    commands().map(({ cmd, params }) => [cmd, params.channels]),
    [["subscribe", ["market_lifecycle_v2"]]],
  );
  confirm("market_lifecycle_v2");
  assert.deepEqual(changes, ["up"]);
});

test("the stream is up only once every channel is confirmed", () => {
  const { stream, open, confirm, changes } = setUp();
  stream.follow([market(TICKER)]);
  open();
  confirm("market_lifecycle_v2", "ticker");
  assert.deepEqual(changes, []);
  confirm("trade");
  assert.deepEqual(changes, ["up"]);
});

test("stream-ticker: a quote carries the venue's own instant", () => {
  const { stream, open, confirm, say, told, clock } = setUp();
  stream.follow([market(TICKER)]);
  open();
  confirm("market_lifecycle_v2", "ticker", "trade");
  say(readFixture("stream-ticker"));
  assert.deepEqual(told, [
    {
      kind: "quote",
      marketId: TICKER,
      quote: { bid: 0.42, ask: 0.45, bidSize: 120, askSize: 75.5, lastPrice: 0.43, eventAt: 1_795_229_999_123 },
      receivedAt: clock.now(),
    },
  ]);
});

test("stream-trade: trades of followed markets are told, those of others are not", () => {
  const { stream, open, confirm, say, told } = setUp();
  stream.follow([market(TICKER)]);
  open();
  confirm("market_lifecycle_v2", "ticker", "trade");
  const trade = readFixture("stream-trade") as { msg: object };
  say(trade);
  say({ ...trade, seq: 2, msg: { ...trade.msg, market_ticker: "KX-OTHER" } });
  assert.deepEqual(
    told.map(({ kind, marketId }) => [kind, marketId]),
    [["trade", TICKER]],
  );
});

test("stream-determined: what happens in the life of any market is a reason to read it again, a new one is listed", () => {
  const { open, confirm, say, told } = setUp();
  open();
  confirm("market_lifecycle_v2");
  say(readFixture("stream-determined"));
  say({ type: "market_lifecycle_v2", sid: 1, seq: 2, msg: { event_type: "created", market_ticker: "KX-NEW" } });
  assert.deepEqual(
    told.map(({ kind, marketId }) => [kind, marketId]),
    [
      ["changed", TICKER],
      ["listed", "KX-NEW"],
    ],
  );
});

test("following other markets tells the venue the difference only", () => {
  const { stream, open, confirm, commands } = setUp();
  stream.follow([market("A"), market("B")]);
  open();
  confirm("market_lifecycle_v2", "ticker", "trade");
  commands();
  stream.follow([market("B"), market("C")]);
  assert.deepEqual(
    commands().map(({ cmd, params }) => [cmd, params.sid, params.action, params.market_tickers]),
    [
      ["update_subscription", 2, "add_markets", ["C"]],
      ["update_subscription", 2, "delete_markets", ["A"]],
      ["update_subscription", 3, "add_markets", ["C"]],
      ["update_subscription", 3, "delete_markets", ["A"]],
    ],
  );
  stream.follow([market("B"), market("C")]);
  assert.deepEqual(commands(), []);
  stream.follow([]);
  assert.deepEqual(
    commands().map(({ cmd, params }) => [cmd, params.sids]),
    [["unsubscribe", [2, 3]]],
  );
});

test("markets followed while a subscription waits for its confirmation are added after it", () => {
  const { stream, open, confirm, commands } = setUp();
  stream.follow([market("A")]);
  open();
  commands();
  stream.follow([market("A"), market("B")]);
  assert.deepEqual(commands(), []);
  confirm("market_lifecycle_v2", "ticker", "trade");
  assert.deepEqual(
    commands().map(({ params }) => [params.action, params.market_tickers]),
    [
      ["add_markets", ["B"]],
      ["add_markets", ["B"]],
    ],
  );
});

test("no more markets than allowed are followed, the first ones", () => {
  const { stream, open, commands } = setUp(2);
  stream.follow(["A", "B", "C"].map(market));
  open();
  assert.deepEqual(commands().at(-1)?.params.market_tickers, ["A", "B"]);
});

test("a gap in the sequence takes the stream down and subscribes anew", async () => {
  const { stream, open, confirm, say, changes, commands, clock, dropped } = setUp();
  stream.follow([market(TICKER)]);
  open();
  confirm("market_lifecycle_v2", "ticker", "trade");
  const trade = readFixture("stream-trade") as object;
  say({ ...trade, seq: 1 });
  say({ ...trade, seq: 3 });
  assert.deepEqual(changes, ["up", "down: sequence gap"]);
  commands();
  await clock.advance(5_000);
  assert.deepEqual(
    commands().map(({ cmd }) => cmd),
    ["unsubscribe", "subscribe", "subscribe"],
  );
  confirm("market_lifecycle_v2", "ticker", "trade");
  assert.deepEqual(changes, ["up", "down: sequence gap", "up"]);
  assert.equal(dropped.sequence_gap, 1);
});

test("messages of a subscription that was given up are not told, and counted", () => {
  const { dropped, stream, open, confirm, say, told } = setUp();
  stream.follow([market(TICKER)]);
  open();
  confirm("market_lifecycle_v2", "ticker", "trade");
  stream.follow([]);
  stream.follow([market(TICKER)]);
  confirm("ticker", "trade");
  say(readFixture("stream-ticker"));
  assert.deepEqual(told, []);
  assert.equal(dropped.message_not_subscribed, 1);
});

test("a subscription that is never confirmed is asked for again, ever later", async () => {
  const { open, commands, clock, connections } = setUp();
  open();
  const asked: number[] = [];
  for (let second = 0; second < 40; second++) {
    if (commands().length > 0) asked.push(second);
    // The server's pings keep the socket alive.
    connections[0]?.handlers.onPing();
    await clock.advance(1_000);
  }
  assert.deepEqual(asked, [0, 5, 15, 35]);
});

test("a stream that pings and tells nothing of the followed markets is opened anew; without any it may be quiet", async () => {
  const { clock, open, confirm, stream, connections, dropped } = setUp();
  open();
  confirm("market_lifecycle_v2");
  const beQuiet = async () => {
    for (let turn = 0; turn < 40; turn++) {
      await clock.advance(10_000);
      connections.at(-1)?.handlers.onPing();
    }
  };
  await beQuiet();
  assert.deepEqual([connections.length, dropped], [1, {}]);
  stream.follow([market("A")]);
  confirm("ticker", "trade");
  await beQuiet();
  assert.deepEqual([connections.length, dropped], [2, { stream_frozen: 1 }]);
});

test("too many markets: the next subscription asks for half of them", async () => {
  const { stream, open, confirm, say, commands, clock, dropped } = setUp();
  stream.follow(["A", "B", "C", "D"].map(market));
  open();
  confirm("market_lifecycle_v2");
  say({ id: 2, type: "error", msg: { code: 26, msg: "Too many markets" } });
  commands();
  stream.follow(Array.from({ length: 100 }, (_, index) => market(`M${index}`)));
  await clock.advance(5_000);
  assert.equal(commands().at(-1)?.params.market_tickers?.length, 50);
  assert.equal(dropped.stream_error_26, 1);
});

test("garbage, numbers for text and unknown messages are counted or passed over, and nothing is told", () => {
  const { open, confirm, say, told, dropped, connections, clock } = setUp();
  open();
  confirm("market_lifecycle_v2");
  connections[0]?.handlers.onMessage("{", clock.now());
  for (const message of [null, 7, { type: 7 }, { type: "market_lifecycle_v2", sid: 1, seq: 1, msg: 5 }]) say(message);
  say({ type: "error", msg: "no" });
  say({ type: "something_new", msg: {} });
  assert.deepEqual(told, []);
  assert.deepEqual(dropped, { bad_message: 6 });
});

test("a crossed ticker takes both sides away, a last price of 0 takes none", () => {
  const { stream, open, confirm, say, told, dropped } = setUp();
  stream.follow([market(TICKER)]);
  open();
  confirm("market_lifecycle_v2", "ticker", "trade");
  const ticker = readFixture("stream-ticker") as { msg: object };
  say({ ...ticker, msg: { ...ticker.msg, yes_bid_dollars: "0.4500", price_dollars: "0.0000" } });
  const [message] = told;
  assert.equal(message?.kind, "quote");
  assert.deepEqual(message?.kind === "quote" && message.quote, {
    ...{ bid: null, ask: null, bidSize: null, askSize: null },
    eventAt: 1_795_229_999_123,
  });
  assert.deepEqual(dropped, { crossed_book: 1 });
});
