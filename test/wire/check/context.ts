/** What a check of one recording needs. */
import { setImmediate as nextIteration } from "node:timers/promises";
import { MarketBoard } from "../../../src/board/index.ts";
import { presentOrderBook } from "../../../src/capabilities/markets/market-data/present-market-data.ts";
import type { MarketListing } from "../../../src/domain/market.ts";
import type { OrderBook } from "../../../src/domain/order-book.ts";
import { BookReader } from "../../../src/ingest/book-reader.ts";
import { VenueRequestQueue } from "../../../src/ingest/on-demand/venue-request-queue.ts";
import { sampleMarket } from "../../support/markets/market-samples.ts";
import type { Findings } from "../findings.ts";
import { collectUnrecognised, type JsonObject } from "../json.ts";
import type { Recording } from "../recording.ts";
import type { AdapterSession, SessionOptions } from "../replay/adapter-session.ts";

const ITERATIONS_MAX = 100_000;

export interface CheckContext {
  readonly recording: Recording;
  /** Payloads of all recordings of the venue. Events, series, tokens and resolutions are found in any of them. */
  readonly venuePayloads: readonly unknown[];
  readonly findings: Findings;
  /** Opens an adapter that is closed after the check. */
  readonly open: (options: Omit<SessionOptions, "venue" | "now">) => Promise<AdapterSession>;
}

/** Records members of row lists that the oracle does not recognise as rows. */
export function reportUnrecognised({ recording, findings }: CheckContext, isRow: (row: JsonObject) => boolean): void {
  for (const [index, item] of collectUnrecognised(recording.payload, isRow).entries()) {
    findings.differ(`unrecognised row ${index + 1}`, "recording", "a row of the endpoint", "another value", item);
  }
}

export const { signal } = new AbortController();

/** Reads the listings of sample markets through the adapter. */
export async function fetchListings(
  { adapter }: AdapterSession,
  marketIds: readonly string[],
): Promise<ReadonlyMap<string, MarketListing>> {
  const listings = new Map<string, MarketListing>();
  for (const marketId of marketIds) {
    const page = await adapter.findMarket(marketId, signal);
    for (const { listing } of page?.markets ?? []) listings.set(listing.marketId, listing);
  }
  return listings;
}

export function listingOf(listings: ReadonlyMap<string, MarketListing>, marketId: string): MarketListing {
  const listing = listings.get(marketId);
  if (listing === undefined) throw new Error(`the adapter did not find the sample market ${marketId}`);
  return listing;
}

/** Waits until the condition holds; gives up after `ITERATIONS_MAX` iterations of the event loop. */
export async function waitUntil(condition: () => boolean): Promise<void> {
  for (let iteration = 0; iteration < ITERATIONS_MAX && !condition(); iteration++) await nextIteration();
}

/** Returns the most frequent distance of times, in whole minutes. */
export function spacingMs(times: readonly number[], defaultMs: number): number {
  const counts = new Map<number, number>();
  for (const [index, at] of times.entries()) {
    const previous = times[index - 1];
    if (previous === undefined) continue;
    const minutes = Math.max(1, Math.round((at - previous) / 60_000));
    counts.set(minutes, (counts.get(minutes) ?? 0) + 1);
  }
  const [most] = [...counts].sort((a, b) => b[1] - a[1]);
  return most === undefined ? defaultMs : most[0] * 60_000;
}

export function groupBy(rows: readonly JsonObject[], keyOf: (row: JsonObject) => string): Map<string, JsonObject[]> {
  const groups = new Map<string, JsonObject[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

/**
 * Reads all levels of a book as `GET /v1/markets/{platform}/{market_id}/orderbook` does: with the book reader and the
 * adapter. Each call creates a book reader, because a reader caches a book for two seconds.
 */
export async function readServedBook(
  { adapter, clock }: Pick<AdapterSession, "adapter" | "clock">,
  listing: MarketListing,
): Promise<OrderBook | null> {
  const reader = new BookReader({
    venues: new Map([[listing.venue, { adapter }]]),
    trackedBookOf: () => null,
    requests: new VenueRequestQueue(clock),
    clock,
  });
  const board = new MarketBoard(() => clock.now());
  const { market } = board.apply(sampleMarket(listing.marketId, { listing }), clock.now());
  const book = await reader.read(market);
  if (book === null) return null;
  const reading = { bookType: adapter.detailsOf(listing).bookType, book, isStale: false, readAt: clock.now() };
  const { bids, asks } = presentOrderBook(market, reading, Number.POSITIVE_INFINITY);
  return { ...book, bids, asks };
}
