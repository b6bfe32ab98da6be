import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { SAMPLE_AT, sampleEvent, sampleMarket } from "../../../test/support/markets/market-samples.ts";
import { MarketBoard } from "../../board/index.ts";
import { createBoardFeed } from "./board-feed.ts";
import { createBoardReplica } from "./board-replica.ts";
import type { BoardBatch } from "./messages.ts";

/** A board, a feed of it, and a board that applies the batches when the test delivers them. */
function connectBoards({ newerThan = null }: { readonly newerThan?: number | null } = {}) {
  const clock = new FakeClock(SAMPLE_AT);
  const source = new MarketBoard(() => clock.now());
  const target = new MarketBoard(() => clock.now());
  const replica = createBoardReplica(target, newerThan);
  const sent: BoardBatch[] = [];
  // As between threads, the receiver gets a copy, and the buffer of the sender becomes unusable.
  const feed = createBoardFeed(source, clock, (batch) =>
    sent.push(structuredClone(batch, { transfer: [batch.quotes.buffer] })),
  );
  const deliver = () => {
    const batches = sent.splice(0);
    for (const batch of batches) {
      replica.apply(batch);
      if (batch.mustAcknowledge) feed.acknowledge(batch.quotes);
    }
    return batches;
  };
  const deliverAll = async () => {
    deliver();
    while (!feed.isDrained) {
      await clock.advance(50);
      deliver();
    }
  };
  return { clock, source, target, replica, feed, sent, deliver, deliverAll };
}

const contentOf = (board: MarketBoard) => ({
  markets: [...board.markets()]
    .map(({ row, ...market }) => market)
    .sort((a, b) => (a.listing.marketId < b.listing.marketId ? -1 : 1)),
  events: [...board.events()].sort((a, b) => (a.slug < b.slug ? -1 : 1)),
});

const price = fc.option(fc.integer({ min: 0, max: 100 }).map((cents) => cents / 100));
const amount = fc.option(fc.double({ min: 0, max: 1e12, noNaN: true }));
const id = fc.constantFrom("a", "b", "c", "d");
const step = fc.oneof(
  fc.record({
    kind: fc.constant("apply" as const),
    id,
    event: id,
    title: fc.constantFrom("One", "Two"),
    bid: price,
    size: amount,
  }),
  fc.record({ kind: fc.constant("quote" as const), id, lastPrice: price, at: fc.integer({ min: 0, max: 1_000 }) }),
  fc.record({ kind: fc.constant("annotate" as const), id, priceDayAgo: price, volume: amount }),
  fc.record({ kind: fc.constant("event" as const), id, title: fc.constantFrom("One", "Two") }),
  fc.record({ kind: fc.constant("remove" as const), id }),
  fc.record({ kind: fc.constant("send_now" as const), id }),
  fc.record({ kind: fc.constant("advance" as const), ms: fc.constantFrom(0, 10, 50) }),
  fc.record({ kind: fc.constant("deliver" as const) }),
);

test("after any changes and deliveries, the receiver's board has the sender's markets and events", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { clock, source, target, feed, deliver, deliverAll } = connectBoards();
      for (const action of steps) {
        const market = "id" in action ? source.find("alpha", action.id) : null;
        if (action.kind === "apply")
          source.apply(
            sampleMarket(action.id, {
              listing: { title: action.title, eventId: action.event },
              quote: { bid: action.bid, bidSize: action.size, ask: null },
            }),
            clock.now(),
          );
        else if (action.kind === "quote")
          source.applyQuote("alpha", action.id, { lastPrice: action.lastPrice }, SAMPLE_AT + action.at);
        else if (action.kind === "annotate" && market !== null)
          source.annotate(market, { priceDayAgo: action.priceDayAgo, storeKey: 7, volume24hUsd: action.volume ?? 0 });
        else if (action.kind === "event") source.applyEvent(sampleEvent(action.id, { title: action.title }));
        else if (action.kind === "remove" && market !== null) source.remove(market);
        else if (action.kind === "send_now" && market !== null) feed.sendNow(market);
        else if (action.kind === "advance") await clock.advance(action.ms);
        else if (action.kind === "deliver") deliver();
      }
      await deliverAll();
      assert.deepEqual(contentOf(target).markets, contentOf(source).markets);
      for (const market of source.markets()) assert.deepEqual(target.eventOf(market), source.eventOf(market));
    }),
    { numRuns: 1_000 },
  );
});

test("changes of 50 ms are one batch, with the last state of each market, and quotes without their listings", async () => {
  const { clock, source, sent, deliver } = connectBoards();
  source.apply(sampleMarket("a"), SAMPLE_AT);
  await clock.advance(50);
  assert.deepEqual([sent.length, sent[0]?.markets.length, sent[0]?.quoteCount], [1, 1, 0]);
  deliver();
  for (const lastPrice of [0.5, 0.6, 0.7]) {
    source.applyQuote("alpha", "a", { lastPrice }, SAMPLE_AT + 1);
    await clock.advance(10);
  }
  assert.equal(sent.length, 0);
  await clock.advance(30);
  assert.deepEqual([sent.length, sent[0]?.markets.length, sent[0]?.quoteCount], [1, 0, 1]);
});

test("without an acknowledgement no further batch is sent, and changes are combined until it arrives", async () => {
  const { clock, source, target, sent, deliver } = connectBoards();
  source.apply(sampleMarket("a"), SAMPLE_AT);
  await clock.advance(50);
  for (let at = 1; at <= 1_000; at++) {
    source.applyQuote("alpha", "a", { lastPrice: at / 1_000 }, SAMPLE_AT + at);
    await clock.advance(50);
  }
  assert.equal(sent.length, 1);
  deliver();
  await clock.advance(50);
  assert.equal(deliver()[0]?.quoteCount, 1);
  assert.equal(target.find("alpha", "a")?.quote.lastPrice, 1);
});

test("a batch has at most 100 listings and 500 quotes, and the rest follows without a pause", async () => {
  const { clock, source, target, deliver } = connectBoards();
  const ids = Array.from({ length: 1_200 }, (_, index) => `m${index}`);
  for (const marketId of ids) source.apply(sampleMarket(marketId), SAMPLE_AT);
  await clock.advance(50);
  const listed: number[] = [];
  while (target.size < ids.length) {
    listed.push(...deliver().map(({ markets }) => markets.length));
    await clock.advance(0);
  }
  assert.deepEqual(listed, Array(12).fill(100));
  for (const marketId of ids) source.applyQuote("alpha", marketId, { lastPrice: 0.9 }, SAMPLE_AT + 1);
  await clock.advance(50);
  const quoted: number[] = [];
  while (quoted.reduce((sum, count) => sum + count, 0) < ids.length) {
    quoted.push(...deliver().map(({ quoteCount }) => quoteCount));
    await clock.advance(quoted.length < 2 ? 0 : 50);
  }
  assert.deepEqual(quoted, [500, 500, 200]);
});

test("`sendNow` sends a market before a waiting batch, with its event and its store key", async () => {
  const { clock, source, target, feed, sent, deliver } = connectBoards();
  source.apply(sampleMarket("first"), SAMPLE_AT);
  await clock.advance(50);
  source.applyEvent(sampleEvent("e"));
  const { market } = source.apply(sampleMarket("m", { listing: { eventId: "e" } }), SAMPLE_AT);
  feed.sendNow(source.annotate(market, { storeKey: 9 }));
  assert.equal(sent.length, 2);
  deliver();
  const found = target.find("alpha", "m");
  assert.equal(found?.storeKey, 9);
  assert.ok(found !== null && target.eventOf(found) !== null);
});

test("until a new thread has confirmed a market, later prices of the board are kept, with the new annotations", async () => {
  const { clock, source, target, replica, deliver } = connectBoards({ newerThan: SAMPLE_AT + 15 });
  target.apply(sampleMarket("a", { quote: { lastPrice: 0.8, receivedAt: SAMPLE_AT + 10 } }), SAMPLE_AT);
  target.apply(sampleMarket("unsaved"), SAMPLE_AT);
  const { market } = source.apply(sampleMarket("a", { quote: { lastPrice: 0.2 } }), SAMPLE_AT);
  source.apply(sampleMarket("b", { quote: { lastPrice: 0.3 } }), SAMPLE_AT);
  await clock.advance(50);
  deliver();
  const pricesOf = () => ["a", "b"].map((marketId) => target.find("alpha", marketId)?.quote.lastPrice);
  assert.deepEqual(pricesOf(), [0.8, 0.3]);
  source.annotate(market, { priceDayAgo: 0.5, storeKey: 3 });
  await clock.advance(50);
  deliver();
  const annotated = target.find("alpha", "a");
  assert.deepEqual([annotated?.quote.lastPrice, annotated?.priceDayAgo, annotated?.storeKey], [0.8, 0.5, 3]);
  source.applyQuote("alpha", "a", { lastPrice: 0.25 }, SAMPLE_AT + 20);
  await clock.advance(50);
  deliver();
  assert.deepEqual(pricesOf(), [0.25, 0.3]);
  replica.removeOthers();
  assert.deepEqual([...target.markets()].map(({ listing }) => listing.marketId).sort(), ["a", "b"]);
});

test("until a new thread has confirmed a market, a stored price that is later than that of the board replaces it", async () => {
  const { clock, source, target, deliver } = connectBoards({ newerThan: SAMPLE_AT + 15 });
  target.apply(sampleMarket("a", { quote: { lastPrice: 0.2 } }), SAMPLE_AT);
  source.apply(sampleMarket("a"), SAMPLE_AT);
  source.applyQuote("alpha", "a", { lastPrice: 0.3 }, SAMPLE_AT + 10);
  await clock.advance(50);
  deliver();
  assert.equal(target.find("alpha", "a")?.quote.lastPrice, 0.3);
});

test("a market that replaced another in its row and is sent now arrives, and the other is removed", async () => {
  const { clock, source, target, feed, deliverAll } = connectBoards();
  const add = (marketId: string) => source.apply(sampleMarket(marketId), SAMPLE_AT).market;
  const first = add("x");
  await clock.advance(50);
  await deliverAll();
  source.remove(first);
  add("y");
  feed.sendNow(add("x"));
  await deliverAll();
  assert.deepEqual([...target.markets()].map(({ listing }) => listing.marketId).sort(), ["x", "y"]);
});

test("an event stays while one of its markets is removed and another is not sent yet", async () => {
  const { clock, source, target, deliverAll } = connectBoards();
  source.applyEvent(sampleEvent("e"));
  const { market } = source.apply(sampleMarket("a", { listing: { eventId: "e" } }), SAMPLE_AT);
  await deliverAll();
  source.remove(market);
  source.apply(sampleMarket("b", { listing: { eventId: "e" } }), SAMPLE_AT);
  source.applyEvent(sampleEvent("e"));
  await clock.advance(50);
  await deliverAll();
  const found = target.find("alpha", "b");
  assert.ok(found !== null && target.eventOf(found) !== null);
});

test("an event that the board dropped with its last market before it was sent is not sent", async () => {
  const { clock, source, target, deliverAll } = connectBoards();
  const add = () => source.apply(sampleMarket("a", { listing: { eventId: "e" } }), SAMPLE_AT).market;
  const market = add();
  source.applyEvent(sampleEvent("e"));
  source.remove(market);
  add();
  await clock.advance(50);
  await deliverAll();
  const found = target.find("alpha", "a");
  assert.ok(found !== null && target.eventOf(found) === null);
});
