import type { BoardMarket, MarketBoard } from "../board/index.ts";
import { AppError } from "../domain/errors.ts";
import type { VenueId } from "../domain/market.ts";
import type { HistoryPoint } from "../domain/trade.ts";
import type { Clock } from "../ports/clock.ts";
import type { VenueAdapter } from "../ports/venue.ts";
import type { HistoryStore } from "./history-store.ts";
import { DAY_MS, FIVE_MINUTES_MS, HOUR_MS, type PastPrices } from "./model.ts";

const FETCH_MS_MAX = 8_000;
const FETCHED_KEYS_MAX = 500_000;

/** History fetched for each market: hourly for 30 days and five-minute for two days. */
const FETCHED_RANGES = [
  { intervalMs: HOUR_MS, pastMs: 30 * DAY_MS },
  { intervalMs: FIVE_MINUTES_MS, pastMs: 2 * DAY_MS },
] as const;

export interface PastPricesOptions {
  readonly history: HistoryStore;
  readonly venues: readonly VenueAdapter[];
  readonly board: MarketBoard;
  readonly clock: Clock;
  /** Stores a new market immediately, which assigns its key. */
  readonly store: (market: BoardMarket) => Promise<void>;
}

/** Reads price history from the store. The first request for a market fetches missing history from the venue. */
export class StoredPastPrices implements PastPrices {
  readonly #options: PastPricesOptions;
  readonly #venues: ReadonlyMap<VenueId, VenueAdapter>;
  /** Keys of the markets whose history has been fetched. */
  readonly #fetched = new Set<number>();
  readonly #fetching = new Map<number, Promise<void>>();

  constructor(options: PastPricesOptions) {
    this.#options = options;
    this.#venues = new Map(options.venues.map((venue) => [venue.id, venue]));
  }

  async read(market: BoardMarket, period: "48h" | "7d" | "30d", maxPoints: number) {
    const { history, clock } = this.#options;
    const { storeKey, listing } = await this.#ensureStored(market);
    // Without a key the history is unknown, which an empty result would misrepresent.
    if (storeKey === null) throw new AppError("store_unavailable", "This market could not be stored yet; try again");
    const failure = await this.fetch({ ...market, storeKey }, AbortSignal.timeout(FETCH_MS_MAX)).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    const now = clock.now();
    const reading = await history.readHistory(storeKey, { period, maxPoints, now });
    if (reading.points.length === 0 && failure !== null && listing.status !== "pending") throw failure.error;
    return { ...reading, period, generatedAt: now };
  }

  /** Whether the history of this market has been fetched. */
  has(market: BoardMarket): boolean {
    return market.storeKey !== null && this.#fetched.has(market.storeKey);
  }

  /** Fetches the history of a market into the store, unless it is there already. Concurrent calls share one fetch. */
  fetch(market: BoardMarket, signal: AbortSignal): Promise<void> {
    const { storeKey } = market;
    if (storeKey === null || this.#fetched.has(storeKey)) return Promise.resolve();
    const running = this.#fetching.get(storeKey);
    if (running !== undefined) return running;
    const started = this.#fetch(market, storeKey, signal).finally(() => this.#fetching.delete(storeKey));
    this.#fetching.set(storeKey, started);
    return started;
  }

  async #fetch(market: BoardMarket, storeKey: number, signal: AbortSignal): Promise<void> {
    const { history, clock, board } = this.#options;
    const venue = this.#venues.get(market.listing.venue);
    if (venue === undefined) return;
    const covered = await history.coverage(storeKey);
    const now = clock.now();
    for (const { intervalMs, pastMs } of FETCHED_RANGES) {
      const toMs = Math.floor(now / intervalMs) * intervalMs;
      const fromMs = Math.max(toMs - pastMs, Math.floor((market.listing.openAt ?? 0) / intervalMs) * intervalMs);
      if (fromMs >= toMs || covered.some((range) => range.intervalMs === intervalMs && range.toMs > toMs - pastMs))
        continue;
      const points = await venue.getHistory(market.listing, { fromMs, toMs, intervalMs }, signal);
      await history.saveVenueHistory(storeKey, intervalMs, points, { fromMs, toMs });
      const price = priceAt(points, now - DAY_MS);
      if (price !== null) board.annotate(market, { priceDayAgo: price });
    }
    if (this.#fetched.size >= FETCHED_KEYS_MAX) this.#fetched.clear();
    this.#fetched.add(storeKey);
  }

  async #ensureStored(market: BoardMarket): Promise<BoardMarket> {
    if (market.storeKey !== null) return market;
    await this.#options.store(market);
    return this.#options.board.find(market.listing.venue, market.listing.marketId) ?? market;
  }
}

/** The last known price at or before a timestamp. Points must be sorted, oldest first. */
function priceAt(points: readonly HistoryPoint[], at: number): number | null {
  return points.findLast((point) => point.endAt <= at && point.yesPrice !== null)?.yesPrice ?? null;
}
