import type { VenueId } from "./market.ts";

export type MarketRef = { readonly venue: VenueId; readonly marketId: string };

/** Returns `venue/marketId`, which identifies a market. `parseMarketRef` is the inverse. */
export const formatMarketRef = ({ venue, marketId }: MarketRef): string => `${venue}/${marketId}`;

/**
 * Parses a market's name in a request: `platform/market_id`, or only the market id. A name that does not start with the
 * id of one of `venues` is a market id, even if it contains a slash.
 *
 * @param platform  the venue of a name that is only a market id; null if the request has no `platform`
 * @returns  null if neither the name nor the request has a venue
 */
export function parseMarketName(name: string, venues: readonly VenueId[], platform: VenueId | null): MarketRef | null {
  const prefix = venues.find((venue) => name.startsWith(`${venue}/`));
  if (prefix !== undefined) return { venue: prefix, marketId: name.slice(prefix.length + 1) };
  return platform === null ? null : { venue: platform, marketId: name };
}

/** Splits `venue/marketId` at the first slash. A market id may contain slashes. */
export function parseMarketRef(id: string): MarketRef {
  const slash = id.indexOf("/");
  return { venue: id.slice(0, slash), marketId: id.slice(slash + 1) };
}
