import type { BoardMarket, MarketBoard } from "../board/index.ts";
import type { VenueId } from "../domain/market.ts";
import type { Clock } from "../ports/clock.ts";
import type { StoredPastPrices } from "../storage/index.ts";
import { listMostTraded } from "./most-traded.ts";

const CANDIDATES_MAX = 5_000;
/** Listing the most traded markets scans the whole board, so the list is reused for this long. */
const LIST_KEPT_MS = 5_000;
const ATTEMPTS_MAX = 3;
const ATTEMPTED_MARKETS_MAX = 10_000;

export interface BackfillOptions {
  readonly venue: VenueId;
  readonly board: MarketBoard;
  readonly pastPrices: StoredPastPrices;
  readonly clock: Clock;
}

/** Fetches the history of a venue's active markets into the store, one market at a time, the most traded first. */
export class Backfill {
  readonly #options: BackfillOptions;
  /** Failed or running attempts by store key. */
  readonly #attempts = new Map<number, number>();
  #listed: readonly BoardMarket[] = [];
  #listedAt = Number.NEGATIVE_INFINITY;
  /** Index in the list from which on markets have not been checked. */
  #position = 0;

  constructor(options: BackfillOptions) {
    this.#options = options;
  }

  /** Fetches the history of the next market; false if none is left. */
  async next(signal: AbortSignal): Promise<boolean> {
    const market = this.#nextMarket();
    if (market === null || market.storeKey === null) return false;
    if (this.#attempts.size >= ATTEMPTED_MARKETS_MAX) this.#attempts.clear();
    this.#attempts.set(market.storeKey, (this.#attempts.get(market.storeKey) ?? 0) + 1);
    await this.#options.pastPrices.fetch(market, signal);
    this.#attempts.delete(market.storeKey);
    return true;
  }

  #nextMarket(): BoardMarket | null {
    const { venue, board, clock } = this.#options;
    const now = clock.monotonic();
    if (now - this.#listedAt >= LIST_KEPT_MS || this.#listed.length === 0) {
      this.#listed = listMostTraded(board, venue, CANDIDATES_MAX);
      this.#listedAt = now;
      this.#position = 0;
    }
    for (; this.#position < this.#listed.length; this.#position++) {
      const { listing } = this.#listed[this.#position] ?? {};
      const market = listing === undefined ? null : board.find(listing.venue, listing.marketId);
      if (market !== null && this.#needsHistory(market)) return market;
    }
    return null;
  }

  #needsHistory(market: BoardMarket): boolean {
    const { storeKey } = market;
    return (
      storeKey !== null && !this.#options.pastPrices.has(market) && (this.#attempts.get(storeKey) ?? 0) < ATTEMPTS_MAX
    );
  }
}
