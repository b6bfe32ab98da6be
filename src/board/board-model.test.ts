import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MATCH_ALL_QUERY, SAMPLE_AT, sampleEvent, sampleMarket } from "../../test/support/markets/market-samples.ts";
import {
  createEventGroup,
  type EventGroup,
  eventStatus,
  listEvents,
} from "../capabilities/markets/market-data/events.ts";
import { CATEGORIES, categoryOf } from "../domain/category.ts";
import type { MarketStatus } from "../domain/market.ts";
import { MarketBoard } from "./board.ts";
import { EVENT_STATUSES, type EventQuery, type EventStatus } from "./event-index.ts";
import { type BoardMarket, eventSlug, type MarketQuery, priceChange24h, SORT_KEYS, type SortKey } from "./model.ts";
import type { OrderedPosition } from "./ordered-index.ts";
import { splitWords } from "./text-index.ts";

const idOf = ({ listing }: BoardMarket) => `${listing.venue}/${listing.marketId}`;

/** Edges that a test has set, by market. */
const edgesOfBoards = new WeakMap<MarketBoard, Map<string, number | null>>();
function edgesOf(board: MarketBoard): Map<string, number | null> {
  const edges = edgesOfBoards.get(board) ?? new Map<string, number | null>();
  edgesOfBoards.set(board, edges);
  return edges;
}

function sortValueOf(board: MarketBoard, market: BoardMarket, sort: SortKey): number | null {
  const { activity, listing } = market;
  if (sort === "edge") return edgesOf(board).get(idOf(market)) ?? null;
  if (sort === "volume_24h") return activity.volume24hUsd;
  if (sort === "liquidity") return activity.liquidityUsd;
  if (sort === "open_interest") return activity.openInterestUsd;
  if (sort === "updated_at") return market.updatedAt;
  if (sort === "price_change_24h") return priceChange24h(market);
  return listing.expectedResolutionAt === null ? null : -listing.expectedResolutionAt;
}

/** Reference implementation of `list`: filters and sorts all markets. */
function referenceListIds(board: MarketBoard, query: MarketQuery): string[] {
  const eventOf = ({ listing }: BoardMarket) =>
    listing.eventId === null ? null : board.findEvent(eventSlug(listing.venue, listing.eventId));
  const matches = (market: BoardMarket): boolean => {
    const { listing } = market;
    const event = eventOf(market)?.listing;
    const category = listing.category ?? event?.category ?? null;
    if (market.yesPrice === null || !query.venues.includes(listing.venue) || !query.statuses.includes(listing.status))
      return false;
    if (query.category !== null && category?.toLowerCase() !== query.category.toLowerCase()) return false;
    if (query.text === null) return true;
    const marketWords = splitWords([listing.title, listing.outcomeLabel ?? "", event?.title ?? ""].join(" "));
    const queryWords = splitWords(query.text);
    const last = queryWords.pop();
    if (last === undefined || !queryWords.every((word) => marketWords.includes(word))) return false;
    return marketWords.some((word) => word === last || (last.length >= 3 && word.startsWith(last)));
  };
  const sign = query.isReversed === true ? -1 : 1;
  /** Negative if the first position is before the second. Unknown values are last in both orders. */
  const compare = (a: OrderedPosition, b: OrderedPosition) => {
    if (a.value !== b.value) {
      if (a.value === null || b.value === null) return a.value === null ? 1 : -1;
      return sign * (b.value - a.value);
    }
    return a.id === b.id ? 0 : a.id < b.id ? -sign : sign;
  };
  const { after } = query;
  return [...board.markets()]
    .filter(matches)
    .map((market) => ({ value: sortValueOf(board, market, query.sort), id: idOf(market) }))
    .sort(compare)
    .filter((position) => after === null || compare(after, position) < 0)
    .slice(0, query.limit)
    .map(({ id }) => id);
}

/** Reference implementation of `listEvents`. */
function referenceEventSlugs(board: MarketBoard, query: EventQuery): string[] {
  const queryWords = query.text === null ? null : splitWords(query.text);
  const matchesText = ({ event, markets }: EventGroup): boolean => {
    if (queryWords === null) return true;
    const titles = markets.map(({ listing }) => `${listing.title} ${listing.outcomeLabel ?? ""}`);
    const groupWords = splitWords([event.listing.title, ...titles].join(" "));
    const occurs = (queryWord: string) =>
      groupWords.some((word) => word === queryWord || (queryWord.length >= 3 && word.startsWith(queryWord)));
    return queryWords.length > 0 && queryWords.every(occurs);
  };
  const rankOf = ({ markets, totalVolume24hUsd }: EventGroup): number => {
    const move = Math.max(0, ...markets.map((market) => Math.abs(priceChange24h(market) ?? 0)));
    return (totalVolume24hUsd ?? -1) * (query.order === "volume" ? 1 : 1 + 20 * move);
  };
  const { after = null } = query;
  const value = after?.value ?? Number.NEGATIVE_INFINITY;
  const isAfter = (group: EventGroup) =>
    after === null || rankOf(group) < value || (rankOf(group) === value && group.event.slug > after.id);
  return [...board.events()]
    .filter(({ listing }) => query.venues.includes(listing.venue) && (!query.featuredOnly || listing.featured))
    .filter(
      ({ listing }) => query.category === null || listing.category?.toLowerCase() === query.category.toLowerCase(),
    )
    .flatMap((event) => createEventGroup(board, event) ?? [])
    .filter((group) => (query.statuses ?? ["open"]).includes(eventStatus(group)) && matchesText(group))
    .filter(({ markets }) => markets.length >= (query.marketsMin ?? 0))
    .filter(({ totalVolume24hUsd: volume }) =>
      volume === null ? query.volumeUsdMin === undefined : volume >= (query.volumeUsdMin ?? 0),
    )
    .sort((a, b) => rankOf(b) - rankOf(a) || (a.event.slug < b.event.slug ? -1 : 1))
    .filter((group) => isAfter(group))
    .slice(0, query.limit)
    .map(({ event }) => event.slug);
}

const oneOf = <Value>(...values: Value[]) => fc.constantFrom(...values);
const venue = oneOf("alpha", "beta");
const marketId = fc.nat(25).map((number) => `m${number}`);
const eventId = oneOf("E1", "E2", "E3");
const category = oneOf(null, "Sports", "SPORTS", "Weather");
const title = oneOf("Fed cuts rates", "Fedora wins", "Rate of 3.5%", "Núñez", "", "wins in May");
const figure = oneOf(null, 0, 0.1, 5, 1e9);
const price = oneOf(null, 0.3, 0.35, 0.7);
const status = oneOf<MarketStatus>("active", "active", "active", "closed", "finalized", "pending");
const time = fc.integer({ min: SAMPLE_AT - 3, max: SAMPLE_AT + 3 });

const market = fc.record({
  listing: fc.record({
    venue,
    status,
    title,
    category,
    outcomeLabel: oneOf(null, "Over 3.5", "Fed"),
    eventId: fc.option(eventId),
    expectedResolutionAt: oneOf(null, 0, SAMPLE_AT, SAMPLE_AT + 1),
  }),
  quote: fc.record({ bid: oneOf(null, 0.2, 0.3), ask: oneOf(null, 0.35, 0.5), lastPrice: price, receivedAt: time }),
  activity: fc.record({ volume24hUsd: figure, liquidityUsd: figure, openInterestUsd: figure }),
});
const event = fc.record({ venue, title, category: oneOf(null, "Sports", "Weather"), featured: fc.boolean() });

type Change = (board: MarketBoard) => void;

/** Generates changes that pass generated arguments to `apply`. Changes occur in proportion to their weights. */
function changeOf<Parts>(
  weight: number,
  parts: fc.Arbitrary<Parts>,
  apply: (board: MarketBoard, parts: Parts) => void,
) {
  const createChange =
    (values: Parts): Change =>
    (board) =>
      apply(board, values);
  return { weight, arbitrary: parts.map(createChange) };
}

const change = fc.oneof(
  changeOf(6, fc.tuple(marketId, market, time), (board, [id, parts, at]) => board.apply(sampleMarket(id, parts), at)),
  changeOf(2, fc.tuple(eventId, event), (board, [id, parts]) => board.applyEvent(sampleEvent(id, parts))),
  changeOf(4, fc.tuple(venue, marketId, oneOf(0.1, 0.3, 0.6), time), (board, [venueId, id, bid, at]) =>
    board.applyQuote(venueId, id, { bid, ask: bid + 0.05, eventAt: at }, at),
  ),
  changeOf(2, fc.tuple(venue, marketId, price, figure), (board, [venueId, id, priceDayAgo, volume24hUsd]) => {
    const current = board.find(venueId, id);
    if (current !== null) board.annotate(current, { priceDayAgo, volume24hUsd });
  }),
  changeOf(2, fc.tuple(venue, marketId), (board, [venueId, id]) => {
    const current = board.find(venueId, id);
    if (current === null) return;
    board.remove(current);
    edgesOf(board).delete(idOf(current));
  }),
  changeOf(2, fc.tuple(venue, marketId, figure), (board, [venueId, id, edge]) => {
    const current = board.find(venueId, id);
    if (current === null) return;
    board.setEdge(current, edge);
    edgesOf(board).set(idOf(current), edge);
  }),
  changeOf(1, fc.tuple(marketId, market), (board, [id, parts]) => board.restore(sampleMarket(id, parts), 1)),
  changeOf(1, fc.constant(null), (board) => board.prepareLists()),
);

const text = oneOf(null, "fed", "rat", "fed rat", "rat fed", "in", "wi", "nunez", "3.5", "fed win may", "?");
const venues = oneOf<readonly string[]>(["alpha", "beta"], ["beta"], ["gamma", "alpha"], []);
const marketQuery: fc.Arbitrary<MarketQuery> = fc.record({
  venues,
  text,
  sort: oneOf(...SORT_KEYS),
  isReversed: fc.boolean(),
  limit: fc.integer({ min: 1, max: 12 }),
  statuses: oneOf<readonly MarketStatus[]>(["active"], ["closed", "finalized"], ["active", "pending"]),
  category: oneOf(null, "sports", "WEATHER", "none"),
  after: fc.option(
    fc.record({ value: oneOf(null, 0, 5, -SAMPLE_AT, SAMPLE_AT, -0.1), id: oneOf("", "alpha/m3", "beta/m1", "c") }),
  ),
});
const eventQuery: fc.Arbitrary<EventQuery> = fc.record({
  venues,
  text,
  featuredOnly: fc.boolean(),
  category: oneOf(null, "sports", "WEATHER", "none"),
  order: oneOf<"volume" | "trending">("volume", "trending"),
  limit: fc.integer({ min: 1, max: 4 }),
  statuses: oneOf<readonly EventStatus[] | undefined>(undefined, ["closed"], ["settled", "open"], EVENT_STATUSES),
  marketsMin: oneOf(undefined, 1, 2, 3),
  volumeUsdMin: oneOf(undefined, 0, 0.1, 5.1, 1e9),
  after: oneOf(null, { value: 0, id: "alpha:e2" }, { value: -1, id: "beta:e1" }, { value: 5, id: "" }),
});

function assertListMatchesReference(board: MarketBoard, query: MarketQuery): void {
  assert.deepEqual(board.list(query).map(idOf), referenceListIds(board, query));
}

function assertRowsMatchReference(board: MarketBoard, query: MarketQuery): void {
  const rows = board.findRows(query);
  const expected = referenceListIds(board, { ...query, limit: 10_000, after: null });
  assert.deepEqual([...board.rows(rows)].map(idOf).sort(), expected.sort());
  assert.deepEqual(rows, rows.toSorted());
}

/** Reference implementation of `summariseCategories`. */
function assertCategoriesMatchReference(board: MarketBoard, venues: readonly string[]): void {
  const active = [...board.markets()].filter(({ yesPrice, listing }) => {
    return yesPrice !== null && listing.status === "active" && venues.includes(listing.venue);
  });
  const categoryOfMarket = ({ listing }: BoardMarket) => {
    const event = listing.eventId === null ? null : board.findEvent(eventSlug(listing.venue, listing.eventId));
    return categoryOf(listing.category ?? event?.listing.category ?? null);
  };
  const expected = CATEGORIES.flatMap((category) => {
    const markets = active.filter((market) => categoryOfMarket(market) === category);
    const volumes = markets.flatMap(({ activity }) => activity.volume24hUsd ?? []);
    const sum = volumes.reduce((total, volume) => total + Math.round(volume * 100), 0) / 100;
    const volume24hUsd = volumes.length === 0 ? null : sum;
    return markets.length === 0 ? [] : [{ category, marketCount: markets.length, volume24hUsd }];
  });
  assert.deepEqual(board.summariseCategories(venues), expected);
}

function assertEventsMatchReference(board: MarketBoard, query: EventQuery): void {
  const slugs = listEvents(board, query).map(({ event: { slug } }) => slug);
  assert.deepEqual({ query, slugs }, { query, slugs: referenceEventSlugs(board, query) });
}

test("lists match the reference implementations after any sequence of changes", () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 80, size: "max" }),
      fc.array(change, { maxLength: 20, size: "max" }),
      fc.array(marketQuery, { minLength: 6, maxLength: 6 }),
      fc.array(eventQuery, { minLength: 4, maxLength: 4 }),
      (initialChanges, laterChanges, queries, eventQueries) => {
        const board = new MarketBoard(() => SAMPLE_AT);
        for (const changes of [initialChanges, laterChanges]) {
          for (const apply of changes) apply(board);
          for (const query of queries) assertListMatchesReference(board, query);
          for (const query of queries) assertRowsMatchReference(board, query);
          for (const query of eventQueries) assertEventsMatchReference(board, query);
          for (const query of queries) assertCategoriesMatchReference(board, query.venues);
        }
      },
    ),
    { numRuns: 400 },
  );
});

test("an observer that starts at any time has the markets of the board after any sequence of changes", () => {
  const changes = fc.array(change, { maxLength: 60, size: "max" });
  fc.assert(
    fc.property(changes, changes, (initialChanges, laterChanges) => {
      const board = new MarketBoard(() => SAMPLE_AT);
      for (const apply of initialChanges) apply(board);
      const observed = new Map<number, BoardMarket>();
      board.observe({
        onSet: (set) => observed.set(set.row, set),
        onRemove: (row) => observed.delete(row),
      });
      for (const apply of laterChanges) apply(board);
      assert.deepEqual(new Set(observed.values()), new Set(board.markets()));
    }),
  );
});

/** Returns one page and the position of its last market, serialised to JSON and parsed as in a cursor. */
function readPage(board: MarketBoard, query: MarketQuery): { ids: string[]; after: MarketQuery["after"] } {
  const markets = board.list(query);
  assert.ok(markets.length <= query.limit);
  const last = markets.at(-1);
  const after = last === undefined ? null : JSON.parse(JSON.stringify(board.position(last, query.sort)));
  return { ids: markets.map(idOf), after };
}

test("for any board, query and page size, paging returns every matching market exactly once and in order", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 80, size: "max" }), marketQuery, (changes, filteredQuery) => {
      const board = new MarketBoard(() => SAMPLE_AT);
      for (const apply of changes) apply(board);
      const unfilteredQuery: MarketQuery = { ...MATCH_ALL_QUERY, sort: filteredQuery.sort, limit: filteredQuery.limit };
      for (const query of [{ ...filteredQuery, after: null }, unfilteredQuery]) {
        const expected = referenceListIds(board, { ...query, limit: 100 });
        const seenIds: string[] = [];
        let page = readPage(board, query);
        for (; page.after !== null; page = readPage(board, { ...query, after: page.after })) {
          seenIds.push(...page.ids);
          assert.ok(seenIds.length <= expected.length);
        }
        assert.deepEqual(seenIds, expected);
      }
    }),
    { numRuns: 200 },
  );
});

/** Large enough that common words are stored as bits, and lists are read from the ordered index. */
function createLargeBoard(): MarketBoard {
  const board = new MarketBoard(() => SAMPLE_AT);
  for (let number = 0; number < 6_600; number++) {
    const subject = ["rates", "inflation", "rain"][number % 3];
    const rare = number % 500 === 0 ? "eclipse" : "";
    const id = `E${number % 2_200}`;
    if (number < 2_200) board.applyEvent(sampleEvent(id, { title: `Event ${number % 7 === 0 ? "storm" : ""}` }));
    board.apply(
      sampleMarket(`m${number}`, {
        listing: {
          eventId: id,
          title: `Will the ${subject} rise ${rare}?`,
          category: number % 11 === 0 ? "Sports" : null,
          status: number % 10 === 0 ? "closed" : "active",
        },
        activity: { volume24hUsd: number % 4 === 0 ? null : (number * 7_919) % 1_000 },
        quote: number % 13 === 0 ? { bid: null, ask: null, lastPrice: null } : {},
      }),
      SAMPLE_AT,
    );
  }
  return board;
}

test("searches for common and rare words match the reference implementations on a large board", () => {
  const board = createLargeBoard();
  const searches = ["will", "will the", "the rat", "rain inflation", "will rain rise", "eclipse", "will eclipse"];
  for (const text of [...searches, "r", "storm rain"]) {
    for (const category of [null, "sports"]) {
      assertListMatchesReference(board, { ...MATCH_ALL_QUERY, text, category });
      assertRowsMatchReference(board, { ...MATCH_ALL_QUERY, text, category });
    }
    const after = { value: SAMPLE_AT, id: "alpha/m4" };
    assertListMatchesReference(board, { ...MATCH_ALL_QUERY, text, sort: "updated_at", after });
  }
  const events = { venues: ["alpha"], category: null, featuredOnly: false, order: "volume", limit: 30 } as const;
  for (const text of ["will", "rain inflation", "rain storm", "eclipse will", "eclipse storm the", "rai inf rat"]) {
    assertEventsMatchReference(board, { ...events, text });
  }
});

test("paging returns each unchanged market exactly once if other markets are added, removed or changed between pages", () => {
  const board = createLargeBoard();
  for (const search of [null, "rain", "eclipse"]) {
    const query = { ...MATCH_ALL_QUERY, text: search, limit: 97 };
    const unchangedIds = new Set(
      referenceListIds(board, { ...query, limit: 9_000 }).filter((id) => Number(id.slice("alpha/m".length)) % 5 !== 0),
    );
    const seenIds = new Map<string, number>();
    let after: MarketQuery["after"] = null;
    for (let page = 0; page < 200; page++) {
      const { ids, after: next } = readPage(board, { ...query, after });
      for (const id of ids) seenIds.set(id, (seenIds.get(id) ?? 0) + 1);
      if (next === null) break;
      after = next;
      for (let step = 0; step < 60; step++) {
        const number = 5 * ((page * 60 + step * 7) % 1_320);
        const current = board.find("alpha", `m${number}`);
        if (current === null) board.apply(sampleMarket(`m${number}`, { listing: { title: "Will rain?" } }), SAMPLE_AT);
        else if (step % 3 === 0) board.remove(current);
        else board.annotate(current, { volume24hUsd: (number * step) % 1_000 });
      }
    }
    for (const id of unchangedIds) assert.equal(seenIds.get(id), 1, id);
  }
});
