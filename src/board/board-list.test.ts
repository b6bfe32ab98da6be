import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SAMPLE_AT, type SampleParts, sampleEvent, sampleMarket } from "../../test/support/market-samples.ts";
import type { MarketStatus } from "../domain/market.ts";
import { MarketBoard } from "./board.ts";
import { type BoardMarket, type MarketQuery, priceChange24h, SORT_KEYS, type SortKey } from "./model.ts";

const ALL: MarketQuery = {
  venues: ["alpha", "beta"],
  statuses: ["active"],
  category: null,
  text: null,
  sort: "volume_24h",
  limit: 100,
  after: null,
};

function boardOf(markets: Readonly<Record<string, SampleParts>>): MarketBoard {
  const board = new MarketBoard(() => SAMPLE_AT);
  for (const [id, parts] of Object.entries(markets)) board.apply(sampleMarket(id, parts), SAMPLE_AT);
  return board;
}

const ids = (markets: readonly BoardMarket[]) => markets.map(({ listing }) => listing.marketId);
const listed = (board: MarketBoard, query: Partial<MarketQuery> = {}) => ids(board.list({ ...ALL, ...query }));

/** Position of a market, serialised to JSON and back as in a cursor. */
const positionOf = (board: MarketBoard, market: BoardMarket, sort: SortKey): MarketQuery["after"] =>
  JSON.parse(JSON.stringify(board.position(market, sort)));

test("volume, liquidity and open interest sort the largest first, unknown values last and equal values by id", () => {
  const figures = (value: number | null) => ({
    activity: { volume24hUsd: value, liquidityUsd: value, openInterestUsd: value },
  });
  const board = boardOf({
    unknown2: figures(null),
    small: figures(0),
    tieB: figures(5),
    unknown1: figures(null),
    large: figures(9),
    tieA: figures(5),
  });
  for (const sort of ["volume_24h", "liquidity", "open_interest"] as const) {
    assert.deepEqual(listed(board, { sort }), ["large", "tieA", "tieB", "small", "unknown1", "unknown2"], sort);
  }
});

test("resolution_date sorts the soonest first and markets without a date last", () => {
  const board = boardOf({
    never: {},
    late: { listing: { expectedResolutionAt: SAMPLE_AT + 9 } },
    soon: { listing: { expectedResolutionAt: SAMPLE_AT + 1 } },
    epoch: { listing: { expectedResolutionAt: 0 } },
  });
  assert.deepEqual(listed(board, { sort: "resolution_date" }), ["epoch", "soon", "late", "never"]);
});

test("updated_at sorts the most recent first", () => {
  const board = boardOf({
    old: { quote: { receivedAt: SAMPLE_AT - 10 } },
    fresh: { quote: { receivedAt: SAMPLE_AT } },
  });
  assert.deepEqual(listed(board, { sort: "updated_at" }), ["fresh", "old"]);
});

test("price_change_24h sorts the largest rise first, the largest fall last and unknown changes after it", () => {
  const board = boardOf({ fall: {}, unknown: {}, rise: {}, still: {} });
  const dayAgo: Readonly<Record<string, number>> = { fall: 0.9, rise: 0.1, still: 0.41 };
  for (const [id, priceDayAgo] of Object.entries(dayAgo)) {
    const market = board.find("alpha", id);
    if (market !== null) board.annotate(market, { priceDayAgo });
  }
  assert.deepEqual(listed(board, { sort: "price_change_24h" }), ["rise", "still", "fall", "unknown"]);
});

test("does not list a market until it has a price", () => {
  const board = boardOf({ m: { quote: { bid: null, ask: null, lastPrice: null } } });
  assert.deepEqual(listed(board), []);
  board.applyQuote("alpha", "m", { lastPrice: 0.5 }, SAMPLE_AT);
  assert.deepEqual(listed(board), ["m"]);
});

test("filters by venue, status and category; category is case-insensitive", () => {
  const board = boardOf({
    politics: { listing: { category: "Politics" } },
    closed: { listing: { status: "closed", category: "Politics" } },
    plain: {},
    other: { listing: { venue: "beta", category: "POLITICS" } },
  });
  assert.deepEqual(listed(board).sort(), ["other", "plain", "politics"]);
  assert.deepEqual(listed(board, { venues: ["beta"] }), ["other"]);
  assert.deepEqual(listed(board, { venues: ["gamma"] }), []);
  assert.deepEqual(listed(board, { venues: [] }), []);
  assert.deepEqual(listed(board, { statuses: ["closed"] }), ["closed"]);
  assert.deepEqual(listed(board, { category: "pOLITICS" }), ["politics", "other"]);
  assert.deepEqual(listed(board, { category: "Politic" }), []);
});

test("a market without a category is filtered by the category of its event", () => {
  const board = boardOf({ m: { listing: { eventId: "E" } }, own: { listing: { eventId: "E", category: "Culture" } } });
  board.applyEvent(sampleEvent("E", { category: "Sports" }));
  assert.deepEqual(listed(board, { category: "sports" }), ["m"]);
  board.applyEvent(sampleEvent("E", { category: "Weather" }));
  assert.deepEqual([listed(board, { category: "sports" }), listed(board, { category: "weather" })], [[], ["m"]]);
});

test("searches title, outcome and event title regardless of accents, and follows their changes", () => {
  const board = new MarketBoard(() => SAMPLE_AT);
  board.apply(sampleMarket("m", { listing: { eventId: "E", title: "Who wins?", outcomeLabel: "Núñez" } }), SAMPLE_AT);
  board.applyEvent(sampleEvent("E", { title: "Election in Chile" }));
  for (const text of ["wins", "NUNEZ", "núñez", "chil", "nunez election win"])
    assert.deepEqual(listed(board, { text }), ["m"], text);
  for (const text of ["win nunez", "nunez election wi", "peru", "?"])
    assert.deepEqual(listed(board, { text }), [], text);
  board.applyEvent(sampleEvent("E", { title: "Election in Peru" }));
  board.apply(sampleMarket("m", { listing: { eventId: "E", title: "Who wins?", outcomeLabel: "Duarte" } }), SAMPLE_AT);
  assert.deepEqual(listed(board, { text: "peru" }), ["m"]);
  assert.deepEqual(listed(board, { text: "duarte" }), ["m"]);
  assert.deepEqual([...listed(board, { text: "chile" }), ...listed(board, { text: "nunez" })], []);
});

test("the index grows beyond its initial capacity", () => {
  const count = 3_000;
  const board = new MarketBoard(() => SAMPLE_AT);
  for (let number = 0; number < count; number++) {
    board.apply(sampleMarket(`m${number}`, { activity: { volume24hUsd: number } }), SAMPLE_AT);
  }
  assert.deepEqual(listed(board, { limit: 2 }), ["m2999", "m2998"]);
  const all = listed(board, { limit: count });
  assert.equal(all.length, count);
  assert.equal(all.at(-1), "m0");
});

const parts: fc.Arbitrary<SampleParts> = fc.record({
  listing: fc.record({
    venue: fc.constantFrom("alpha", "beta"),
    status: fc.constantFrom<MarketStatus>("active", "closed"),
    expectedResolutionAt: fc.option(fc.integer({ min: 0, max: 5 })),
  }),
  quote: fc.record({
    lastPrice: fc.option(fc.constantFrom(0.3, 0.7)),
    bid: fc.constant(null),
    ask: fc.constant(null),
    receivedAt: fc.integer({ min: SAMPLE_AT - 3, max: SAMPLE_AT }),
  }),
  activity: fc.record({
    volume24hUsd: fc.option(fc.constantFrom(0, 0.1, 5, 1e9)),
    liquidityUsd: fc.option(fc.constantFrom(0, 5)),
    openInterestUsd: fc.option(fc.constantFrom(0, 5)),
  }),
});

/** Reference implementation of the list order. */
function sorted(board: MarketBoard, sort: SortKey): string[] {
  const sortValueOf = (market: BoardMarket): number | null => {
    const { activity, listing } = market;
    const { expectedResolutionAt } = listing;
    if (sort === "volume_24h") return activity.volume24hUsd;
    if (sort === "liquidity") return activity.liquidityUsd;
    if (sort === "open_interest") return activity.openInterestUsd;
    if (sort === "updated_at") return market.updatedAt;
    if (sort === "resolution_date") return expectedResolutionAt === null ? null : -expectedResolutionAt;
    return priceChange24h(market);
  };
  const id = (market: BoardMarket) => `${market.listing.venue}/${market.listing.marketId}`;
  return [...board.markets()]
    .filter((market) => market.listing.status === "active" && market.yesPrice !== null)
    .sort((a, b) => {
      const [x, y] = [sortValueOf(a) ?? Number.NEGATIVE_INFINITY, sortValueOf(b) ?? Number.NEGATIVE_INFINITY];
      return x === y ? (id(a) < id(b) ? -1 : 1) : y - x;
    })
    .map(id);
}

test("paging returns every market exactly once and in order, for any board, sort and page size", () => {
  fc.assert(
    fc.property(
      fc.array(parts, { maxLength: 40 }),
      fc.array(fc.nat(39), { maxLength: 5 }),
      fc.constantFrom(...SORT_KEYS),
      fc.integer({ min: 1, max: 12 }),
      (all, removed, sort, limit) => {
        const board = new MarketBoard(() => SAMPLE_AT);
        all.forEach((part, number) => {
          const { market } = board.apply(sampleMarket(`m${number}`, part), SAMPLE_AT);
          if (number % 3 === 0) board.annotate(market, { priceDayAgo: 0.5 });
        });
        for (const number of removed) {
          const market = board.find("alpha", `m${number}`);
          if (market !== null) board.remove(market);
        }
        const seen: string[] = [];
        let after: MarketQuery["after"] = null;
        for (let page = 0; page <= all.length; page++) {
          const markets = board.list({ ...ALL, sort, limit, after });
          seen.push(...markets.map(({ listing }) => `${listing.venue}/${listing.marketId}`));
          const last = markets.at(-1);
          if (last === undefined) break;
          assert.ok(markets.length <= limit);
          after = positionOf(board, last, sort);
        }
        assert.deepEqual(seen, sorted(board, sort));
      },
    ),
  );
});

test("paging through a text search returns exactly the matching markets", () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 20 }), fc.integer({ min: 1, max: 5 }), (matches, limit) => {
      const titles = Object.fromEntries(
        matches.map((isMatch, number) => [`m${number}`, { listing: { title: isMatch ? "Fed" : "Else" } }]),
      );
      const board = boardOf(titles);
      const seen: string[] = [];
      let after: MarketQuery["after"] = null;
      for (let page = 0; page <= matches.length; page++) {
        const markets = board.list({ ...ALL, text: "fed", limit, after });
        seen.push(...ids(markets));
        const last = markets.at(-1);
        if (last === undefined) break;
        after = positionOf(board, last, "volume_24h");
      }
      assert.deepEqual(
        seen.sort(),
        Object.keys(titles)
          .filter((_, number) => matches[number])
          .sort(),
      );
    }),
  );
});
