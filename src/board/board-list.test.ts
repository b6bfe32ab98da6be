import assert from "node:assert/strict";
import { test } from "node:test";
import {
  MATCH_ALL_QUERY,
  SAMPLE_AT,
  type SampleParts,
  sampleEvent,
  sampleMarket,
} from "../../test/support/markets/market-samples.ts";
import { MarketBoard } from "./board.ts";
import type { MarketQuery } from "./model.ts";

function createBoard(markets: Readonly<Record<string, SampleParts>>): MarketBoard {
  const board = new MarketBoard(() => SAMPLE_AT);
  for (const [id, parts] of Object.entries(markets)) board.apply(sampleMarket(id, parts), SAMPLE_AT);
  return board;
}

const listIds = (board: MarketBoard, query: Partial<MarketQuery> = {}) =>
  board.list({ ...MATCH_ALL_QUERY, ...query }).map(({ listing }) => listing.marketId);

test("sorts by volume, liquidity or open interest: largest first, unknown values last, equal values by id", () => {
  const createParts = (value: number | null) => ({
    activity: { volume24hUsd: value, liquidityUsd: value, openInterestUsd: value },
  });
  const board = createBoard({
    unknown2: createParts(null),
    small: createParts(0),
    tieB: createParts(5),
    unknown1: createParts(null),
    large: createParts(9),
    tieA: createParts(5),
  });
  for (const sort of ["volume_24h", "liquidity", "open_interest"] as const) {
    assert.deepEqual(listIds(board, { sort }), ["large", "tieA", "tieB", "small", "unknown1", "unknown2"], sort);
  }
});

test("sorts by `resolution_date`: earliest first, markets without a date last", () => {
  const board = createBoard({
    never: {},
    late: { listing: { expectedResolutionAt: SAMPLE_AT + 9 } },
    soon: { listing: { expectedResolutionAt: SAMPLE_AT + 1 } },
    epoch: { listing: { expectedResolutionAt: 0 } },
  });
  assert.deepEqual(listIds(board, { sort: "resolution_date" }), ["epoch", "soon", "late", "never"]);
});

test("sorts by `updated_at`: most recent first", () => {
  const board = createBoard({
    old: { quote: { receivedAt: SAMPLE_AT - 10 } },
    fresh: { quote: { receivedAt: SAMPLE_AT } },
  });
  assert.deepEqual(listIds(board, { sort: "updated_at" }), ["fresh", "old"]);
});

test("sorts by `price_change_24h`: from the largest rise to the largest fall, unknown changes last", () => {
  const board = createBoard({ fall: {}, unknown: {}, rise: {}, still: {} });
  const dayAgo: Readonly<Record<string, number>> = { fall: 0.9, rise: 0.1, still: 0.41 };
  for (const [id, priceDayAgo] of Object.entries(dayAgo)) {
    const market = board.find("alpha", id);
    if (market !== null) board.annotate(market, { priceDayAgo });
  }
  assert.deepEqual(listIds(board, { sort: "price_change_24h" }), ["rise", "still", "fall", "unknown"]);
});

test("lists only markets that have a price", () => {
  const board = createBoard({ m: { quote: { bid: null, ask: null, lastPrice: null } } });
  assert.deepEqual(listIds(board), []);
  board.applyQuote("alpha", "m", { lastPrice: 0.5 }, SAMPLE_AT);
  assert.deepEqual(listIds(board), ["m"]);
});

test("filters markets by venue, status and category; the category is case-insensitive", () => {
  const board = createBoard({
    politics: { listing: { category: "Politics" } },
    closed: { listing: { status: "closed", category: "Politics" } },
    plain: {},
    other: { listing: { venue: "beta", category: "POLITICS" } },
  });
  assert.deepEqual(listIds(board).sort(), ["other", "plain", "politics"]);
  assert.deepEqual(listIds(board, { venues: ["beta"] }), ["other"]);
  assert.deepEqual(listIds(board, { venues: ["gamma"] }), []);
  assert.deepEqual(listIds(board, { venues: [] }), []);
  assert.deepEqual(listIds(board, { statuses: ["closed"] }), ["closed"]);
  assert.deepEqual(listIds(board, { category: "pOLITICS" }), ["politics", "other"]);
  assert.deepEqual(listIds(board, { category: "Politic" }), []);
});

test("the category filter uses the category of the event if a market has none", () => {
  const board = createBoard({
    m: { listing: { eventId: "E" } },
    own: { listing: { eventId: "E", category: "Culture" } },
  });
  board.applyEvent(sampleEvent("E", { category: "Sports" }));
  assert.deepEqual(listIds(board, { category: "sports" }), ["m"]);
  board.applyEvent(sampleEvent("E", { category: "Weather" }));
  assert.deepEqual([listIds(board, { category: "sports" }), listIds(board, { category: "weather" })], [[], ["m"]]);
});

test("search covers the title, outcome and event title, ignores accents and reflects changed titles", () => {
  const board = new MarketBoard(() => SAMPLE_AT);
  board.apply(sampleMarket("m", { listing: { eventId: "E", title: "Who wins?", outcomeLabel: "Núñez" } }), SAMPLE_AT);
  board.applyEvent(sampleEvent("E", { title: "Election in Chile" }));
  for (const text of ["wins", "NUNEZ", "núñez", "chil", "nunez election win"])
    assert.deepEqual(listIds(board, { text }), ["m"], text);
  for (const text of ["win nunez", "nunez election wi", "peru", "?"])
    assert.deepEqual(listIds(board, { text }), [], text);
  board.applyEvent(sampleEvent("E", { title: "Election in Peru" }));
  board.apply(sampleMarket("m", { listing: { eventId: "E", title: "Who wins?", outcomeLabel: "Duarte" } }), SAMPLE_AT);
  assert.deepEqual(listIds(board, { text: "peru" }), ["m"]);
  assert.deepEqual(listIds(board, { text: "duarte" }), ["m"]);
  assert.deepEqual([...listIds(board, { text: "chile" }), ...listIds(board, { text: "nunez" })], []);
});

test("the board lists all markets if there are more than its initial capacity", () => {
  const count = 3_000;
  const board = new MarketBoard(() => SAMPLE_AT);
  for (let number = 0; number < count; number++) {
    board.apply(sampleMarket(`m${number}`, { activity: { volume24hUsd: number } }), SAMPLE_AT);
  }
  assert.deepEqual(listIds(board, { limit: 2 }), ["m2999", "m2998"]);
  const ids = listIds(board, { limit: count });
  assert.equal(ids.length, count);
  assert.equal(ids.at(-1), "m0");
});

test("`findByQuestion` returns the most similar markets that pass its filter, and the larger volume of equal ones", () => {
  const parts = (title: string, volume24hUsd: number | null, listing: SampleParts["listing"] = {}): SampleParts => ({
    listing: { title, ...listing },
    activity: { volume24hUsd },
  });
  const title = "Will Ann win the primary?";
  const board = createBoard({
    unrelated: parts("Will it rain?", 9e6),
    loose: parts("Will Ann or Bob or Cid win the primary in May?", 9e6),
    small: parts(title, 1),
    unknown: parts(title, null),
    large: parts(title, 2),
    closed: parts(title, 9e6, { status: "closed" }),
    elsewhere: parts(title, 9e6, { venue: "beta" }),
    unpriced: { ...parts(title, 9e6), quote: { bid: null, ask: null, lastPrice: null, indicativePrice: null } },
  });
  const find = (limit: number) =>
    board
      .findByQuestion("Ann win primary", { venues: ["alpha"], status: "active", limit })
      .map(({ market }) => market.listing.marketId);
  const order = ["large", "small", "unknown", "loose"];
  for (const limit of [1, 2, 3, 4, 9]) assert.deepEqual(find(limit), order.slice(0, limit));
});
