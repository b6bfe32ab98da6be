import type { MarketBoard } from "../board/index.ts";
import type { VenueId } from "../domain/market.ts";
import type { Clock } from "../ports/clock.ts";
import type { HistoryStore } from "../storage/index.ts";

/** Number of changed markets after which a job yields to the event loop. */
const YIELD_EVERY_MARKETS = 1_000;
/** How long a count is reused. The health endpoint is requested often, and counting scans the whole board. */
const ACTIVE_COUNTS_AGE_MS_MAX = 500;
/** Sets `priceDayAgo` of each market, the price 24 hours before now, from the stored history. */
export async function updateDayAgoPrices(board: MarketBoard, history: HistoryStore, clock: Clock): Promise<void> {
  const prices = await history.priceDayAgo(clock.now());
  let changed = 0;
  for (const market of board.markets()) {
    const price = market.storeKey === null ? undefined : prices.get(market.storeKey);
    if (price === undefined || price === market.priceDayAgo) continue;
    board.annotate(market, { priceDayAgo: price });
    changed += 1;
    if (changed % YIELD_EVERY_MARKETS === 0) await clock.sleep(0);
  }
}

/** Removes finalized markets last updated before `beforeMs` (Unix) from the board; they stay in the store. */
export async function removeSettledMarkets(board: MarketBoard, beforeMs: number): Promise<void> {
  const settled = [...board.markets()].filter(
    ({ listing, updatedAt }) => listing.status === "finalized" && updatedAt < beforeMs,
  );
  for (const market of settled) board.remove(market);
}

/** Returns a function that counts the active markets on the board by venue. */
export function createActiveMarketCounter(board: MarketBoard, clock: Clock): () => ReadonlyMap<VenueId, number> {
  let cached = { at: Number.NEGATIVE_INFINITY, counts: new Map<VenueId, number>() };
  return () => {
    const now = clock.monotonic();
    if (now - cached.at < ACTIVE_COUNTS_AGE_MS_MAX) return cached.counts;
    const counts = new Map<VenueId, number>();
    for (const { listing } of board.markets())
      if (listing.status === "active") counts.set(listing.venue, (counts.get(listing.venue) ?? 0) + 1);
    cached = { at: now, counts };
    return counts;
  };
}
