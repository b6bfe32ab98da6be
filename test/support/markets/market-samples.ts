import type { MarketQuery } from "../../../src/board/index.ts";
import type { EventChildren } from "../../../src/domain/event-children.ts";
import {
  type Activity,
  EMPTY_ACTIVITY,
  type EventListing,
  type MarketListing,
  type MarketSnapshot,
  type Quote,
} from "../../../src/domain/market.ts";
import type { ListingPage } from "../../../src/ports/venue.ts";

/** Timestamp of the samples, a midnight UTC; also the default start of a `FakeClock`. */
export const SAMPLE_AT = Date.UTC(2026, 10, 21);

export interface SampleParts {
  readonly listing?: Partial<MarketListing>;
  readonly quote?: Partial<Quote>;
  readonly activity?: Partial<Activity>;
}

/** The fields of a listing that a venue may leave out. */
export const EMPTY_LISTING = {
  outcomeLabel: null,
  url: null,
  category: null,
  paused: false,
  outcome: null,
  rules: null,
  openAt: null,
  closeAt: null,
  expectedResolutionAt: null,
  resolvedAt: null,
  priceRanges: null,
  minOrderContracts: null,
  contractStep: null,
  takerDelayMs: null,
  protocolVersion: null,
  takerFee: null,
  venueKeys: {},
} as const;

/** Returns an open market of the venue "alpha", quoted at bid 0.40, ask 0.42. `parts` overrides fields. */
export function sampleMarket(marketId: string, parts: SampleParts = {}): MarketSnapshot {
  return {
    listing: {
      venue: "alpha",
      marketId,
      ...EMPTY_LISTING,
      eventId: null,
      title: `Question ${marketId}`,
      status: "active",
      priceRanges: [{ from: 0, to: 1, step: 0.01 }],
      ...parts.listing,
    },
    quote: {
      bid: 0.4,
      ask: 0.42,
      bidSize: 100,
      askSize: 100,
      lastPrice: 0.41,
      indicativePrice: null,
      eventAt: null,
      receivedAt: SAMPLE_AT,
      ...parts.quote,
    },
    activity: { ...EMPTY_ACTIVITY, ...parts.activity },
  };
}

/** Children of an event of which all `read` markets were read, and `leftOut` markets were not. */
export function sampleChildren(read: number, leftOut: EventChildren["leftOut"] = {}): EventChildren {
  return { total: Object.values(leftOut).reduce((total, count) => total + count, read), read, leftOut };
}

/** Returns an event of the venue "alpha". `parts` overrides fields. */
export function sampleEvent(eventId: string, parts: Partial<EventListing> = {}): EventListing {
  return {
    venue: "alpha",
    eventId,
    title: `Event ${eventId}`,
    description: null,
    category: null,
    url: null,
    mutuallyExclusive: false,
    exhaustive: false,
    children: null,
    featured: false,
    endAt: null,
    ...parts,
  };
}

/** Returns one page of a listing. `parts` overrides fields. */
export function samplePage(markets: readonly MarketSnapshot[], parts: Partial<ListingPage> = {}): ListingPage {
  return { markets, events: [], totalRows: null, requestedAt: SAMPLE_AT, ...parts };
}

/** A query for all active markets of the venues "alpha" and "beta", largest volume first. */
export const MATCH_ALL_QUERY: MarketQuery = {
  venues: ["alpha", "beta"],
  statuses: ["active"],
  category: null,
  text: null,
  sort: "volume_24h",
  limit: 100,
  after: null,
};
