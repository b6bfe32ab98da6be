import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_AT, type SampleParts, sampleEvent, sampleMarket } from "../../../test/support/market-samples.ts";
import { type EventQuery, MarketBoard } from "../../board/index.ts";
import type { EventListing } from "../../domain/market.ts";
import {
  createEventGroup,
  type EventGroup,
  eventStatus,
  listEvents,
  presentEvent,
  presentEventSummary,
} from "./events.ts";

interface Sample {
  readonly event?: Partial<EventListing>;
  readonly markets: Readonly<Record<string, SampleParts & { readonly priceDayAgo?: number }>>;
}

function boardOf(samples: Readonly<Record<string, Sample>>): MarketBoard {
  const board = new MarketBoard(() => SAMPLE_AT);
  for (const [eventId, { event, markets }] of Object.entries(samples)) {
    const listing = sampleEvent(eventId, event);
    board.applyEvent(listing);
    for (const [marketId, parts] of Object.entries(markets)) {
      const partsWithEvent = { ...parts, listing: { venue: listing.venue, eventId, ...parts.listing } };
      const { market } = board.apply(sampleMarket(marketId, partsWithEvent), SAMPLE_AT);
      if (parts.priceDayAgo !== undefined) board.annotate(market, { priceDayAgo: parts.priceDayAgo });
    }
  }
  return board;
}

const ALL: EventQuery = {
  venues: ["alpha", "beta"],
  category: null,
  featuredOnly: false,
  text: null,
  order: "volume",
  limit: 50,
};
const slugs = (groups: readonly EventGroup[]) => groups.map(({ event }) => event.slug);
const volume = (volume24hUsd: number | null): SampleParts => ({ activity: { volume24hUsd } });
const UNPRICED = { bid: null, ask: null, lastPrice: null };

function groupIn(board: MarketBoard, slug: string): EventGroup {
  const event = board.findEvent(slug);
  const group = event === null ? null : createEventGroup(board, event);
  if (group === null) throw new Error(`${slug} has no priced market`);
  return group;
}

test("the volume of an event is the sum of its known market volumes, rounded to cents, or null if none is known", () => {
  const board = boardOf({
    some: { markets: { a: volume(0.1), b: volume(0.2), c: volume(null) } },
    none: { markets: { d: volume(null) } },
    zero: { markets: { e: volume(0) } },
  });
  assert.equal(groupIn(board, "alpha:some").totalVolume24hUsd, 0.3);
  assert.equal(groupIn(board, "alpha:none").totalVolume24hUsd, null);
  assert.equal(groupIn(board, "alpha:zero").totalVolume24hUsd, 0);
});

test("`updatedAt` of an event is the latest `updatedAt` of its priced markets", () => {
  const board = boardOf({
    e: {
      markets: {
        old: { quote: { receivedAt: SAMPLE_AT - 9 } },
        fresh: { quote: { receivedAt: SAMPLE_AT - 2 } },
        unpriced: { quote: { ...UNPRICED, receivedAt: SAMPLE_AT } },
      },
    },
  });
  const group = groupIn(board, "alpha:e");
  assert.equal(group.updatedAt, SAMPLE_AT - 2);
  assert.equal(presentEventSummary(group).market_count, 2);
});

test("an event without a priced market is not listed", () => {
  const board = boardOf({ e: { markets: { m: { quote: UNPRICED } } }, empty: { markets: {} } });
  assert.deepEqual(listEvents(board, ALL), []);
  for (const event of board.events()) assert.equal(createEventGroup(board, event), null);
});

test("an event is open if any market is active, settled if all are finalized, otherwise closed", () => {
  const statusOf = (...statuses: readonly ("active" | "closed" | "determined" | "finalized" | "pending")[]) => {
    const markets = Object.fromEntries(statuses.map((status, number) => [`m${number}`, { listing: { status } }]));
    return eventStatus(groupIn(boardOf({ e: { markets } }), "alpha:e"));
  };
  assert.equal(statusOf("finalized", "active"), "open");
  assert.equal(statusOf("finalized", "determined"), "closed");
  assert.equal(statusOf("closed"), "closed");
  assert.equal(statusOf("pending"), "closed");
  assert.equal(statusOf("finalized", "finalized"), "settled");
});

test("sorts open events by volume: largest first, unknown last, equal volumes by slug", () => {
  const board = boardOf({
    unknown: { markets: { a: volume(null) } },
    small: { markets: { b: volume(0) } },
    tieB: { markets: { c: volume(5) } },
    tieA: { markets: { d: volume(2), e: volume(3) } },
    over: { markets: { f: { listing: { status: "finalized" }, activity: { volume24hUsd: 99 } } } },
  });
  assert.deepEqual(slugs(listEvents(board, ALL)), ["alpha:tiea", "alpha:tieb", "alpha:small", "alpha:unknown"]);
  assert.equal(listEvents(board, { ...ALL, limit: 1 }).length, 1);
});

test("the trending rank is the volume times (1 + 20 times the largest 24-hour price change)", () => {
  const board = boardOf({
    // 100 * (1 + 20 * 0.01) = 120
    calm: { markets: { a: { ...volume(100), priceDayAgo: 0.4 } } },
    // 50 * (1 + 20 * 0.31) = 360
    moved: { markets: { b: { ...volume(30), priceDayAgo: 0.1 }, c: { ...volume(20), priceDayAgo: 0.4 } } },
    // 130 * (1 + 0)
    unknownMove: { markets: { d: volume(130) } },
  });
  const trending = slugs(listEvents(board, { ...ALL, order: "trending" }));
  assert.deepEqual(trending, ["alpha:moved", "alpha:unknownmove", "alpha:calm"]);
});

test("filters events by venue, category (case-insensitive) and featured flag", () => {
  const board = boardOf({
    plain: { markets: { a: {} } },
    sport: { event: { category: "Sports", featured: true }, markets: { b: {} } },
    other: { event: { venue: "beta", category: "SPORTS" }, markets: { c: {} } },
  });
  assert.deepEqual(slugs(listEvents(board, { ...ALL, venues: ["beta"] })), ["beta:other"]);
  assert.deepEqual(slugs(listEvents(board, { ...ALL, category: "sPorts" })), ["alpha:sport", "beta:other"]);
  assert.deepEqual(slugs(listEvents(board, { ...ALL, featuredOnly: true })), ["alpha:sport"]);
});

test("a search requires every word to occur in the event or in one of its markets", () => {
  const board = boardOf({
    chile: {
      event: { title: "Elección en Chile" },
      markets: { a: { listing: { title: "Who?", outcomeLabel: "Núñez" } } },
    },
    peru: { event: { title: "Election in Peru" }, markets: { b: {} } },
  });
  const search = (text: string) => slugs(listEvents(board, { ...ALL, text }));
  assert.deepEqual(search("elec"), ["alpha:chile", "alpha:peru"]);
  assert.deepEqual(search("nunez chile"), ["alpha:chile"]);
  assert.deepEqual(search("nunez peru"), []);
  assert.deepEqual(search("?!"), []);
});

test("an event has the highest active price, its end date and, if requested, its markets", () => {
  const board = boardOf({
    E1: {
      event: { title: "T", description: "D", category: "C", mutuallyExclusive: true, endAt: SAMPLE_AT, featured: true },
      markets: {
        low: { listing: { url: "https://alpha.example/low" }, activity: { volume24hUsd: 7, openInterestUsd: 3 } },
        over: { listing: { status: "finalized" }, quote: { bid: null, ask: null, lastPrice: 0.99 } },
      },
    },
  });
  const group = groupIn(board, "alpha:e1");
  const at = new Date(SAMPLE_AT).toISOString();
  const detail = {
    slug: "alpha:e1",
    title: "T",
    platform: "alpha",
    market_count: 2,
    total_volume_24h: 7,
    updated_at: at,
    category: "C",
    featured: true,
    description: "D",
    top_yes_price: 0.41,
    mutually_exclusive: true,
    status: "open",
    end_date: at,
  };
  assert.deepEqual(presentEvent(group, false), detail);
  const low = { market_id: "low", title: "Question low", yes_price: 0.41, volume_24h: 7 };
  const over = { market_id: "over", title: "Question over", yes_price: 0.99, volume_24h: null };
  assert.deepEqual(presentEvent(group, true), {
    ...detail,
    markets: [
      { ...low, url: "https://alpha.example/low", open_interest: 3, spread: 0.02 },
      { ...over, url: null, open_interest: null, spread: null },
    ],
  });
});

test("an event without an active market has no top price", () => {
  const board = boardOf({ e: { markets: { m: { listing: { status: "closed" } } } } });
  const detail = presentEvent(groupIn(board, "alpha:e"), false);
  assert.deepEqual(
    [detail.top_yes_price, detail.end_date, detail.description, detail.category],
    [null, null, null, ""],
  );
});
