import type { BoardMarket } from "../board/index.ts";
import { cacheMostTraded, type VenueContext } from "./context.ts";

const CANDIDATES_MAX = 5_000;
const ATTEMPTS_MAX = 3;
const ATTEMPTED_MARKETS_MAX = 10_000;

/**
 * Returns a function that fetches the price history of one more market of the venue: the most traded active market
 * without a stored history.
 */
export function createBackfill(context: VenueContext): () => Promise<void> {
  const { board, pastPrices, signal } = context;
  const listCandidates = cacheMostTraded(context, CANDIDATES_MAX);
  /** Number of failed or running attempts by store key. */
  const attempts = new Map<number, number>();
  let candidates: readonly BoardMarket[] = [];
  /** Index of the first candidate that has not been checked. */
  let position = 0;

  const findNext = (): { readonly market: BoardMarket; readonly storeKey: number } | null => {
    const current = listCandidates();
    if (current !== candidates) position = 0;
    candidates = current;
    for (; position < candidates.length; position++) {
      const { listing } = candidates[position] ?? {};
      const market = listing === undefined ? null : board.find(listing.venue, listing.marketId);
      const storeKey = market?.storeKey ?? null;
      if (market === null || storeKey === null || pastPrices.has(market)) continue;
      if ((attempts.get(storeKey) ?? 0) < ATTEMPTS_MAX) return { market, storeKey };
    }
    return null;
  };

  return async () => {
    const next = findNext();
    if (next === null) return;
    const { market, storeKey } = next;
    if (attempts.size >= ATTEMPTED_MARKETS_MAX) attempts.clear();
    attempts.set(storeKey, (attempts.get(storeKey) ?? 0) + 1);
    await pastPrices.fetch(market, signal);
    attempts.delete(storeKey);
  };
}
