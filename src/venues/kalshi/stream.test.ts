import assert from "node:assert/strict";
import { test } from "node:test";
import { streamHarness } from "../../../test/support/venues/adapter-harness.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import type { MarketListing } from "../../domain/market.ts";
import { openStream } from "./stream.ts";
import { createKalshiDriftDetectors } from "./wire.ts";

const readFixture = fixtureReader(import.meta.url);

const TICKER = "KXRAINNYC-26DEC01-T1";

interface Command {
  readonly id: number;
  readonly cmd: string;
  readonly params: {
    readonly channels?: readonly string[];
    readonly market_tickers?: readonly string[];
    readonly sid?: number;
    readonly sids?: readonly number[];
    readonly action?: string;
  };
}

/** A stream over a fake socket on which the test sends the venue's messages. */
function setUp(marketsMax = 100) {
  const harness = streamHarness();
  const { ports, clock, sockets, handlers } = harness;
  const stream = openStream({
    ports: { ...ports, driftDetectors: createKalshiDriftDetectors(() => {}) },
    wsUrl: "wss://venue.test/trade-api/ws/v2",
    signer: (method, path, timestampMs) => ({ signed: `${method} ${path} ${timestampMs}` }),
    handlers,
    marketsMax,
  });
  const receive = (message: unknown) => sockets.last.receive(JSON.stringify(message), clock.now());
  const commands = (): Command[] => sockets.last.sent.splice(0).map((text) => JSON.parse(text));
  let sids = 0;
  return {
    ...harness,
    stream,
    receive,
    open: () => sockets.last.accept(),
    /** Returns the commands since the previous call. */
    commands,
    /** Expects a request for the list of subscriptions as the only command, and responds to it. */
    list(...sids: number[]) {
      const [command, ...others] = commands();
      assert.ok(command?.cmd === "list_subscriptions" && others.length === 0);
      receive({ id: command.id, type: "ok", msg: sids.map((sid) => ({ channel: "any", sid })) });
    },
    /** Confirms a subscription to each channel. */
    confirm(...channels: string[]) {
      for (const channel of channels) receive({ type: "subscribed", msg: { channel, sid: ++sids } });
    },
  };
}

/** A connected stream that follows one market with every subscription confirmed. */
function setUpFollowing() {
  const harness = setUp();
  harness.stream.follow([market(TICKER)]);
  harness.open();
  harness.confirm("market_lifecycle_v2", "ticker", "trade");
  return harness;
}

const market = (marketId: string) => ({ marketId }) as MarketListing;

test("signs the handshake of each connection attempt", async () => {
  const { clock, sockets } = setUp();
  const { connections } = sockets;
  assert.equal(connections[0]?.headers.signed, `GET /trade-api/ws/v2 ${clock.now()}`);
  connections[0]?.drop("refused");
  await clock.advance(1_000);
  assert.equal(connections.length, 2);
  assert.notEqual(connections[1]?.headers.signed, connections[0]?.headers.signed);
});

test("if no markets are followed, subscribes only to the lifecycle channel, because an empty list means all markets", () => {
  const { open, commands, confirm, states, stream } = setUp();
  open();
  stream.follow([]);
  assert.deepEqual(
    commands().map(({ cmd, params }) => [cmd, params.channels]),
    [["subscribe", ["market_lifecycle_v2"]]],
  );
  confirm("market_lifecycle_v2");
  assert.deepEqual(states, ["up"]);
});

test("calls `onUp` when every channel is confirmed", () => {
  const { stream, open, confirm, states } = setUp();
  stream.follow([market(TICKER)]);
  open();
  confirm("market_lifecycle_v2", "ticker");
  assert.deepEqual(states, []);
  confirm("trade");
  assert.deepEqual(states, ["up"]);
});

test("forwards quotes with the venue's timestamp", () => {
  const { receive, messages, clock } = setUpFollowing();
  receive(readFixture("stream/ticker"));
  assert.deepEqual(messages, [
    {
      kind: "quote",
      marketId: TICKER,
      quote: { bid: 0.42, ask: 0.45, bidSize: 120, askSize: 75.5, lastPrice: 0.43, eventAt: 1_795_229_999_123 },
      receivedAt: clock.now(),
    },
  ]);
});

test("forwards trades of followed markets and ignores other trades", () => {
  const { receive, received } = setUpFollowing();
  const trade = readFixture("stream/trade") as { msg: object };
  receive(trade);
  receive({ ...trade, seq: 2, msg: { ...trade.msg, market_ticker: "KX-OTHER" } });
  assert.deepEqual(received(), [`trade ${TICKER}`]);
});

test("reports lifecycle states of any market as changed and new markets as listed", () => {
  const { open, confirm, receive, received } = setUp();
  open();
  confirm("market_lifecycle_v2");
  receive(readFixture("stream/determined"));
  receive({ type: "market_lifecycle_v2", sid: 1, seq: 2, msg: { event_type: "created", market_ticker: "KX-NEW" } });
  assert.deepEqual(received(), [`changed ${TICKER}`, "listed KX-NEW"]);
});

test("when the followed markets change, sends only the added and removed markets", () => {
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

test("if markets are followed while a subscription is pending, adds them after its confirmation", () => {
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

test("follows the first markets up to the maximum", () => {
  const { stream, open, commands } = setUp(2);
  stream.follow(["A", "B", "C"].map(market));
  open();
  assert.deepEqual(commands().at(-1)?.params.market_tickers, ["A", "B"]);
});

test("after a sequence gap, calls `onDown` and renews the subscriptions", async () => {
  const { confirm, receive, states, commands, list, clock, drops } = setUpFollowing();
  const trade = readFixture("stream/trade") as object;
  receive({ ...trade, seq: 1 });
  receive({ ...trade, seq: 3 });
  assert.deepEqual(states, ["up", "down: sequence gap"]);
  commands();
  await clock.advance(5_000);
  list(1, 2, 3);
  const [unsubscribe, ...others] = commands();
  assert.deepEqual([unsubscribe?.cmd, unsubscribe?.params.sids], ["unsubscribe", [1, 2, 3]]);
  assert.deepEqual(
    others.map(({ cmd, params }) => [cmd, params.channels]),
    [
      ["subscribe", ["market_lifecycle_v2"]],
      ["subscribe", ["ticker", "trade"]],
    ],
  );
  confirm("market_lifecycle_v2", "ticker", "trade");
  assert.deepEqual(states, ["up", "down: sequence gap", "up"]);
  assert.equal(drops.sequence_gap, 1);
});

test("ignores and counts a repeated message, and the stream remains up", () => {
  const { receive, received, states, drops } = setUpFollowing();
  const trade = readFixture("stream/trade") as object;
  for (const seq of [1, 1, 2]) receive({ ...trade, seq });
  assert.deepEqual(received(), [`trade ${TICKER}`, `trade ${TICKER}`]);
  assert.deepEqual([states, drops], [["up"], { message_repeated: 1 }]);
});

test("after a lost confirmation, ends every subscription that the venue lists before it subscribes again", async () => {
  const { stream, open, confirm, list, commands, states, clock, drops, receive } = setUp();
  stream.follow([market(TICKER)]);
  open();
  confirm("market_lifecycle_v2", "ticker");
  commands();
  await clock.advance(5_000);
  // The confirmation of the trade channel (3) was lost.
  list(1, 2, 3);
  assert.deepEqual(
    commands().map(({ cmd, params }) => [cmd, params.sids ?? params.channels]),
    [
      ["unsubscribe", [1, 2, 3]],
      ["subscribe", ["market_lifecycle_v2"]],
      ["subscribe", ["ticker", "trade"]],
    ],
  );
  for (const sid of [1, 2, 3]) receive({ id: 6, type: "unsubscribed", sid, seq: 9 });
  confirm("market_lifecycle_v2", "ticker", "trade");
  assert.deepEqual([states, drops], [["up"], {}]);
});

test("while the list of subscriptions is pending, sends no other command, and repeats the request if it is lost", async () => {
  const { stream, open, confirm, list, commands, clock, states } = setUp();
  open();
  commands();
  await clock.advance(5_000);
  assert.deepEqual(
    commands().map(({ cmd }) => cmd),
    ["list_subscriptions"],
  );
  stream.follow([market("A")]);
  confirm("market_lifecycle_v2");
  assert.deepEqual([commands(), states], [[], []]);
  await clock.advance(10_000);
  list(1);
  assert.deepEqual(
    commands().map(({ cmd, params }) => [cmd, params.sids ?? params.market_tickers]),
    [
      ["unsubscribe", [1]],
      ["subscribe", undefined],
      ["subscribe", ["A"]],
    ],
  );
});

test("drops and counts messages of a subscription that has ended", () => {
  const { drops, stream, confirm, receive, messages } = setUpFollowing();
  stream.follow([]);
  stream.follow([market(TICKER)]);
  confirm("ticker", "trade");
  receive(readFixture("stream/ticker"));
  assert.deepEqual(messages, []);
  assert.equal(drops.message_not_subscribed, 1);
});

test("repeats an unconfirmed subscription and doubles the delay each time", async () => {
  const { open, commands, clock, sockets, receive } = setUp();
  open();
  const subscribedAt: number[] = [];
  for (let second = 0; second < 40; second++) {
    const sent = commands();
    for (const { id, cmd } of sent) if (cmd === "list_subscriptions") receive({ id, type: "ok", msg: [] });
    if ([...sent, ...commands()].some(({ cmd }) => cmd === "subscribe")) subscribedAt.push(second);
    sockets.last.ping();
    await clock.advance(1_000);
  }
  assert.deepEqual(subscribedAt, [0, 5, 15, 35]);
});

test("reconnects if the server pings but sends no data of followed markets, but not if no markets are followed", async () => {
  const { clock, open, confirm, stream, sockets, drops } = setUp();
  open();
  confirm("market_lifecycle_v2");
  const pingFor400s = async () => {
    for (let ping = 0; ping < 40; ping++) {
      await clock.advance(10_000);
      sockets.last.ping();
    }
  };
  await pingFor400s();
  assert.deepEqual([sockets.connections.length, drops], [1, {}]);
  stream.follow([market("A")]);
  confirm("ticker", "trade");
  await pingFor400s();
  assert.deepEqual([sockets.connections.length, drops], [2, { stream_frozen: 1 }]);
});

test("halves the number of followed markets after the error `Too many markets`", async () => {
  const { stream, open, confirm, receive, commands, list, clock, drops } = setUp();
  stream.follow(["A", "B", "C", "D"].map(market));
  open();
  confirm("market_lifecycle_v2");
  receive({ id: 2, type: "error", msg: { code: 26, msg: "Too many markets" } });
  commands();
  stream.follow(Array.from({ length: 100 }, (_, index) => market(`M${index}`)));
  await clock.advance(5_000);
  list(1);
  assert.equal(commands().at(-1)?.params.market_tickers?.length, 50);
  assert.equal(drops.stream_error_26, 1);
});

test("counts malformed messages, ignores unknown messages and forwards neither", () => {
  const { open, confirm, receive, messages, drops, clock, sockets } = setUp();
  open();
  confirm("market_lifecycle_v2");
  sockets.last.receive("{", clock.now());
  for (const message of [null, 7, { type: 7 }, { type: "market_lifecycle_v2", sid: 1, seq: 1, msg: 5 }])
    receive(message);
  receive({ type: "error", msg: "no" });
  receive({ type: "something_new", msg: {} });
  assert.deepEqual(messages, []);
  assert.deepEqual(drops, { bad_message: 6 });
});

test("clears both sides if a ticker is crossed, and keeps the last price if the ticker's price is 0", () => {
  const { receive, quotes, drops } = setUpFollowing();
  const ticker = readFixture("stream/ticker") as { msg: object };
  receive({ ...ticker, msg: { ...ticker.msg, yes_bid_dollars: "0.4500", price_dollars: "0.0000" } });
  assert.deepEqual(quotes(), [{ bid: null, ask: null, bidSize: null, askSize: null, eventAt: 1_795_229_999_123 }]);
  assert.deepEqual(drops, { crossed_book: 1 });
});
