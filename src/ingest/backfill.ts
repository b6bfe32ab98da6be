import type { BoardMarket } from "../board/index.ts";
import { cacheMostTraded, type VenueContext } from "./context.ts";

const CANDIDATES_MAX = 5_000;
const ATTEMPTS_MAX = 3;
const ATTEMPTED_MARKETS_MAX = 10_000;

/** Fetches the history of a venue's active markets into the store, one market at a time, the most traded first. */
export class Backfill {
  readonly #context: VenueContext;
  readonly #listCandidates: () => readonly BoardMarket[];
  /** Number of failed or running attempts by store key. */
  readonly #attempts = new Map<number, number>();
  #candidates: readonly BoardMarket[] = [];
  /** Index of the first candidate that has not been checked. */
  #position = 0;

  constructor(context: VenueContext) {
    this.#context = context;
    this.#listCandidates = cacheMostTraded(context, CANDIDATES_MAX);
  }

  /** Fetches the history of the next market that has none stored. */
  async fetchNext(): Promise<void> {
    const market = this.#nextMarket();
    if (market === null || market.storeKey === null) return;
    if (this.#attempts.size >= ATTEMPTED_MARKETS_MAX) this.#attempts.clear();
    this.#attempts.set(market.storeKey, (this.#attempts.get(market.storeKey) ?? 0) + 1);
    await this.#context.pastPrices.fetch(market, this.#context.signal);
    this.#attempts.delete(market.storeKey);
  }

  #nextMarket(): BoardMarket | null {
    const candidates = this.#listCandidates();
    if (candidates !== this.#candidates) this.#position = 0;
    this.#candidates = candidates;
    for (; this.#position < candidates.length; this.#position++) {
      const { listing } = candidates[this.#position] ?? {};
      const market = listing === undefined ? null : this.#context.board.find(listing.venue, listing.marketId);
      if (market !== null && this.#needsHistory(market)) return market;
    }
    return null;
  }

  #needsHistory(market: BoardMarket): boolean {
    if (market.storeKey === null || this.#context.pastPrices.has(market)) return false;
    return (this.#attempts.get(market.storeKey) ?? 0) < ATTEMPTS_MAX;
  }
}
