import type { VenueId } from "../../domain/market.ts";
import type { BoardMarket, MarketBoard } from "../markets/index.ts";
import type { StoredPastPrices } from "./past-prices.ts";

const CANDIDATES_MAX = 5_000;
const ATTEMPTS_MAX = 3;
const FAILED_KEPT_MAX = 10_000;

/** Works through a venue's open markets by volume and brings the past of each into the store, one at a time. */
export class Backfill {
  readonly #venue: VenueId;
  readonly #board: MarketBoard;
  readonly #past: StoredPastPrices;
  readonly #attempts = new Map<number, number>();

  constructor(options: { venue: VenueId; board: MarketBoard; past: StoredPastPrices }) {
    this.#venue = options.venue;
    this.#board = options.board;
    this.#past = options.past;
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
    const candidates = this.#board.list({
      venues: [this.#venue],
      statuses: ["active"],
      category: null,
      text: null,
      sort: "volume_24h",
      limit: CANDIDATES_MAX,
      after: null,
    });
    const isLeft = (market: BoardMarket) =>
      market.storeKey !== null && !this.#past.has(market) && (this.#attempts.get(market.storeKey) ?? 0) < ATTEMPTS_MAX;
    return candidates.find(isLeft) ?? null;
  }
}
