import assert from "node:assert/strict";
import { test } from "node:test";
import { streamHarness } from "../../../test/support/venues/adapter-harness.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import type { MarketListing } from "../../domain/market.ts";
import { parseMarketId } from "./ids.ts";
import { openStream } from "./stream.ts";
import { createManifoldDriftDetectors } from "./wire.ts";

const fixture = fixtureReader(import.meta.url);
const NOW = 1_795_230_000_000;
const newBet = JSON.stringify(fixture("stream/new-bet"));

function setUp(options: { missedBets?: readonly unknown[]; marketsMax?: number } = {}) {
  const harness = streamHarness(NOW);
  const { ports, sockets, handlers } = harness;
  const backfilledFrom: number[] = [];
  let isBackfillFailing = false;
  const stream = openStream({
    ports: { ...ports, driftDetectors: createManifoldDriftDetectors(() => {}) },
    wsUrl: "wss://venue.example/ws",
    marketsMax: options.marketsMax ?? 100,
    handlers,
    fetchBetsSince: async (sinceMs) => {
      backfilledFrom.push(sinceMs);
      if (isBackfillFailing) throw new Error("no response");
      return { rows: options.missedBets ?? [], receivedAt: NOW };
    },
  });
  const failBackfill = () => {
    isBackfillFailing = true;
  };
  const follow = (...ids: string[]) => stream.follow(ids.map(listingOf));
  const sent = () => sockets.last.sent.map((text): Record<string, unknown> => JSON.parse(text));
  /** Acknowledges the latest subscription. */
  const acknowledge = (success = true) => {
    const { txid } = sent().findLast(({ type }) => type === "subscribe") ?? {};
    sockets.last.receive(JSON.stringify({ type: "ack", txid, success, ...(success ? {} : { error: "no" }) }), NOW);
  };
  const broadcast = (topic: string, data: unknown) =>
    sockets.last.receive(JSON.stringify({ type: "broadcast", topic, data }), NOW);
  return { ...harness, backfilledFrom, stream, follow, sent, acknowledge, broadcast, failBackfill };
}

function listingOf(marketId: string): MarketListing {
  const contractId = parseMarketId(marketId)?.contractId ?? marketId;
  return { marketId, venueKeys: { contractId } } as unknown as MarketListing;
}

test("subscribes to the three global topics and calls `onUp` after the acknowledgement", () => {
  const { sockets, states, sent, acknowledge } = setUp();
  sockets.last.accept();
  assert.deepEqual(sent(), [
    { type: "subscribe", txid: 1, topics: ["global/new-bet", "global/updated-contract", "global/new-contract"] },
  ]);
  assert.deepEqual(states, []);
  acknowledge();
  assert.deepEqual(states, ["up"]);
});

test("sends an unacknowledged or rejected subscription again after five seconds", async () => {
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

test("pings every ten seconds with increasing txid and reconnects after silence", async () => {
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
  assert.deepEqual(states, ["up", "down: closed by us"]);
  assert.equal(sockets.connections.length, 2);
});

test("a bet becomes a trade and a quote with the venue's time, and only a quote for each other answer that it moves", () => {
  const { sockets, drops, follow, received, quotes } = setUp();
  follow("rainNYC12a", "cupFinal7Xq:ansRed1", "cupFinal7Xq:ansBlue2");
  sockets.last.accept();
  sockets.last.receive(newBet, NOW);
  assert.deepEqual(received(), [
    "trade rainNYC12a",
    "quote rainNYC12a",
    "trade cupFinal7Xq:ansRed1",
    "quote cupFinal7Xq:ansRed1",
    "quote cupFinal7Xq:ansBlue2",
  ]);
  assert.deepEqual(quotes(), [
    { indicativePrice: 0.4375, eventAt: NOW - 9_000 },
    { indicativePrice: 0.39, eventAt: NOW - 9_000 },
    { indicativePrice: 0.38, eventAt: NOW - 9_000 },
  ]);
  assert.deepEqual(drops, {});
});

test("a redemption at an unchanged probability is not a quote", () => {
  const { sockets, follow, broadcast, quotes } = setUp();
  follow("cupFinal7Xq:ansRed1");
  sockets.last.accept();
  const [, bet] = JSON.parse(newBet).data.bets;
  const unchanged = { ...bet, isRedemption: true, probBefore: 0.31, probAfter: 0.31 };
  broadcast("global/new-bet", {
    bets: [unchanged, { ...unchanged, isRebalance: true }, { ...unchanged, probBefore: null }],
  });
  assert.deepEqual(quotes(), []);
});

test("reports lifecycle changes for each followed market of a contract and ignores other updates", () => {
  const { sockets, messages, follow, broadcast, received } = setUp();
  follow("cupFinal7Xq:ansRed1", "cupFinal7Xq:ansBlue2", "rainNYC12a");
  sockets.last.accept();
  broadcast("global/updated-contract", { contract: { id: "rainNYC12a", pool: { YES: 1, NO: 2 }, volume: 3 } });
  assert.equal(messages.length, 0);
  broadcast("global/updated-contract", { contract: { id: "cupFinal7Xq", isResolved: true, resolution: "ansRed1" } });
  broadcast("global/updated-contract", { contract: { id: "rainNYC12a", isResolved: false, resolution: null } });
  assert.deepEqual(received(), ["changed cupFinal7Xq:ansRed1", "changed cupFinal7Xq:ansBlue2", "changed rainNYC12a"]);
});

test("reports each market of a new contract as listed", () => {
  const { sockets, drops, broadcast, received } = setUp();
  sockets.last.accept();
  const row = { question: "Q?", isResolved: false };
  broadcast("global/new-contract", { contract: { ...row, id: "one", outcomeType: "BINARY" }, creator: {} });
  broadcast("global/new-contract", {
    contract: { ...row, id: "two", outcomeType: "MULTIPLE_CHOICE", answers: [{ id: "a" }, { id: "b" }] },
  });
  broadcast("global/new-contract", { contract: { ...row, id: "three", outcomeType: "POLL" } });
  broadcast("global/new-contract", { contract: { ...row, id: "four", outcomeType: "DATE", answers: [{ id: "c" }] } });
  assert.deepEqual(received(), ["listed one", "listed two:a", "listed two:b", "listed four:c"]);
  assert.deepEqual(drops, { not_binary: 1 });
});

test("counts invalid messages and rows, and keeps a valid bet in the same message", () => {
  const { sockets, drops, follow, broadcast, quotes } = setUp();
  follow("rainNYC12a");
  sockets.last.accept();
  const [validBet] = JSON.parse(newBet).data.bets;
  for (const text of ["", "{", "[]", "null", '{"type":"broadcast"}', '{"type":"ack"}']) sockets.last.receive(text, NOW);
  assert.deepEqual(drops, { bad_message: 6 });
  broadcast("global/new-bet", {
    bets: [{ id: 1 }, { ...validBet, probAfter: 1.2 }, { ...validBet, createdTime: -1 }, validBet],
  });
  assert.deepEqual(drops, { bad_message: 6, bad_bet: 2, price_out_of_range: 1 });
  broadcast("global/new-bet", {});
  assert.deepEqual(drops, { bad_message: 6, bad_bet: 3, price_out_of_range: 1 });
  broadcast("global/updated-contract", { contract: 7 });
  assert.deepEqual(drops, { bad_message: 6, bad_bet: 3, price_out_of_range: 1, bad_update: 1 });
  broadcast("global/new-contract", {});
  assert.equal(quotes().length, 1);
  assert.deepEqual(drops, { bad_message: 6, bad_bet: 3, price_out_of_range: 1, bad_update: 1, bad_market: 1 });
});

test("after a reconnect, fetches the bets since the newest received bet once and delivers them oldest first", async () => {
  const [bet] = JSON.parse(newBet).data.bets;
  const missedBets = [
    { ...bet, id: "later", createdTime: NOW - 1_000, probAfter: 0.46 },
    { ...bet, id: "sooner", createdTime: NOW - 2_000, probAfter: 0.45 },
  ];
  const { clock, sockets, messages, backfilledFrom, follow, acknowledge, quotes } = setUp({ missedBets });
  follow("rainNYC12a");
  sockets.last.accept();
  acknowledge();
  assert.deepEqual(backfilledFrom, []);
  sockets.last.receive(newBet, NOW);
  messages.length = 0;
  sockets.last.drop();
  await clock.advance(500);
  sockets.last.accept();
  acknowledge();
  await clock.settle();
  assert.deepEqual(backfilledFrom, [NOW - 9_000]);
  assert.deepEqual(
    quotes().map(({ indicativePrice }) => indicativePrice),
    [0.45, 0.46],
  );
});

test("counts invalid bets missed while disconnected, and a failed request for them", async () => {
  const [bet] = JSON.parse(newBet).data.bets;
  const missedBets = [{ ...bet, shares: "10" }, { ...bet, id: "later", probAfter: 0.46 }, { id: 1 }, null];
  const { clock, sockets, drops, follow, acknowledge, quotes, failBackfill } = setUp({ missedBets });
  const reconnect = async () => {
    sockets.last.drop();
    await clock.advance(1_000);
    sockets.last.accept();
    acknowledge();
    await clock.settle();
  };
  follow("rainNYC12a");
  sockets.last.accept();
  acknowledge();
  sockets.last.receive(newBet, NOW);
  await reconnect();
  assert.equal(quotes().at(-1)?.indicativePrice, 0.46);
  assert.deepEqual(drops, { stream_connection_lost: 1, bad_bet: 3 });
  failBackfill();
  await reconnect();
  assert.deepEqual(drops, { stream_connection_lost: 2, bad_bet: 3, backfill_failed: 1 });
});

test("follows at most the first `marketsMax` markets", () => {
  const { sockets, messages, follow } = setUp({ marketsMax: 1 });
  follow("rainNYC12a", "cupFinal7Xq:ansRed1");
  sockets.last.accept();
  sockets.last.receive(newBet, NOW);
  assert.deepEqual(new Set(messages.map(({ marketId }) => marketId)), new Set(["rainNYC12a"]));
});

test("reconnects if pings are acknowledged but no broadcast arrives", async () => {
  const { clock, sockets, drops, acknowledge } = setUp();
  sockets.last.accept();
  acknowledge();
  for (let ping = 0; ping < 31; ping++) {
    await clock.advance(10_000);
    sockets.connections[0]?.receive(JSON.stringify({ type: "ack", txid: ping + 2, success: true }), NOW);
  }
  assert.deepEqual(drops, { stream_frozen: 1 });
  await clock.advance(1_000);
  assert.equal(sockets.connections.length, 2);
});

test("a closed stream leaves no timer or connection", async () => {
  const { clock, sockets, stream, states } = setUp();
  sockets.last.accept();
  stream.close();
  await clock.advance(120_000);
  assert.equal(clock.pending, 0);
  assert.equal(sockets.connections.length, 1);
  assert.deepEqual(states, []);
});
