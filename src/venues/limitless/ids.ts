import type { MarketListing } from "../../domain/market.ts";

/** Path segments under /markets that are not market ids. */
const RESERVED = new Set([".", "..", "active", "search", "timeline", "categories"]);
const ID_CHARS_MAX = 512;

/** Returns whether the text has the form of a Limitless slug or contract address. */
export function isMarketId(id: string): boolean {
  return id.length <= ID_CHARS_MAX && /^[^\s/\\?#%\p{Cc}\p{Cs}]+$/u.test(id) && !RESERVED.has(id);
}

export const isAmm = (listing: MarketListing): boolean => listing.venueKeys.kind === "amm";

export const slugOf = (listing: MarketListing): string => listing.venueKeys.slug ?? listing.marketId;
