import { type BoardEvent, type BoardMarket, eventSlugOf, priceChange24h } from "../../../board/index.ts";
import { categoryOf } from "../../../domain/category.ts";
import { type MarketListing, settlementValueOf } from "../../../domain/market.ts";
import { stepAt } from "../../../domain/order-rules.ts";
import { GenerationCache } from "../../../lib/cache-by-object.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import { encodeUnpooled } from "../../../lib/json/unpooled-buffer.ts";
import { encodeJson } from "../../../lib/round-numbers.ts";
import type { AlsoOn } from "../matching/index.ts";
import type { MarketDependencies, MarketEstimate } from "../ports.ts";

/** Returns the fields without null and undefined values, because the API omits unknown values. */
function omitUnknown<T extends Record<string, unknown>>(fields: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<T>;
}

/** Data of the Market object that is not on the board. */
export interface MarketLookups extends Pick<MarketDependencies, "estimateOf"> {
  /** Returns the ids that are required for an order at the venue, by public name. */
  readonly venueIdsOf: (listing: MarketListing) => Readonly<Record<string, string>>;
  /** Returns the URLs of the market at other venues, as the same object until they change; null if there are none. */
  readonly alsoOnOf: (market: BoardMarket) => AlsoOn | null;
}

/** Creates the Market object of the API. Unknown fields are omitted. */
export function presentMarket(
  market: BoardMarket,
  event: BoardEvent | null,
  { venueIdsOf, alsoOnOf, estimateOf }: MarketLookups,
): Record<string, unknown> {
  const { listing, quote, activity } = market;
  const venueCategory = listing.category ?? event?.listing.category ?? null;
  const venueIds = venueIdsOf(listing);
  const estimate = estimateOf(market);
  return {
    platform: listing.venue,
    market_id: listing.marketId,
    title: listing.title,
    yes_price: market.yesPrice,
    updated_at: toIso(market.updatedAt),
    ...omitUnknown({
      url: listing.url,
      category: categoryOf(venueCategory),
      venue_category: venueCategory,
      also_on: alsoOnOf(market),
      status: listing.status === "pending" ? null : listing.status,
      bid: quote.bid,
      ask: quote.ask,
      last_price: quote.lastPrice,
      price_change_24h: priceChange24h(market),
      model_probability: estimate?.probability,
      model_probability_at: estimate === null ? null : toIso(estimate.at),
      volume_24h: activity.volume24hUsd,
      liquidity: activity.liquidityUsd,
      open_interest: activity.openInterestUsd,
      resolution_date: listing.expectedResolutionAt === null ? null : toIso(listing.expectedResolutionAt),
      close_time: listing.closeAt === null ? null : toIso(listing.closeAt),
      tick_size: stepAt(listing.priceRanges, market.yesPrice),
      price_ranges: listing.priceRanges,
      min_order_contracts: listing.minOrderContracts,
      contract_step: listing.contractStep,
      taker_delay_ms: listing.takerDelayMs,
      protocol_version: listing.protocolVersion,
      event_slug: eventSlugOf(listing),
      event_title: event?.listing.title,
    }),
    paused: listing.paused,
    ...(Object.keys(venueIds).length === 0 ? null : { venue_ids: venueIds }),
    ...(listing.status === "finalized" ? presentSettlement(listing) : null),
  };
}

/** Creates the fields of a settled market. They are null if the venue does not report them. */
function presentSettlement({ outcome, resolvedAt }: MarketListing) {
  return {
    outcome: outcome?.kind ?? null,
    settlement_value: outcome === null ? null : settlementValueOf(outcome),
    resolved_at: resolvedAt === null ? null : toIso(resolvedAt),
  };
}

interface EncodedMarket {
  readonly event: BoardEvent | null;
  readonly alsoOn: AlsoOn | null;
  readonly estimate: MarketEstimate | null;
  readonly bytes: Buffer;
}

const isSameEstimate = (a: MarketEstimate | null, b: MarketEstimate | null): boolean =>
  a === b || (a !== null && b !== null && a.probability === b.probability && a.at === b.at);

/** Maximum entries per generation of the cache. */
const GENERATION_ENTRIES_MAX = 25_000;
const encodedMarkets = new GenerationCache<BoardMarket, EncodedMarket>(GENERATION_ENTRIES_MAX);

/**
 * Encodes the Market object as JSON, cached until the market, its event, its links or its estimate change (these
 * objects are immutable). The cache is bounded, because a client that pages through 300,000 markets would otherwise
 * fill 250 MB.
 */
export function encodeMarket(market: BoardMarket, event: BoardEvent | null, lookups: MarketLookups): Buffer {
  const alsoOn = lookups.alsoOnOf(market);
  const estimate = lookups.estimateOf(market);
  const cached = encodedMarkets.get(market);
  if (cached?.event === event && cached.alsoOn === alsoOn && isSameEstimate(cached.estimate, estimate))
    return cached.bytes;
  const bytes = encodeUnpooled(encodeJson(presentMarket(market, event, lookups)));
  encodedMarkets.set(market, { event, alsoOn, estimate, bytes });
  return bytes;
}
