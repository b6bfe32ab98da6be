import type { BoardMarket, MarketBoard } from "../board/index.ts";
import { AppError } from "../domain/errors.ts";
import type { VenueId } from "../domain/market.ts";
import type { HistoryPoint } from "../domain/trade.ts";
import type { Clock } from "../ports/clock.ts";
import type { VenueAdapter } from "../ports/venue.ts";
import type { HistoryStore } from "./history-store.ts";
import {
  DAY_MS,
  FIVE_MINUTES_MS,
  type HistoryPeriod,
  type HistoryRange,
  type HistoryReading,
  HOUR_MS,
  type MarketHistory,
  type MissingHistory,
  type PastPrices,
} from "./model.ts";

const FETCH_TIMEOUT_MS = 8_000;
const FETCHED_KEYS_MAX = 500_000;
/** Markets whose missing history one call of `fetchMissing` fetches. */
const MISSING_MARKETS_MAX = 50;

/** History fetched for each market: 30 days in hourly intervals and two days in five-minute intervals. */
const FETCHED_RANGES = [
  { intervalMs: HOUR_MS, pastMs: 30 * DAY_MS },
  { intervalMs: FIVE_MINUTES_MS, pastMs: 2 * DAY_MS },
] as const;

export interface PastPricesOptions {
  readonly history: HistoryStore;
  readonly venues: readonly VenueAdapter[];
  readonly board: MarketBoard;
  readonly clock: Clock;
  /** Stores a new market immediately and sets its store key on the board. */
  readonly store: (market: BoardMarket) => Promise<void>;
}

/** Reads price history from the store. The first request for a market fetches missing history from the venue. */
export class StoredPastPrices implements PastPrices, MissingHistory {
  readonly #options: PastPricesOptions;
  readonly #venues: ReadonlyMap<VenueId, VenueAdapter>;
  /** Keys of the markets whose history has been fetched. */
  readonly #fetchedKeys = new Set<number>();
  readonly #pendingFetches = new Map<number, Promise<void>>();

  constructor(options: PastPricesOptions) {
    this.#options = options;
    this.#venues = new Map(options.venues.map((venue) => [venue.id, venue]));
  }

  async read(market: BoardMarket, period: HistoryPeriod, maxPoints: number): Promise<HistoryReading> {
    const { history } = this.#options;
    return {
      ...(await this.#read(market, (storeKey, now) => history.readHistory(storeKey, { period, maxPoints, now }))),
      period,
    };
  }

  async readRange(market: BoardMarket, range: HistoryRange): Promise<HistoryReading> {
    return { ...(await this.#read(market, (key) => this.#options.history.readRange(key, range))), period: null };
  }

  /** Fetches missing history of the market, then reads the store. */
  async #read(market: BoardMarket, readStore: (storeKey: number, now: number) => Promise<MarketHistory>) {
    const { clock } = this.#options;
    const { storeKey, listing } = await this.#ensureStored(market);
    // Throw instead of returning an empty result: without a key it is unknown whether the market has a history.
    if (storeKey === null) throw new AppError("store_unavailable", "This market could not be stored yet; try again");
    const failure = await this.fetch({ ...market, storeKey }, AbortSignal.timeout(FETCH_TIMEOUT_MS)).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    const now = clock.now();
    const reading = await readStore(storeKey, now);
    if (reading.points.length === 0 && failure !== null && listing.status !== "pending") throw failure.error;
    return { ...reading, generatedAt: now };
  }

  async fetchMissing(markets: readonly BoardMarket[], timeoutMs: number): Promise<void> {
    const missingMarkets = markets.filter((market) => !this.has(market)).slice(0, MISSING_MARKETS_MAX);
    if (missingMarkets.length === 0) return;
    const { clock } = this.#options;
    const timeout = new AbortController();
    const cancelTimeout = clock.setTimeout(() => timeout.abort(), timeoutMs);
    const timedOut = new Promise<void>((resolve) => timeout.signal.addEventListener("abort", () => resolve()));
    const fetchOne = async (market: BoardMarket) => this.fetch(await this.#ensureStored(market), timeout.signal);
    await Promise.race([Promise.allSettled(missingMarkets.map(fetchOne)), timedOut]);
    cancelTimeout();
  }

  /** Whether the history of this market has been fetched. */
  has(market: BoardMarket): boolean {
    return market.storeKey !== null && this.#fetchedKeys.has(market.storeKey);
  }

  /** Fetches the history of a market and stores it, unless it is stored already. Concurrent calls share one fetch. */
  fetch(market: BoardMarket, signal: AbortSignal): Promise<void> {
    const { storeKey } = market;
    if (storeKey === null || this.#fetchedKeys.has(storeKey)) return Promise.resolve();
    const pendingFetch = this.#pendingFetches.get(storeKey);
    if (pendingFetch !== undefined) return pendingFetch;
    const newFetch = this.#fetch(market, storeKey, signal).finally(() => this.#pendingFetches.delete(storeKey));
    this.#pendingFetches.set(storeKey, newFetch);
    return newFetch;
  }

  async #fetch(market: BoardMarket, storeKey: number, signal: AbortSignal): Promise<void> {
    const { history, clock, board } = this.#options;
    const venue = this.#venues.get(market.listing.venue);
    if (venue === undefined) return;
    const coveredRanges = await history.coverage(storeKey);
    const now = clock.now();
    for (const { intervalMs, pastMs } of FETCHED_RANGES) {
      const toMs = Math.floor(now / intervalMs) * intervalMs;
      const fromMs = Math.max(toMs - pastMs, Math.floor((market.listing.openAt ?? 0) / intervalMs) * intervalMs);
      if (
        fromMs >= toMs ||
        coveredRanges.some((range) => range.intervalMs === intervalMs && range.toMs > toMs - pastMs)
      )
        continue;
      const points = await venue.getHistory(market.listing, { fromMs, toMs, intervalMs }, signal);
      const [oldest] = points;
      // A venue may answer only for the newest part of the range. The rest must not be recorded as fetched.
      if (oldest !== undefined)
        await history.saveVenueHistory(storeKey, intervalMs, points, {
          fromMs: Math.max(fromMs, oldest.startAt),
          toMs,
        });
      const price = findPriceAt(points, now - DAY_MS);
      if (price !== null) board.annotate(market, { priceDayAgo: price });
    }
    if (this.#fetchedKeys.size >= FETCHED_KEYS_MAX) this.#fetchedKeys.clear();
    this.#fetchedKeys.add(storeKey);
  }

  async #ensureStored(market: BoardMarket): Promise<BoardMarket> {
    if (market.storeKey !== null) return market;
    await this.#options.store(market);
    return this.#options.board.find(market.listing.venue, market.listing.marketId) ?? market;
  }
}

/** Returns the last known price at or before `at` (Unix milliseconds), or null. Points must be sorted, oldest first. */
function findPriceAt(points: readonly HistoryPoint[], at: number): number | null {
  return points.findLast((point) => point.endAt <= at && point.yesPrice !== null)?.yesPrice ?? null;
}
