import type { BoardMarket, MarketBoard } from "../board/index.ts";
import type { VenueId } from "../domain/market.ts";
import type { Clock } from "../ports/clock.ts";
import type { StoredPastPrices } from "../storage/index.ts";

const CANDIDATES_MAX = 5_000;
/** Listing the most traded is a pass over every market: what comes next is read off one list for this long. */
const LISTED_FOR_MS = 5_000;
const ATTEMPTS_MAX = 3;
const FAILED_KEPT_MAX = 10_000;

/** Works through a venue's open markets by volume and brings the past of each into the store, one at a time. */
export class Backfill {
  readonly #venue: VenueId;
  readonly #board: MarketBoard;
  readonly #past: StoredPastPrices;
  readonly #clock: Clock;
  readonly #attempts = new Map<number, number>();
  #listed: readonly BoardMarket[] = [];
  #listedAt = Number.NEGATIVE_INFINITY;
  /** Those of the list before this one need not be looked at again. */
  #position = 0;

  constructor(options: { venue: VenueId; board: MarketBoard; past: StoredPastPrices; clock: Clock }) {
    this.#venue = options.venue;
    this.#board = options.board;
    this.#past = options.past;
    this.#clock = options.clock;
  }

  /** Does the next market; false when there is nothing left to do. */
  async next(signal: AbortSignal): Promise<boolean> {
    const market = this.#nextMarket();
    if (market === null || market.storeKey === null) return false;
    if (this.#attempts.size >= FAILED_KEPT_MAX) this.#attempts.clear();
    this.#attempts.set(market.storeKey, (this.#attempts.get(market.storeKey) ?? 0) + 1);
    await this.#past.fetch(market, signal);
    this.#attempts.delete(market.storeKey);
    return true;
  }

  #nextMarket(): BoardMarket | null {
    const now = this.#clock.monotonic();
    if (now - this.#listedAt >= LISTED_FOR_MS || this.#listed.length === 0) {
      this.#listed = this.#board.list({
        venues: [this.#venue],
        statuses: ["active"],
        category: null,
        text: null,
        sort: "volume_24h",
        limit: CANDIDATES_MAX,
        after: null,
      });
      this.#listedAt = now;
      this.#position = 0;
    }
    for (; this.#position < this.#listed.length; this.#position++) {
      const { listing } = this.#listed[this.#position] ?? {};
      const market = listing === undefined ? null : this.#board.find(listing.venue, listing.marketId);
      if (market !== null && this.#isLeft(market)) return market;
    }
    return null;
  }

  #isLeft(market: BoardMarket): boolean {
    const { storeKey } = market;
    return storeKey !== null && !this.#past.has(market) && (this.#attempts.get(storeKey) ?? 0) < ATTEMPTS_MAX;
  }
}
