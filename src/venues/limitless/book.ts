import type { MarketListing } from "../../domain/market.ts";
import type { OrderBook } from "../../domain/order-book.ts";
import { createBadBodyError, type LimitlessContext } from "./client.ts";
import { isAmm, slugOf } from "./ids.ts";
import { parseBook } from "./parse-book.ts";
import { isBook } from "./wire.ts";

/** Returns the YES order book; null for AMM markets, settled markets and ids without an order book. */
export async function getBook(
  { client, countDrop, driftDetectors }: LimitlessContext,
  listing: MarketListing,
  signal: AbortSignal,
): Promise<OrderBook | null> {
  if (isAmm(listing) || listing.status === "finalized") return null;
  const response = await client.findBook(slugOf(listing), signal);
  if (response === null) return null;
  if (!driftDetectors.book.check(response.json, isBook)) throw createBadBodyError("an order book");
  return parseBook(response.json, { eventAt: null, receivedAt: response.receivedAt }, countDrop);
}
