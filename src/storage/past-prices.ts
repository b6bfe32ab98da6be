import type { BoardMarket, MarketBoard } from "../board/index.ts";
import { AppError, VenueError } from "../domain/errors.ts";
import type { VenueId } from "../domain/market.ts";
import type { HistoryPoint } from "../domain/trade.ts";
import { currentCaller } from "../lib/current-caller.ts";
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import type { Clock } from "../ports/clock.ts";
import type { HistoryRange, VenueAdapter } from "../ports/venue.ts";
import { createHistoryGrid } from "./history-grid.ts";
import type { HistoryStore } from "./history-store.ts";
import {
  FIVE_MINUTES_MS,
  type HistoryFetcher,
  type HistoryPeriod,
  type MarketHistory,
  type PastPrices,
  type PriceHistory,
} from "./model.ts";
import { SharedWork } from "./shared-work.ts";

const FETCH_TIMEOUT_MS = 8_000;
const FETCHED_KEYS_MAX = 500_000;
/** Maximum number of markets whose history one call of `fetchMissing` fetches. */
const MISSING_MARKETS_MAX = 50;

/** History fetched for each market: 30 days in hourly intervals and two days in five-minute intervals. */
const FETCHED_RANGES = [
  { intervalMs: HOUR_MS, pastMs: 30 * DAY_MS },
  { intervalMs: FIVE_MINUTES_MS, pastMs: 2 * DAY_MS },
] as const;

interface FetchedRange {
  readonly intervalMs: number;
  readonly pastMs: number;
  /** Keys of the markets whose history of this interval has been fetched. */
  readonly fetchedKeys: Set<number>;
  /** Running fetches by caller and store key, so that no caller waits for a queued request of another caller. */
  readonly pendingFetches: Map<string, SharedWork<void>>;
}

export interface PastPricesOptions {
  readonly history: HistoryStore;
  readonly venues: readonly Pick<VenueAdapter, "id" | "getHistory">[];
  readonly board: Pick<MarketBoard, "find" | "annotate">;
  readonly clock: Clock;
  /** Stores a new market immediately and sets its store key on the board. */
  readonly store: (market: BoardMarket) => Promise<void>;
}

/** Reads price history from the store. The first request for a market fetches missing history from the venue. */
export class StoredPastPrices implements PastPrices, HistoryFetcher {
  readonly #options: PastPricesOptions;
  readonly #venues: ReadonlyMap<VenueId, Pick<VenueAdapter, "getHistory">>;
  readonly #ranges: readonly FetchedRange[] = FETCHED_RANGES.map((range) => ({
    ...range,
    fetchedKeys: new Set(),
    pendingFetches: new Map(),
  }));

  constructor(options: PastPricesOptions) {
    this.#options = options;
    this.#venues = new Map(options.venues.map((venue) => [venue.id, venue]));
  }

  async read(market: BoardMarket, period: HistoryPeriod, maxPoints: number): Promise<PriceHistory> {
    const { history, clock } = this.#options;
    const grid = createHistoryGrid(period, maxPoints, clock.now());
    const reading = await this.#read(market, grid, (storeKey, now) =>
      history.readHistory(storeKey, { period, maxPoints, now }),
    );
    return { ...reading, period };
  }

  async readRange(market: BoardMarket, range: HistoryRange): Promise<PriceHistory> {
    const { history } = this.#options;
    return { ...(await this.#read(market, range, (storeKey) => history.readRange(storeKey, range))), period: null };
  }

  /**
   * Returns the ranges that a read fetches first. A read of intervals below an hour within the last two days fetches only
   * five-minute prices, because a venue with a low rate limit needs seconds for each range.
   */
  #rangesFor({ fromMs, intervalMs }: Pick<HistoryRange, "fromMs" | "intervalMs">): readonly FetchedRange[] {
    if (intervalMs >= HOUR_MS) return this.#ranges;
    const pastMs = this.#options.clock.now() - fromMs;
    const sufficient = this.#ranges.filter((range) => range.intervalMs < HOUR_MS && pastMs <= range.pastMs);
    return sufficient.length > 0 ? sufficient : this.#ranges;
  }

  /**
   * Fetches missing history of the market, then reads the store. If the fetched ranges do not reach the beginning of the
   * read, it fetches the other ranges as well: an earlier price is valid until the next one.
   */
  async #read(
    market: BoardMarket,
    { fromMs, intervalMs }: Pick<HistoryRange, "fromMs" | "intervalMs">,
    readStore: (storeKey: number, now: number) => Promise<MarketHistory>,
  ) {
    const { clock } = this.#options;
    const { storeKey, listing } = await this.#ensureStored(market);
    // Throws instead of returning no history: without a key, it is unknown whether the market has a history.
    if (storeKey === null) throw new AppError("store_unavailable", "This market could not be stored yet; try again");
    const timeout = new AbortController();
    const cancelTimeout = clock.setTimeout(
      () => timeout.abort(new VenueError("timeout", `${listing.venue} sent no history in time`, { retryable: true })),
      FETCH_TIMEOUT_MS,
    );
    const fetchAndRead = async (ranges: readonly FetchedRange[]) => {
      const failure = await this.fetch({ ...market, storeKey }, timeout.signal, ranges).then(
        () => null,
        (error: unknown) => ({ error }),
      );
      const now = clock.now();
      return { failure, generatedAt: now, ...(await readStore(storeKey, now)) };
    };
    const firstRanges = this.#rangesFor({ fromMs, intervalMs });
    let reading = await fetchAndRead(firstRanges);
    const isWhole = (reading.points[0]?.startAt ?? Number.POSITIVE_INFINITY) <= fromMs;
    if (!isWhole && firstRanges !== this.#ranges) reading = await fetchAndRead(this.#ranges);
    cancelTimeout();
    const { failure, ...history } = reading;
    if (history.points.length === 0 && failure !== null && listing.status !== "pending") throw failure.error;
    return history;
  }

  async fetchMissing(
    markets: readonly BoardMarket[],
    { intervalMsMin, timeoutMs }: { readonly intervalMsMin: number; readonly timeoutMs: number },
  ): Promise<void> {
    const ranges = this.#ranges.filter(({ intervalMs }) => intervalMs >= intervalMsMin);
    const missingMarkets = markets.filter((market) => !this.has(market, ranges)).slice(0, MISSING_MARKETS_MAX);
    if (missingMarkets.length === 0) return;
    const { clock } = this.#options;
    const timeout = new AbortController();
    const cancelTimeout = clock.setTimeout(() => timeout.abort(), timeoutMs);
    const timedOut = new Promise<void>((resolve) => timeout.signal.addEventListener("abort", () => resolve()));
    const fetchOne = async (market: BoardMarket) =>
      this.fetch(await this.#ensureStored(market), timeout.signal, ranges);
    await Promise.race([Promise.allSettled(missingMarkets.map(fetchOne)), timedOut]);
    cancelTimeout();
  }

  /** Whether the history of this market has been fetched. */
  has({ storeKey }: BoardMarket, ranges = this.#ranges): boolean {
    return storeKey !== null && ranges.every(({ fetchedKeys }) => fetchedKeys.has(storeKey));
  }

  /**
   * Fetches and stores the history of a market unless it is stored. Concurrent calls of the same caller share one
   * fetch, which continues while at least one of these calls is waiting.
   */
  async fetch(market: BoardMarket, signal: AbortSignal, ranges = this.#ranges): Promise<void> {
    const { storeKey } = market;
    if (storeKey === null) return;
    for (const range of ranges) {
      if (range.fetchedKeys.has(storeKey)) continue;
      const id = `${currentCaller()}/${storeKey}`;
      const pendingFetch = range.pendingFetches.get(id) ?? this.#startFetch(id, market, storeKey, range);
      await pendingFetch.join(signal);
    }
  }

  #startFetch(id: string, market: BoardMarket, storeKey: number, range: FetchedRange): SharedWork<void> {
    const work = new SharedWork((signal) => {
      const end = () => {
        if (range.pendingFetches.get(id) === work) range.pendingFetches.delete(id);
      };
      // The signal aborts when no call is waiting any more. A later call then starts another fetch.
      signal.addEventListener("abort", end, { once: true });
      return this.#fetch(market, storeKey, range, signal).finally(end);
    });
    range.pendingFetches.set(id, work);
    return work;
  }

  async #fetch(market: BoardMarket, storeKey: number, range: FetchedRange, signal: AbortSignal): Promise<void> {
    const { history, clock, board } = this.#options;
    const venue = this.#venues.get(market.listing.venue);
    if (venue === undefined) return;
    const { intervalMs, pastMs, fetchedKeys } = range;
    const coveredRanges = await history.coverage(storeKey);
    const now = clock.now();
    const toMs = Math.floor(now / intervalMs) * intervalMs;
    const fromMs = Math.max(toMs - pastMs, Math.floor((market.listing.openAt ?? 0) / intervalMs) * intervalMs);
    const isCovered = coveredRanges.some(
      (covered) => covered.intervalMs === intervalMs && covered.toMs > toMs - pastMs,
    );
    if (fromMs < toMs && !isCovered) {
      const points = await venue.getHistory(market.listing, { fromMs, toMs, intervalMs }, signal);
      const [oldest] = points;
      // A venue may return only the newest part of the range. The rest must not be recorded as fetched.
      if (oldest !== undefined)
        await history.saveVenueHistory(storeKey, intervalMs, points, {
          fromMs: Math.max(fromMs, oldest.startAt),
          toMs,
        });
      const price = findPriceAt(points, now - DAY_MS);
      if (price !== null) board.annotate(market, { priceDayAgo: price });
    }
    if (fetchedKeys.size >= FETCHED_KEYS_MAX) fetchedKeys.clear();
    fetchedKeys.add(storeKey);
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
