import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { FakeSockets } from "../../../test/support/venues/fake-sockets.ts";
import type { MarketListing } from "../../domain/market.ts";
import type { StreamMessage } from "../../ports/venue.ts";
import { parseMarketId } from "./ids.ts";
import { openManifoldStream } from "./stream.ts";
import { watchManifold } from "./wire-shapes.ts";

const NOW = 1_795_230_000_000;
const newBet = readFileSync(new URL("fixtures/stream/new-bet.json", import.meta.url), "utf8");

function setUp(options: { missed?: readonly unknown[]; marketsMax?: number } = {}) {
  const clock = new FakeClock(NOW);
  const sockets = new FakeSockets();
  const messages: StreamMessage[] = [];
  const states: string[] = [];
  const drops: string[] = [];
  const asked: number[] = [];
  const stream = openManifoldStream({
    ports: {
      sockets,
      clock,
      random: { uniform: () => 1, bytes: (length) => new Uint8Array(length) },
      log: quietLog,
      drop: (reason) => drops.push(reason),
      watch: watchManifold(() => {}),
    },
    wsUrl: "wss://venue.example/ws",
    marketsMax: options.marketsMax ?? 100,
    handlers: {
      onMessage: (message) => messages.push(message),
      onUp: () => states.push("up"),
      onDown: () => states.push("down"),
    },
    fetchBetsSince: async (sinceMs) => {
      asked.push(sinceMs);
      return { rows: options.missed ?? [], receivedAt: NOW };
    },
  });
  const follow = (...ids: string[]) => stream.follow(ids.map(listingOf));
  const sent = () => sockets.last.sent.map((text): Record<string, unknown> => JSON.parse(text));
  /** Acknowledges the latest subscription. */
  const acknowledge = (success = true) => {
    const { txid } = sent().findLast(({ type }) => type === "subscribe") ?? {};
    sockets.last.say(JSON.stringify({ type: "ack", txid, success, ...(success ? {} : { error: "no" }) }), NOW);
  };
  const say = (topic: string, data: unknown) =>
    sockets.last.say(JSON.stringify({ type: "broadcast", topic, data }), NOW);
  return { clock, sockets, messages, states, drops, asked, stream, follow, sent, acknowledge, say };
}

function listingOf(marketId: string): MarketListing {
  const contractId = parseMarketId(marketId)?.contractId ?? marketId;
  return { marketId, venueKeys: { contractId } } as unknown as MarketListing;
}

test("it subscribes to the three global topics and is up once that is acknowledged", () => {
  const { sockets, states, sent, acknowledge } = setUp();
  sockets.last.accept();
  assert.deepEqual(sent(), [
    { type: "subscribe", txid: 1, topics: ["global/new-bet", "global/updated-contract", "global/new-contract"] },
  ]);
  assert.deepEqual(states, []);
  acknowledge();
  assert.deepEqual(states, ["up"]);
});

test("a subscription without acknowledgement, or refused, is sent again after five seconds", async () => {
  const { clock, sockets, states, sent, acknowledge } = setUp();
  const subscriptions = () => sent().filter(({ type }) => type === "subscribe").length;
  sockets.last.accept();
  await clock.advance(5_000);
  assert.equal(subscriptions(), 2);
  acknowledge(false);
  await clock.advance(5_000);
  assert.equal(subscriptions(), 3);
  assert.deepEqual(states, []);
  acknowledge();
  await clock.advance(5_000);
  assert.equal(subscriptions(), 3);
  assert.deepEqual(states, ["up"]);
});

test("it pings every ten seconds with rising txid, and silence after that means down and a new connection", async () => {
  const { clock, sockets, states, sent, acknowledge } = setUp();
  sockets.last.accept();
  acknowledge();
  await clock.advance(20_000);
  assert.deepEqual(
    sent().map(({ type, txid }) => [type, txid]),
    [
      ["subscribe", 1],
      ["ping", 2],
      ["ping", 3],
    ],
  );
  await clock.advance(12_000);
  assert.deepEqual(states, ["up", "down"]);
  assert.equal(sockets.connections.length, 2);
});

test("stream/new-bet: followed markets get their trade and the probability it left, at the venue's time", () => {
  const { sockets, messages, drops, follow } = setUp();
  follow("rainNYC12a", "cupFinal7Xq:ansRed1", "cupFinal7Xq:ansBlue2");
  sockets.last.accept();
  sockets.last.say(newBet, NOW);
  assert.deepEqual(
    messages.map((message) => [message.kind, message.marketId]),
    [
      ["trade", "rainNYC12a"],
      ["quote", "rainNYC12a"],
      ["trade", "cupFinal7Xq:ansRed1"],
      ["quote", "cupFinal7Xq:ansRed1"],
      ["quote", "cupFinal7Xq:ansBlue2"],
    ],
  );
  const quotes = messages.flatMap((message) => (message.kind === "quote" ? [message.quote] : []));
  assert.deepEqual(quotes, [
    { indicativePrice: 0.4375, eventAt: NOW - 9_000 },
    { indicativePrice: 0.39, eventAt: NOW - 9_000 },
    { indicativePrice: 0.38, eventAt: NOW - 9_000 },
  ]);
  assert.deepEqual(drops, []);
});

test("a change of a contract's life is told for each followed market of it, the noise after each bet is not", () => {
  const { sockets, messages, follow, say } = setUp();
  follow("cupFinal7Xq:ansRed1", "cupFinal7Xq:ansBlue2", "rainNYC12a");
  sockets.last.accept();
  say("global/updated-contract", { contract: { id: "rainNYC12a", pool: { YES: 1, NO: 2 }, volume: 3 } });
  assert.equal(messages.length, 0);
  say("global/updated-contract", { contract: { id: "cupFinal7Xq", isResolved: true, resolution: "ansRed1" } });
  say("global/updated-contract", { contract: { id: "rainNYC12a", isResolved: false, resolution: null } });
  assert.deepEqual(
    messages.map((message) => [message.kind, message.marketId]),
    [
      ["changed", "cupFinal7Xq:ansRed1"],
      ["changed", "cupFinal7Xq:ansBlue2"],
      ["changed", "rainNYC12a"],
    ],
  );
});

test("a new contract is told as the markets that it holds", () => {
  const { sockets, messages, say } = setUp();
  sockets.last.accept();
  const row = { question: "Q?", isResolved: false };
  say("global/new-contract", { contract: { ...row, id: "one", outcomeType: "BINARY" }, creator: {} });
  say("global/new-contract", {
    contract: { ...row, id: "two", outcomeType: "MULTIPLE_CHOICE", answers: [{ id: "a" }, { id: "b" }] },
  });
  say("global/new-contract", { contract: { ...row, id: "three", outcomeType: "POLL" } });
  assert.deepEqual(
    messages.map((message) => [message.kind, message.marketId]),
    [
      ["listed", "one"],
      ["listed", "two:a"],
      ["listed", "two:b"],
    ],
  );
});

test("garbage is counted and the good bet beside it stays", () => {
  const { sockets, messages, drops, follow, say } = setUp();
  follow("rainNYC12a");
  sockets.last.accept();
  const [good] = JSON.parse(newBet).data.bets;
  for (const text of ["", "{", "[]", "null", '{"type":"broadcast"}', '{"type":"ack"}']) sockets.last.say(text, NOW);
  say("global/new-bet", { bets: [{ id: 1 }, { ...good, probAfter: 1.2 }, { ...good, createdTime: -1 }, good] });
  say("global/new-bet", {});
  say("global/updated-contract", { contract: 7 });
  say("global/new-contract", {});
  assert.equal(messages.filter(({ kind }) => kind === "quote").length, 1);
  assert.deepEqual(drops, [
    ...Array(6).fill("bad_message"),
    "bad_bet",
    "price_out_of_range",
    "bad_bet",
    "bad_bet",
    "bad_update",
    "bad_market",
  ]);
});

test("after a gap the bets that were missed are fetched once, from the last one seen, and told oldest first", async () => {
  const [bet] = JSON.parse(newBet).data.bets;
  const missed = [
    { ...bet, id: "later", createdTime: NOW - 1_000, probAfter: 0.46 },
    { ...bet, id: "sooner", createdTime: NOW - 2_000, probAfter: 0.45 },
  ];
  const { clock, sockets, messages, asked, follow, acknowledge } = setUp({ missed });
  follow("rainNYC12a");
  sockets.last.accept();
  acknowledge();
  assert.deepEqual(asked, []);
  sockets.last.say(newBet, NOW);
  messages.length = 0;
  sockets.last.drop();
  await clock.advance(500);
  sockets.last.accept();
  acknowledge();
  await clock.settle();
  assert.deepEqual(asked, [NOW - 9_000]);
  const prices = messages.flatMap((message) => (message.kind === "quote" ? [message.quote.indicativePrice] : []));
  assert.deepEqual(prices, [0.45, 0.46]);
});

test("no more markets are followed than allowed, the first ones", () => {
  const { sockets, messages, follow } = setUp({ marketsMax: 1 });
  follow("rainNYC12a", "cupFinal7Xq:ansRed1");
  sockets.last.accept();
  sockets.last.say(newBet, NOW);
  assert.deepEqual(new Set(messages.map(({ marketId }) => marketId)), new Set(["rainNYC12a"]));
});

test("pings that are acknowledged do not hide that no broadcast comes any more: the socket is opened anew", async () => {
  const { clock, sockets, drops, acknowledge } = setUp();
  sockets.last.accept();
  acknowledge();
  for (let turn = 0; turn < 31; turn++) {
    await clock.advance(10_000);
    sockets.connections[0]?.say(JSON.stringify({ type: "ack", txid: turn + 2, success: true }), NOW);
  }
  assert.deepEqual(drops, ["stream_frozen"]);
  await clock.advance(1_000);
  assert.equal(sockets.connections.length, 2);
});

test("a closed stream leaves nothing behind", async () => {
  const { clock, sockets, stream, states } = setUp();
  sockets.last.accept();
  stream.close();
  await clock.advance(120_000);
  assert.equal(clock.pending, 0);
  assert.equal(sockets.connections.length, 1);
  assert.deepEqual(states, []);
});
