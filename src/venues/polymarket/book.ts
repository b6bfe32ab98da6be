import type { MarketListing } from "../../domain/market.ts";
import type { OrderBook } from "../../domain/order-book.ts";
import { BOOK_BODY_BYTES_MAX } from "../shared/venue-client.ts";
import { createBadBodyError, type PolymarketContext } from "./client.ts";
import { parseBook } from "./parse-book.ts";
import { isBook } from "./wire.ts";

/** Returns the book of the YES token, or null if the market has no book. */
export async function getBook(
  { clob, driftDetectors, countDrop }: PolymarketContext,
  listing: Pick<MarketListing, "venueKeys">,
  signal: AbortSignal,
): Promise<OrderBook | null> {
  const token = listing.venueKeys.tokenYes;
  if (token === undefined) return null;
  const { status, json, receivedAt } = await clob.fetchJson("/book", {
    query: { token_id: token },
    signal,
    accept: [404],
    maxBodyBytes: BOOK_BODY_BYTES_MAX,
  });
  if (status === 404) return null;
  if (!driftDetectors.book.check(json, isBook) || json.asset_id !== token) {
    throw createBadBodyError("the order book has an unknown shape or belongs to another token");
  }
  return parseBook(json, receivedAt, countDrop);
}
