import type { BoardMarket } from "../../board/index.ts";
import { VenueError } from "../../domain/errors.ts";
import type { VenueId } from "../../domain/market.ts";
import type { Trade } from "../../domain/trade.ts";
import type { Clock } from "../../ports/clock.ts";
import type { VenueAdapter } from "../../ports/venue.ts";
import type { MarketStore, TradePosition } from "../../storage/index.ts";
import { isUnsentRequestError, type VenueRequestQueue } from "./venue-request-queue.ts";

/** Minimum time between two requests for a market's newest trades, whether they succeed or fail. */
const READ_EVERY_MS = 2_000;
/** Maximum age of a cached response that is used for later pages. It only limits memory: past trades do not change. */
const ANSWER_AGE_MS_MAX = 10 * 60_000;
/**
 * Numbers of newest trades that a request may ask for. The first request uses the smallest number above the page size;
 * larger numbers follow if the page is further back. Some venues send 100 trades per response, so requests start small.
 */
const REQUEST_SIZES = [200, 600, 2_000, 10_000] as const;
const REQUEST_SIZE_MAX = 10_000;
/**
 * A response with less than this share of the requested number of trades contains all trades of the venue. A response
 * closer to the requested number may be incomplete, because venues may combine or omit rows.
 */
const EXHAUSTED_SHARE_MAX = 0.5;
/** Maximum number of trades in all cached responses, about 15 MB. */
const CACHED_TRADES_MAX = 50_000;
const ANSWERS_MAX = 2_000;
/** Timeout of a read. Some venues need one request per 100 trades and allow three requests per second. */
const REQUEST_MS_MAX = 8_000;

export interface TradePage {
  /** Newest first. */
  readonly trades: readonly Trade[];
  /** Position of the last trade; null if no older trade is known. */
  readonly next: TradePosition | null;
}

export interface TradeHistoryOptions {
  readonly venues: ReadonlyMap<VenueId, { readonly adapter: Pick<VenueAdapter, "listTrades"> }>;
  readonly store: Pick<MarketStore, "listTrades">;
  readonly requests: VenueRequestQueue;
  readonly clock: Clock;
}

interface Fetched {
  readonly trades: readonly Trade[];
  /** Why there are fewer trades than requested; null if there are enough, or if the venue has no more. */
  readonly failure: VenueError | null;
}

interface Answer {
  readonly size: number;
  readonly trades: Promise<readonly Trade[]>;
  /** Monotonic milliseconds. */
  readonly requestedAt: number;
  /** Number of trades. */
  readonly count: number;
  readonly hasFailed: boolean;
}

/** Compares by time and id, newest first. Ids are compared by UTF-8 bytes, as the store does. */
function compareTrades(a: TradePosition, b: TradePosition): number {
  return b.executedAt - a.executedAt || Buffer.compare(Buffer.from(b.tradeId), Buffer.from(a.tradeId));
}

/**
 * Lists the trades of a market. The newest trades, up to 10,000, are requested from the venue, because the store has
 * only the trades of followed markets and has gaps after disconnections. Older trades are read from the store, and so
 * are all trades while the venue does not respond.
 */
export class TradeHistory {
  readonly #options: TradeHistoryOptions;
  /** By venue and market id, least recently requested first. */
  readonly #answers = new Map<string, Answer>();
  #cachedTrades = 0;

  constructor(options: TradeHistoryOptions) {
    this.#options = options;
  }

  /** Number of trades in the cached responses. */
  get cachedTradeCount(): number {
    return this.#cachedTrades;
  }

  /**
   * Returns the trades after a position, at most `limit` (1 to 500).
   *
   * @throws VenueError if the venue does not respond and the store has no trade of the page; AppError
   *   `store_unavailable`
   */
  async read(market: BoardMarket, after: TradePosition | null, limit: number): Promise<TradePage> {
    const toPage = (trades: readonly Trade[], hasMore = trades.length > limit): TradePage => {
      const page = trades.slice(0, limit);
      const last = page.at(-1);
      return { trades: page, next: hasMore && last !== undefined ? positionOf(last) : null };
    };
    const { trades: fetched, failure } = await this.#fetch(market, after, limit);
    const inPage = fetched.filter((trade) => after === null || compareTrades(after, trade) < 0);
    if (inPage.length > limit) return toPage(inPage);
    // The page is shorter than the limit, because the request for the rest failed.
    if (failure !== null && inPage.length > 0) return toPage(inPage, true);
    const lastFetched = fetched.at(-1);
    const isPastFetched = after !== null && (lastFetched === undefined || compareTrades(lastFetched, after) < 0);
    const storedAfter = isPastFetched || lastFetched === undefined ? after : positionOf(lastFetched);
    const stored =
      market.storeKey === null
        ? []
        : await this.#options.store.listTrades(market.storeKey, storedAfter, limit + 1 - inPage.length);
    if (failure !== null && stored.length === 0) throw failure;
    return toPage([...inPage, ...stored]);
  }

  /**
   * Returns the venue's newest trades, at most 10,000: more than `limit` trades after the position, or all trades of
   * the venue. If a request fails, returns the failure and the trades received before it.
   */
  async #fetch(market: BoardMarket, after: TradePosition | null, limit: number): Promise<Fetched> {
    let trades: readonly Trade[] = [];
    for (const size of REQUEST_SIZES) {
      if (size <= limit) continue;
      try {
        const answer = await this.#ask(market, size, after === null);
        const isWhole = answer.length < size * EXHAUSTED_SHARE_MAX || size === REQUEST_SIZE_MAX;
        trades = isWhole ? answer : withoutOldestTime(answer);
        const inPage =
          after === null ? trades.length : trades.filter((trade) => compareTrades(after, trade) < 0).length;
        if (inPage > limit || isWhole) break;
      } catch (error) {
        if (!(error instanceof VenueError)) throw error;
        return { trades, failure: error };
      }
    }
    return { trades, failure: null };
  }

  /** @param isNewest  whether the response must be recent; otherwise any cached response is used */
  #ask({ listing }: BoardMarket, size: number, isNewest: boolean): Promise<readonly Trade[]> {
    const { venues, requests, clock } = this.#options;
    const adapter = venues.get(listing.venue)?.adapter;
    if (adapter === undefined) return Promise.resolve([]);
    const id = `${listing.venue}/${listing.marketId}`;
    const now = clock.monotonic();
    const current = this.#answers.get(id);
    if (current !== undefined && current.size >= size) {
      const ageMsMax = isNewest || current.hasFailed ? READ_EVERY_MS : ANSWER_AGE_MS_MAX;
      if (now - current.requestedAt < ageMsMax) return current.trades;
    }
    let requestedAt: number | null = null;
    const trades = requests.run(listing.venue, `trades ${size} ${listing.marketId}`, REQUEST_MS_MAX, async (signal) => {
      requestedAt = clock.monotonic();
      const listed = await adapter.listTrades(listing, 0, size, signal);
      return listed.toSorted(compareTrades);
    });
    const keep = (count: number, error?: unknown) => {
      // If no request was sent, the next caller sends one.
      if (requestedAt === null || isUnsentRequestError(error)) return;
      this.#keep(id, { size, trades, requestedAt, count, hasFailed: error !== undefined });
    };
    trades.then(
      ({ length }) => keep(length),
      (error: unknown) => keep(0, error),
    );
    return trades;
  }

  #keep(id: string, answer: Answer): void {
    this.#remove(id);
    this.#answers.set(id, answer);
    this.#cachedTrades += answer.count;
    const now = this.#options.clock.monotonic();
    for (const [oldestId, { requestedAt }] of this.#answers) {
      const isExpired = now - requestedAt >= ANSWER_AGE_MS_MAX;
      if (!isExpired && this.#cachedTrades <= CACHED_TRADES_MAX && this.#answers.size <= ANSWERS_MAX) break;
      this.#remove(oldestId);
    }
  }

  #remove(id: string): void {
    this.#cachedTrades -= this.#answers.get(id)?.count ?? 0;
    this.#answers.delete(id);
  }
}

/** Removes the trades with the oldest time, because the response may contain only some trades with that time. */
function withoutOldestTime(trades: readonly Trade[]): readonly Trade[] {
  const oldest = trades.at(-1);
  return trades.filter(({ executedAt }) => executedAt !== oldest?.executedAt);
}

const positionOf = ({ executedAt, tradeId }: Trade): TradePosition => ({ executedAt, tradeId });
