import type { BoardMarket } from "../../board/index.ts";
import { VenueError } from "../../domain/errors.ts";
import type { VenueId } from "../../domain/market.ts";
import type { Trade } from "../../domain/trade.ts";
import type { Clock } from "../../ports/clock.ts";
import type { VenueAdapter } from "../../ports/venue.ts";
import type { MarketStore, TradePosition } from "../../storage/index.ts";
import { isUnsentRequestError, type VenueRequestQueue } from "./venue-request-queue.ts";

/** A market's newest trades are requested from its venue at most once in this time. Failures count as well. */
const READ_EVERY_MS = 2_000;
/** How long an answer serves later pages. Trades before a page's position do not change, so this only limits memory. */
const ANSWER_AGE_MS_MAX = 10 * 60_000;
/**
 * Numbers of newest trades that are requested: the first that exceeds the page, and the next ones if a page lies
 * further back. Some venues send 100 trades per response, so a small page must not request many.
 */
const REQUEST_SIZES = [200, 600, 2_000, 10_000] as const;
const REQUEST_SIZE_MAX = 10_000;
/**
 * An answer with fewer trades than this share of the request contains all that the venue has. Venues may combine or
 * omit rows, so an answer of nearly the requested size can be incomplete.
 */
const EXHAUSTED_SHARE_MAX = 0.5;
/** Limit of trades in all answers that are kept, about 15 MB. */
const CACHED_TRADES_MAX = 50_000;
const ANSWERS_MAX = 2_000;
/** Some venues need a request for every 100 trades and allow three requests a second. */
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
  /** Why there are not enough trades; null if there are, or if the venue has no more. */
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
 * Lists the trades of a market. The store alone cannot answer: it records the trades of followed markets and has gaps
 * after disconnections, so the newest trades, up to 10,000, are requested from the venue. Older trades, and all trades
 * while the venue does not answer, come from the store.
 */
export class TradeHistory {
  readonly #options: TradeHistoryOptions;
  /** By venue and market id, least recently requested first. */
  readonly #answers = new Map<string, Answer>();
  #cachedTrades = 0;

  constructor(options: TradeHistoryOptions) {
    this.#options = options;
  }

  /** Number of trades in the answers that are kept. */
  get cachedTradeCount(): number {
    return this.#cachedTrades;
  }

  /**
   * Returns the trades after a position, at most `limit` (1 to 500).
   *
   * @throws VenueError if the venue does not answer and the store has no trade of the page; AppError `store_unavailable`
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
    // The page ends early, because the venue did not answer for the rest of it.
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
   * Returns the venue's newest trades: more than `limit` after the position, or as many as it has, up to 10,000. If the
   * venue fails before that, returns the failure and the trades known until then.
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

  /** @param isNewest  whether the answer must be recent; otherwise an earlier one is as good */
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
    const trades = requests.runShared(
      listing.venue,
      `trades ${size} ${listing.marketId}`,
      REQUEST_MS_MAX,
      async (signal) => {
        requestedAt = clock.monotonic();
        const listed = await adapter.listTrades(listing, 0, size, signal);
        return listed.toSorted(compareTrades);
      },
    );
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

/** Of the trades at the oldest time, the venue may have sent only some, in an order that is not ours. */
function withoutOldestTime(trades: readonly Trade[]): readonly Trade[] {
  const oldest = trades.at(-1);
  return trades.filter(({ executedAt }) => executedAt !== oldest?.executedAt);
}

function positionOf({ executedAt, tradeId }: Trade): TradePosition {
  return { executedAt, tradeId };
}
