import assert from "node:assert/strict";
import { test } from "node:test";
import {
  SAMPLE_AT,
  type SampleParts,
  sampleChildren,
  sampleEvent,
  sampleMarket,
} from "../../../../test/support/markets/market-samples.ts";
import { MarketBoard } from "../../../board/index.ts";
import type { EventListing } from "../../../domain/market.ts";
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

function createBoard(samples: Readonly<Record<string, Sample>>): MarketBoard {
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

const partsWithVolume = (volume24hUsd: number | null): SampleParts => ({ activity: { volume24hUsd } });
const UNPRICED_QUOTE = { bid: null, ask: null, lastPrice: null };

function requireGroup(board: MarketBoard, slug: string): EventGroup {
  const event = board.findEvent(slug);
  const group = event === null ? null : createEventGroup(board, event);
  if (group === null) throw new Error(`${slug} has no priced market`);
  return group;
}

test("the volume of an event is the sum of its known market volumes, rounded to cents, or null if none is known", () => {
  const board = createBoard({
    some: { markets: { a: partsWithVolume(0.1), b: partsWithVolume(0.2), c: partsWithVolume(null) } },
    none: { markets: { d: partsWithVolume(null) } },
    zero: { markets: { e: partsWithVolume(0) } },
  });
  assert.equal(requireGroup(board, "alpha:some").totalVolume24hUsd, 0.3);
  assert.equal(requireGroup(board, "alpha:none").totalVolume24hUsd, null);
  assert.equal(requireGroup(board, "alpha:zero").totalVolume24hUsd, 0);
});

test("`updatedAt` of an event is the latest `updatedAt` of its priced markets", () => {
  const board = createBoard({
    e: {
      markets: {
        old: { quote: { receivedAt: SAMPLE_AT - 9 } },
        fresh: { quote: { receivedAt: SAMPLE_AT - 2 } },
        unpriced: { quote: { ...UNPRICED_QUOTE, receivedAt: SAMPLE_AT } },
      },
    },
  });
  const group = requireGroup(board, "alpha:e");
  assert.equal(group.updatedAt, SAMPLE_AT - 2);
  assert.equal(presentEventSummary(group).market_count, 2);
});

test("an event is open if any market is active, settled if all are finalized, otherwise closed", () => {
  const statusOf = (...statuses: readonly ("active" | "closed" | "determined" | "finalized" | "pending")[]) => {
    const markets = Object.fromEntries(statuses.map((status, number) => [`m${number}`, { listing: { status } }]));
    return eventStatus(requireGroup(createBoard({ e: { markets } }), "alpha:e"));
  };
  assert.equal(statusOf("finalized", "active"), "open");
  assert.equal(statusOf("finalized", "determined"), "closed");
  assert.equal(statusOf("closed"), "closed");
  assert.equal(statusOf("pending"), "closed");
  assert.equal(statusOf("finalized", "finalized"), "settled");
});

test("the trending rank is the volume times (1 + 20 times the largest 24-hour price change)", () => {
  const board = createBoard({
    // 100 * (1 + 20 * 0.01) = 120
    calm: { markets: { a: { ...partsWithVolume(100), priceDayAgo: 0.4 } } },
    // 5 * (1 + 20 * 0.31) = 36
    moved: {
      markets: { b: { ...partsWithVolume(3), priceDayAgo: 0.1 }, c: { ...partsWithVolume(2), priceDayAgo: 0.4 } },
    },
    // No change of the price is known, so the rank is the volume.
    below: { markets: { d: partsWithVolume(119.5) } },
    above: { markets: { e: partsWithVolume(120.5) } },
  });
  const query = {
    venues: ["alpha"],
    category: null,
    featuredOnly: false,
    text: null,
    order: "trending",
    limit: 9,
  } as const;
  const slugs = listEvents(board, query).map(({ event }) => event.slug);
  assert.deepEqual(slugs, ["alpha:above", "alpha:calm", "alpha:below", "alpha:moved"]);
});

test("an event has the highest price of its active markets, its end date and, if requested, its markets", () => {
  const board = createBoard({
    E1: {
      event: {
        title: "T",
        description: "D",
        category: "C",
        mutuallyExclusive: true,
        children: sampleChildren(2, { unreadable: 1 }),
        endAt: SAMPLE_AT,
        featured: true,
      },
      markets: {
        low: { listing: { url: "https://alpha.example/low" }, activity: { volume24hUsd: 7, openInterestUsd: 3 } },
        over: { listing: { status: "finalized" }, quote: { bid: null, ask: null, lastPrice: 0.99 } },
      },
    },
  });
  const group = requireGroup(board, "alpha:e1");
  const updatedAt = new Date(SAMPLE_AT).toISOString();
  const detail = {
    slug: "alpha:e1",
    title: "T",
    platform: "alpha",
    market_count: 2,
    total_volume_24h: 7,
    updated_at: updatedAt,
    category: "Other",
    venue_category: "C",
    featured: true,
    description: "D",
    top_yes_price: 0.41,
    mutually_exclusive: true,
    children: { total: 3, read: 2, left_out: { unreadable: 1 } },
    status: "open",
    end_date: updatedAt,
    also_on: [],
  };
  assert.deepEqual(presentEvent(group, [], false), detail);
  const lowMarket = { market_id: "low", title: "Question low", yes_price: 0.41, volume_24h: 7 };
  const overMarket = { market_id: "over", title: "Question over", yes_price: 0.99, volume_24h: null };
  assert.deepEqual(presentEvent(group, [], true), {
    ...detail,
    markets: [
      { ...lowMarket, url: "https://alpha.example/low", open_interest: 3, spread: 0.02 },
      { ...overMarket, url: null, open_interest: null, spread: null },
    ],
  });
});

test("an event without an active market has no top price", () => {
  const board = createBoard({ e: { markets: { m: { listing: { status: "closed" } } } } });
  const detail = presentEvent(requireGroup(board, "alpha:e"), [], false);
  assert.deepEqual(
    [detail.top_yes_price, detail.end_date, detail.description, detail.category],
    [null, null, null, ""],
  );
});
