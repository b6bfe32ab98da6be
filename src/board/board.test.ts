import assert from "node:assert/strict";
import { test } from "node:test";
import {
  MATCH_ALL_QUERY,
  SAMPLE_AT,
  sampleChildren,
  sampleEvent,
  sampleMarket,
} from "../../test/support/markets/market-samples.ts";
import type { Trade } from "../domain/trade.ts";
import { HOUR_MS } from "../lib/durations.ts";
import { MarketBoard } from "./board.ts";
import type { BoardChange, BoardMarket, QuoteRejectionReason } from "./model.ts";

/** A board whose clock is one hour after the samples were received. */
const createBoard = (now = SAMPLE_AT + HOUR_MS) => new MarketBoard(() => now);

/** A board with the sample market "m". Its clock is one hour after the sample was received. */
function boardWithMarket(now = () => SAMPLE_AT + HOUR_MS) {
  const board = new MarketBoard(now);
  return { board, market: board.apply(sampleMarket("m"), SAMPLE_AT).market };
}

function findMarket(board: MarketBoard, marketId: string): BoardMarket {
  const market = board.find("alpha", marketId);
  if (market === null) throw new Error(`${marketId} is not on the board`);
  return market;
}

function requireChange(change: BoardChange | QuoteRejectionReason | null): BoardChange {
  if (change === null || typeof change === "string") throw new Error(`rejected: ${change}`);
  return change;
}

const trade = (yesPrice: number, executedAt: number): Trade => ({
  tradeId: `t${executedAt}`,
  executedAt,
  yesPrice,
  size: 10,
  takerSide: "yes",
});

test("`apply` reports a market as new at the first call and as unchanged at the second", () => {
  const board = createBoard();
  const { market: added, ...firstChange } = board.apply(sampleMarket("m"), SAMPLE_AT);
  assert.deepEqual(firstChange, { isNew: true, listingChanged: true, quoteChanged: true, previous: null });
  const snapshot = sampleMarket("m", { quote: { receivedAt: SAMPLE_AT + 5 } });
  const { market, ...secondChange } = board.apply(snapshot, SAMPLE_AT + 4);
  const noChange = { isNew: false, listingChanged: false, quoteChanged: false };
  assert.deepEqual(secondChange, { ...noChange, previous: added });
  assert.equal(market.updatedAt, SAMPLE_AT + 5);
  assert.equal(board.size, 1);
});

test("markets of two venues may have the same market id", () => {
  const { board } = boardWithMarket();
  board.apply(sampleMarket("m", { listing: { venue: "beta", title: "Other" } }), SAMPLE_AT);
  assert.equal(board.size, 2);
  assert.equal(board.find("beta", "m")?.listing.title, "Other");
  assert.equal(board.find("gamma", "m"), null);
});

test("a slow poll does not overwrite a quote streamed after the request was sent", () => {
  const { board } = boardWithMarket();
  for (const eventAt of [SAMPLE_AT + 2_000, null]) {
    board.applyQuote("alpha", "m", { bid: 0.6, ask: 0.62, eventAt }, SAMPLE_AT + 2_010);
    const polledSnapshot = sampleMarket("m", {
      listing: { title: "Renamed" },
      quote: { receivedAt: SAMPLE_AT + 9_000 },
    });
    const change = board.apply(polledSnapshot, SAMPLE_AT + 1_000);
    assert.equal(change.quoteChanged, false);
    assert.equal(change.market.quote.bid, 0.6);
    assert.equal(change.market.listing.title, "Renamed");
  }
});

test("a poll requested after the last streamed quote replaces that quote", () => {
  const { board } = boardWithMarket();
  board.applyQuote("alpha", "m", { bid: 0.6, ask: 0.62, eventAt: SAMPLE_AT + 2_000 }, SAMPLE_AT + 2_010);
  const polledSnapshot = sampleMarket("m", { quote: { receivedAt: SAMPLE_AT + 9_000 } });
  assert.equal(board.apply(polledSnapshot, SAMPLE_AT + 2_010).market.quote.bid, 0.4);
});

test("a slow poll does not overwrite a trade streamed after the request was sent", () => {
  let now = SAMPLE_AT;
  const board = new MarketBoard(() => now);
  board.apply(sampleMarket("m", { quote: { bid: null, ask: null } }), SAMPLE_AT);
  now = SAMPLE_AT + 2_000;
  board.applyTrade(findMarket(board, "m"), trade(0.7, SAMPLE_AT + 1_900));
  now = SAMPLE_AT + 9_000;
  const polledSnapshot = sampleMarket("m", { quote: { bid: null, ask: null, receivedAt: now } });
  assert.equal(board.apply(polledSnapshot, SAMPLE_AT + 1_000).market.yesPrice, 0.7);
  assert.equal(board.apply(polledSnapshot, now).market.yesPrice, 0.41);
});

test("polls are applied immediately if our clock has been set back", () => {
  let now = SAMPLE_AT + HOUR_MS;
  const { board } = boardWithMarket(() => now);
  board.applyQuote("alpha", "m", { bid: 0.6, ask: 0.62, eventAt: now }, now);
  now = SAMPLE_AT;
  const polledSnapshot = sampleMarket("m", { quote: { receivedAt: SAMPLE_AT + 100 } });
  assert.equal(board.apply(polledSnapshot, SAMPLE_AT + 50).market.quote.bid, 0.4);
});

test("rejects a streamed quote that is older than the current quote and accepts one with an equal time", () => {
  const { board } = boardWithMarket();
  board.applyQuote("alpha", "m", { bid: 0.5, ask: 0.52, eventAt: SAMPLE_AT + 100 }, SAMPLE_AT + 101);
  const olderResult = board.applyQuote("alpha", "m", { bid: 0.3, ask: 0.32, eventAt: SAMPLE_AT + 99 }, SAMPLE_AT + 102);
  assert.equal(olderResult, "out_of_order");
  assert.equal(findMarket(board, "m").quote.bid, 0.5);
  const equalTimeResult = board.applyQuote("alpha", "m", { bid: 0.51, eventAt: SAMPLE_AT + 100 }, SAMPLE_AT + 103);
  assert.equal(requireChange(equalTimeResult).market.quote.bid, 0.51);
});

test("a partial streamed quote leaves the fields it does not contain unchanged", () => {
  const { board } = boardWithMarket();
  const { market } = requireChange(board.applyQuote("alpha", "m", { ask: 0.45 }, SAMPLE_AT + 10));
  assert.deepEqual([market.quote.bid, market.quote.ask, market.quote.lastPrice], [0.4, 0.45, 0.41]);
  assert.equal(market.yesPrice, 0.425);
});

test("rejects a streamed quote with a crossed book and removes a crossed book from a polled quote", () => {
  const { board } = boardWithMarket();
  assert.equal(board.applyQuote("alpha", "m", { bid: 0.5 }, SAMPLE_AT + 10), "crossed_book");
  assert.equal(board.applyQuote("alpha", "m", { bid: 0.42 }, SAMPLE_AT + 10), "crossed_book");
  assert.equal(findMarket(board, "m").quote.bid, 0.4);
  const { quote, yesPrice } = board.apply(sampleMarket("n", { quote: { bid: 0.6, ask: 0.5 } }), SAMPLE_AT).market;
  assert.deepEqual([quote.bid, quote.ask, quote.bidSize, quote.askSize, yesPrice], [null, null, null, null, 0.41]);
});

test("rejects a quote for an unknown market", () => {
  const board = createBoard();
  assert.equal(board.applyQuote("alpha", "m", { bid: 0.5 }, SAMPLE_AT), "unknown_market");
  assert.equal(board.size, 0);
});

test("`updatedAt` is the venue time of a streamed quote and our time of a polled quote, and never in the future", () => {
  const now = SAMPLE_AT + 1_000;
  const board = createBoard(now);
  assert.equal(board.apply(sampleMarket("m"), SAMPLE_AT).market.updatedAt, SAMPLE_AT);
  const streamedChange = requireChange(
    board.applyQuote("alpha", "m", { bid: 0.41, eventAt: SAMPLE_AT + 500 }, SAMPLE_AT + 600),
  );
  assert.equal(streamedChange.market.updatedAt, SAMPLE_AT + 500);
  const futureChange = requireChange(board.applyQuote("alpha", "m", { bid: 0.4, eventAt: now + HOUR_MS }, now));
  assert.equal(futureChange.market.updatedAt, now);
});

test("missing activity figures are null, and known figures are retained if the next poll omits them", () => {
  const { board, market } = boardWithMarket();
  assert.deepEqual(Object.values(market.activity), [null, null, null, null]);
  const activity = { volume24hUsd: 10, volumeTotalUsd: 100, liquidityUsd: 5, openInterestUsd: 7 };
  board.apply(sampleMarket("m", { activity }), SAMPLE_AT + 1);
  const partialSnapshot = sampleMarket("m", { activity: { volume24hUsd: 0 } });
  assert.deepEqual(board.apply(partialSnapshot, SAMPLE_AT + 2).market.activity, { ...activity, volume24hUsd: 0 });
});

test("reports a quote change if only the total volume changes", () => {
  const board = createBoard();
  board.apply(sampleMarket("m", { activity: { volumeTotalUsd: 1 } }), SAMPLE_AT);
  const change = board.apply(sampleMarket("m", { activity: { volumeTotalUsd: 2 } }), SAMPLE_AT + 1);
  assert.equal(change.quoteChanged, true);
});

test("a trade updates the last price unless a later trade is known", () => {
  const { board, market } = boardWithMarket();
  assert.equal(board.applyTrade(market, trade(0.5, SAMPLE_AT + 20))?.market.quote.lastPrice, 0.5);
  assert.equal(board.applyTrade(market, trade(0.3, SAMPLE_AT + 10)), null);
  assert.equal(board.applyTrade(market, trade(0.5, SAMPLE_AT + 30)), null);
  assert.equal(findMarket(board, "m").quote.lastPrice, 0.5);
});

test("a trade with a timestamp in the future does not suppress later trades", () => {
  let now = SAMPLE_AT;
  const { board, market } = boardWithMarket(() => now);
  board.applyTrade(market, trade(0.5, SAMPLE_AT + 1_000 * HOUR_MS));
  now = SAMPLE_AT + 60_000;
  assert.equal(board.applyTrade(market, trade(0.3, SAMPLE_AT + 59_000))?.market.quote.lastPrice, 0.3);
});

test("annotations are retained if the listing and the quote change", () => {
  const { board, market } = boardWithMarket();
  board.annotate(market, { storeKey: 9, priceDayAgo: 0.3, volume24hUsd: 55 });
  const changedSnapshot = sampleMarket("m", { listing: { title: "Other" }, quote: { bid: 0.5, ask: 0.52 } });
  const { storeKey, priceDayAgo, activity } = board.apply(changedSnapshot, SAMPLE_AT + 1).market;
  assert.deepEqual([storeKey, priceDayAgo, activity.volume24hUsd], [9, 0.3, 55]);
});

test("annotating an outdated copy of a market does not restore the values of the copy", () => {
  const board = createBoard();
  const outdatedMarket = board.apply(sampleMarket("m"), SAMPLE_AT).market;
  board.applyQuote("alpha", "m", { bid: 0.6, ask: 0.62, eventAt: SAMPLE_AT + 1 }, SAMPLE_AT + 1);
  const annotatedMarket = board.annotate(outdatedMarket, { storeKey: 3 });
  assert.deepEqual([annotatedMarket.quote.bid, annotatedMarket.storeKey], [0.6, 3]);
  assert.equal(findMarket(board, "m").quote.bid, 0.6);
  assert.equal(outdatedMarket.quote.bid, 0.4);
});

test("annotations can be reset to null", () => {
  const { board, market } = boardWithMarket();
  board.annotate(market, { priceDayAgo: 0.3, volume24hUsd: 5 });
  const clearedMarket = board.annotate(market, { priceDayAgo: null, volume24hUsd: null });
  assert.deepEqual([clearedMarket.priceDayAgo, clearedMarket.activity.volume24hUsd], [null, null]);
});

test("`find` returns null for a removed market, and the next new market reuses its row", () => {
  const board = createBoard();
  board.applyEvent(sampleEvent("E"));
  const { market } = board.apply(sampleMarket("m", { listing: { eventId: "E", title: "Unusual" } }), SAMPLE_AT);
  board.applyTrade(market, trade(0.9, SAMPLE_AT + 50));
  board.remove(market);
  board.remove(market);
  assert.equal(board.size, 0);
  assert.deepEqual([board.find("alpha", "m"), board.findEvent("alpha:e")], [null, null]);
  assert.deepEqual([...board.markets()], []);
  assert.equal(board.applyTrade(market, trade(0.1, SAMPLE_AT + 60)), null);

  const nextMarket = board.apply(sampleMarket("n", { listing: { title: "Plain" } }), SAMPLE_AT).market;
  assert.equal(nextMarket.row, market.row);
  assert.deepEqual(board.list({ ...MATCH_ALL_QUERY, text: "unusual" }), []);
  assert.deepEqual(board.list({ ...MATCH_ALL_QUERY, text: "plain" }), [nextMarket]);
  assert.equal(board.annotate(market, { storeKey: 5 }), market);
  assert.equal(findMarket(board, "n").storeKey, null);
  assert.equal(board.applyTrade(nextMarket, trade(0.8, SAMPLE_AT + 1))?.market.quote.lastPrice, 0.8);
});

test("groups the markets of an event under its lower-case slug, in the order they were first listed", () => {
  const board = createBoard();
  board.applyEvent(sampleEvent("KXFed-26"));
  board.apply(sampleMarket("b", { listing: { eventId: "KXFed-26" } }), SAMPLE_AT);
  board.apply(sampleMarket("a", { listing: { eventId: "KXFed-26" } }), SAMPLE_AT);
  board.apply(sampleMarket("b", { listing: { eventId: "KXFed-26" }, quote: { bid: 0.41 } }), SAMPLE_AT + 1);
  assert.equal(board.findEvent("alpha:kxfed-26")?.listing.eventId, "KXFed-26");
  const marketIds = board.marketsOfEvent("alpha:kxfed-26").map(({ listing }) => listing.marketId);
  assert.deepEqual(marketIds, ["b", "a"]);
});

test("a market that moves to another event is removed from its previous event", () => {
  const board = createBoard();
  for (const id of ["one", "two"]) board.applyEvent(sampleEvent(id));
  board.apply(sampleMarket("m", { listing: { eventId: "one" } }), SAMPLE_AT);
  board.apply(sampleMarket("m", { listing: { eventId: "two" } }), SAMPLE_AT + 1);
  assert.deepEqual(board.marketsOfEvent("alpha:one"), []);
  assert.equal(board.marketsOfEvent("alpha:two").length, 1);
});

test("the revision of an event changes with the event and with each of its markets, and with nothing else", () => {
  const board = createBoard();
  const put = (id: string, eventId: string, bid: number) =>
    board.apply(sampleMarket(id, { listing: { eventId }, quote: { bid } }), SAMPLE_AT).market;
  const market = put("a", "one", 0.4);
  put("b", "one", 0.4);
  const revisions = [board.eventRevisionOf(market)];
  const record = (change: unknown) => change !== null && revisions.push(board.eventRevisionOf(market));
  record(put("b", "one", 0.41));
  record(board.applyEvent(sampleEvent("one")));
  const added = put("c", "one", 0.4);
  record(added);
  record(put("c", "two", 0.4));
  record(board.remove(findMarket(board, "b")));
  assert.equal(new Set(revisions).size, 6);
  put("c", "two", 0.41);
  board.applyEvent(sampleEvent("two"));
  assert.equal(board.eventRevisionOf(market), revisions.at(-1));
  assert.deepEqual([board.isCurrent(market), board.isCurrent(added)], [true, false]);
});

test("`eventOf` returns the event of a removed market even after another market has taken its row", () => {
  const board = createBoard();
  for (const id of ["one", "two"]) board.applyEvent(sampleEvent(id));
  const first = board.apply(sampleMarket("a", { listing: { eventId: "one" } }), SAMPLE_AT).market;
  board.apply(sampleMarket("b", { listing: { eventId: "one" } }), SAMPLE_AT);
  board.remove(first);
  const second = board.apply(sampleMarket("c", { listing: { eventId: "two" } }), SAMPLE_AT).market;
  assert.equal(second.row, first.row);
  assert.deepEqual([board.eventOf(first)?.slug, board.eventOf(second)?.slug], ["alpha:one", "alpha:two"]);
});

test("`applyEvent` returns the event if it changed", () => {
  const board = createBoard();
  assert.deepEqual(board.applyEvent(sampleEvent("E")), sampleEvent("E"));
  assert.equal(board.applyEvent(sampleEvent("E")), null);
  assert.deepEqual(board.applyEvent(sampleEvent("E", { featured: true })), sampleEvent("E", { featured: true }));
});

test("an event update without markets leaves the event's children, exclusivity and exhaustiveness unchanged", () => {
  const board = createBoard();
  const children = sampleChildren(2, { unreadable: 1 });
  const complete = sampleEvent("E", { mutuallyExclusive: true, exhaustive: true, children });
  board.applyEvent(complete);
  assert.equal(board.applyEvent(sampleEvent("E")), null);
  const renamed = board.applyEvent(sampleEvent("E", { title: "Renamed" }));
  assert.deepEqual(renamed, { ...complete, title: "Renamed" });
  const next = sampleEvent("E", { children: sampleChildren(3) });
  assert.deepEqual(board.applyEvent(next), next);
});

test("`restore` sets the store key and the time of the stored price, and the first poll replaces the restored prices", () => {
  const board = createBoard();
  board.restore(sampleMarket("m", { quote: { eventAt: SAMPLE_AT - 5, receivedAt: SAMPLE_AT - 5 } }), 77);
  const { storeKey, updatedAt } = findMarket(board, "m");
  assert.deepEqual([storeKey, updatedAt], [77, SAMPLE_AT - 5]);
  const change = board.apply(sampleMarket("m", { quote: { bid: 0.5, ask: 0.52 } }), SAMPLE_AT);
  assert.deepEqual([change.isNew, change.market.storeKey, change.market.quote.bid], [false, 77, 0.5]);
});

test("an observer is notified of a new and of a changed event after the board contains it", () => {
  const board = createBoard();
  const titles: (string | undefined)[] = [];
  board.observe({
    onSet() {},
    onRemove() {},
    onEvent: ({ slug }) => titles.push(board.findEvent(slug)?.listing.title),
  });
  for (const title of ["First", "First", "Second"]) board.applyEvent(sampleEvent("E1", { title }));
  assert.deepEqual(titles, ["First", "Second"]);
});
