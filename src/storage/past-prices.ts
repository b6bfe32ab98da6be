import type { BoardMarket, MarketBoard } from "../board/index.ts";
import { AppError } from "../domain/errors.ts";
import type { VenueId } from "../domain/market.ts";
import type { HistoryPoint } from "../domain/trade.ts";
import type { Clock } from "../ports/clock.ts";
import type { VenueAdapter } from "../ports/venue.ts";
import type { HistoryStore } from "./history-store.ts";
import type { PastPrices } from "./model.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FETCH_MS_MAX = 8_000;
const FETCHED_KEPT_MAX = 500_000;

/** What the store is to have of every market's past: an hour's grain for 30 days, five minutes' for two. */
const WANTED = [
  { intervalMs: HOUR_MS, pastMs: 30 * DAY_MS },
  { intervalMs: 5 * 60_000, pastMs: 2 * DAY_MS },
] as const;

export interface PastPricesOptions {
  readonly history: HistoryStore;
  readonly venues: readonly VenueAdapter[];
  readonly board: MarketBoard;
  readonly clock: Clock;
  /** Stores a market just met now, so that it gets its key. */
  readonly store: (market: BoardMarket) => Promise<void>;
}

/** Past prices from the store; what it lacks is fetched from the venue on the first request and kept. */
export class StoredPastPrices implements PastPrices {
  readonly #options: PastPricesOptions;
  readonly #venues: ReadonlyMap<VenueId, VenueAdapter>;
  /** Keys of the markets whose past is in the store. */
  readonly #fetched = new Set<number>();
  readonly #fetching = new Map<number, Promise<void>>();

  constructor(options: PastPricesOptions) {
    this.#options = options;
    this.#venues = new Map(options.venues.map((venue) => [venue.id, venue]));
  }

  async read(market: BoardMarket, period: "48h" | "7d" | "30d", maxPoints: number) {
    const { history: store, clock } = this.#options;
    const { storeKey, listing } = await this.#stored(market);
    // Without its key nothing can be read of it: "no points" would claim a knowledge that we do not have.
    if (storeKey === null) throw new AppError("store_unavailable", "This market could not be stored yet; try again");
    const failure = await this.fetch({ ...market, storeKey }, AbortSignal.timeout(FETCH_MS_MAX)).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    const now = clock.now();
    const history = await store.readHistory(storeKey, { period, maxPoints, now });
    if (history.points.length === 0 && failure !== null && listing.status !== "pending") throw failure.error;
    return { ...history, period, generatedAt: now };
  }

  /** Whether this market's past was brought in already. */
  has(market: BoardMarket): boolean {
    return market.storeKey !== null && this.#fetched.has(market.storeKey);
  }

  /** Brings a market's past into the store unless it is there. Concurrent calls share one fetch. */
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
    for (const { intervalMs, pastMs } of WANTED) {
      const toMs = Math.floor(now / intervalMs) * intervalMs;
      const fromMs = Math.max(toMs - pastMs, Math.floor((market.listing.openAt ?? 0) / intervalMs) * intervalMs);
      if (fromMs >= toMs || covered.some((range) => range.intervalMs === intervalMs && range.toMs > toMs - pastMs))
        continue;
      const points = await venue.getHistory(market.listing, { fromMs, toMs, intervalMs }, signal);
      await history.saveVenueHistory(storeKey, intervalMs, points, { fromMs, toMs });
      const price = priceAt(points, now - DAY_MS);
      if (price !== null) board.annotate(market, { priceDayAgo: price });
    }
    if (this.#fetched.size >= FETCHED_KEPT_MAX) this.#fetched.clear();
    this.#fetched.add(storeKey);
  }

  async #stored(market: BoardMarket): Promise<BoardMarket> {
    if (market.storeKey !== null) return market;
    await this.#options.store(market);
    return this.#options.board.find(market.listing.venue, market.listing.marketId) ?? market;
  }
}

/** The last known price at or before an instant; points are oldest first. */
function priceAt(points: readonly HistoryPoint[], at: number): number | null {
  return points.findLast((point) => point.endAt <= at && point.yesPrice !== null)?.yesPrice ?? null;
}
