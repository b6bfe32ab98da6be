import type { BoardEvent, BoardMarket } from "../../board/index.ts";
import { eventSlug, priceChange24h } from "../../board/index.ts";

/** ISO 8601 in UTC of Unix milliseconds. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** Leaves out what is unknown: an absent field claims nothing. */
function known<T extends Record<string, unknown>>(fields: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<T>;
}

/** The Market of the specification; fields nobody knows are absent. */
export function presentMarket(market: BoardMarket, event: BoardEvent | null): Record<string, unknown> {
  const { listing, quote, activity } = market;
  return {
    platform: listing.venue,
    market_id: listing.marketId,
    title: listing.title,
    yes_price: market.yesPrice,
    updated_at: isoTime(market.updatedAt),
    ...known({
      url: listing.url,
      category: listing.category ?? event?.listing.category,
      status: listing.status === "pending" ? null : listing.status,
      bid: quote.bid,
      ask: quote.ask,
      last_price: quote.lastPrice,
      price_change_24h: priceChange24h(market),
      volume_24h: activity.volume24hUsd,
      liquidity: activity.liquidityUsd,
      open_interest: activity.openInterestUsd,
      resolution_date: listing.expectedResolutionAt === null ? null : isoTime(listing.expectedResolutionAt),
      event_slug: listing.eventId === null ? null : eventSlug(listing.venue, listing.eventId),
      event_title: event?.listing.title,
    }),
  };
}

type MadeTexts = WeakMap<BoardMarket, { readonly event: BoardEvent | null; readonly bytes: Buffer }>;

/** Texts are kept in two halves of at most this many; when the newer is full, the older is forgotten. */
const TEXTS_KEPT_MAX = 25_000;
let newer: MadeTexts = new WeakMap();
let older: MadeTexts = new WeakMap();
let newerCount = 0;

/**
 * The Market as JSON bytes, made once per change: a board market is replaced when anything about it changes. Bytes of
 * markets that nobody asks for are not kept: a caller who pages through 300,000 would leave a quarter of a gigabyte.
 */
export function marketBytes(market: BoardMarket, event: BoardEvent | null): Buffer {
  const made = newer.get(market);
  if (made !== undefined && made.event === event) return made.bytes;
  const before = older.get(market);
  const bytes =
    before !== undefined && before.event === event
      ? before.bytes
      : Buffer.from(JSON.stringify(presentMarket(market, event)));
  newer.set(market, { event, bytes });
  newerCount += 1;
  if (newerCount >= TEXTS_KEPT_MAX) {
    older = newer;
    newer = new WeakMap();
    newerCount = 0;
  }
  return bytes;
}

const OPEN = Buffer.from("[");
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]");

/** A JSON array of ready-made items. */
export function arrayBytes(items: readonly Buffer[]): Buffer {
  return Buffer.concat([OPEN, ...items.flatMap((item, index) => (index === 0 ? [item] : [COMMA, item])), CLOSE]);
}
