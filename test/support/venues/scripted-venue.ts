import type { EventListing, MarketSnapshot } from "../../../src/domain/market.ts";
import type { OrderBook } from "../../../src/domain/order-book.ts";
import type { HistoryPoint, Trade } from "../../../src/domain/trade.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type {
  IncompleteReason,
  ListingPage,
  StreamHandlers,
  VenueAdapter,
  VenueProfile,
} from "../../../src/ports/venue.ts";
import { samplePage } from "../markets/market-samples.ts";

export type VenueMethod =
  | "listOpenMarkets"
  | "listChangedMarkets"
  | "getMarkets"
  | "findMarket"
  | "getBook"
  | "listTrades"
  | "getHistory";

export interface VenueCall {
  readonly at: number;
  readonly method: VenueMethod;
  /** Requested market ids; empty for a listing. */
  readonly marketIds: readonly string[];
  /** Start of the requested changes, Unix milliseconds. */
  readonly sinceMs?: number;
}

/** A venue in memory with scripted markets and failures. It records every call. */
export class ScriptedVenue implements VenueAdapter {
  readonly id: string;
  readonly playMoney: boolean;
  readonly profile: VenueProfile;
  readonly calls: VenueCall[] = [];
  #waiting = 0;
  /** Market ids of each page of the listing. */
  pages: string[][] = [];
  /** Events on the first page of the listing. */
  events: EventListing[] = [];
  readonly markets = new Map<string, MarketSnapshot>();
  /** Absent if the profile has no `changesPauseMs`. */
  readonly listChangedMarkets?: NonNullable<VenueAdapter["listChangedMarkets"]>;
  /** Ids of the changed markets; every read returns them all, on one page. */
  changed: string[] = [];
  readonly trades = new Map<string, Trade[]>();
  /** Ids of the markets of an automated market maker. */
  readonly ammIds = new Set<string>();
  /** Order books that requests return; markets without one have no book. */
  readonly books = new Map<string, OrderBook>();
  /** Order books that the stream tracks. */
  readonly trackedBooks = new Map<string, OrderBook>();
  readonly history = new Map<string, HistoryPoint[]>();
  /** Requested market and start of all calls of `listTrades`. */
  readonly tradesSince: (readonly [marketId: string, sinceMs: number])[] = [];
  /** Requested ranges of all calls of `getHistory`. */
  readonly historyRanges: { readonly fromMs: number; readonly toMs: number; readonly intervalMs: number }[] = [];
  /** If not null, the last page of a listing is incomplete for this reason. */
  incompleteReason: IncompleteReason | null = null;
  /** Errors that calls throw, by method. */
  readonly failing = new Map<VenueMethod, Error>();
  /** Response time of every call. */
  responseMs = 0;
  stream: StreamHandlers | null = null;
  followed: readonly string[] = [];
  isStreamClosed = false;
  readonly #clock: Clock;
  readonly #hasStream: boolean;

  constructor(
    id: string,
    clock: Clock,
    options: {
      readonly playMoney?: boolean;
      readonly hasStream?: boolean;
      readonly profile?: Partial<VenueProfile>;
    } = {},
  ) {
    this.id = id;
    this.playMoney = options.playMoney ?? false;
    this.#clock = clock;
    this.#hasStream = options.hasStream ?? true;
    this.profile = {
      requestsPerSecond: 1_000,
      sweepPauseMs: 60_000,
      sweepMarketsPerSecond: 1_000_000,
      changesPauseMs: null,
      activePollMs: null,
      streamMarketsMax: 100,
      staleAfterMs: 120_000,
      volumeFromTrades: false,
      takersFromTrades: false,
      ...options.profile,
    };
    if (this.profile.changesPauseMs !== null)
      this.listChangedMarkets = (sinceMs, signal) => this.#listChanged(sinceMs, signal);
  }

  /** Adds or replaces markets. The listing then has one page with all open markets. */
  setMarkets(...snapshots: readonly MarketSnapshot[]): void {
    for (const snapshot of snapshots) this.markets.set(snapshot.listing.marketId, snapshot);
    const open = [...this.markets.values()].filter(({ listing }) => listing.status === "active");
    this.pages = [open.map(({ listing }) => listing.marketId)];
  }

  detailsOf({ marketId }: { readonly marketId: string }) {
    return { bookType: this.ammIds.has(marketId) ? "amm" : "clob", ids: { native_id: `native-${marketId}` } } as const;
  }

  /** Returns the recorded calls of one method, or of all methods. */
  callsOf(method?: VenueMethod): VenueCall[] {
    return this.calls.filter((call) => method === undefined || call.method === method);
  }

  async *listOpenMarkets(signal: AbortSignal): AsyncIterable<ListingPage> {
    await this.#recordCall("listOpenMarkets", [], signal);
    for (const [number, ids] of this.pages.entries()) {
      const markets = await this.#createPage(ids, signal);
      const page = number === 0 ? { ...markets, events: this.events } : markets;
      const isLast = number === this.pages.length - 1;
      yield { ...page, incompleteReason: isLast ? this.incompleteReason : null };
    }
  }

  async *#listChanged(sinceMs: number, signal: AbortSignal): AsyncIterable<ListingPage> {
    await this.#recordCall("listChangedMarkets", [], signal, sinceMs);
    const page = await this.#createPage(this.changed, signal);
    yield { ...page, incompleteReason: this.incompleteReason };
  }

  async getMarkets(listings: readonly { readonly marketId: string }[], signal: AbortSignal): Promise<ListingPage> {
    const ids = listings.map(({ marketId }) => marketId);
    await this.#recordCall("getMarkets", ids, signal);
    return this.#createPage(ids, signal);
  }

  async findMarket(marketId: string, signal: AbortSignal): Promise<ListingPage | null> {
    await this.#recordCall("findMarket", [marketId], signal);
    return this.markets.has(marketId) ? this.#createPage([marketId], signal) : null;
  }

  async getBook(listing: { readonly marketId: string }, signal: AbortSignal): Promise<OrderBook | null> {
    await this.#recordCall("getBook", [listing.marketId], signal);
    const book = this.books.get(listing.marketId);
    return book === undefined ? null : { ...book, receivedAt: this.#clock.now() };
  }

  async listTrades(listing: { readonly marketId: string }, sinceMs: number, limit: number, signal: AbortSignal) {
    this.tradesSince.push([listing.marketId, sinceMs]);
    await this.#recordCall("listTrades", [listing.marketId], signal);
    const recent = (this.trades.get(listing.marketId) ?? []).filter((trade) => trade.executedAt >= sinceMs);
    return recent.sort((a, b) => b.executedAt - a.executedAt).slice(0, limit);
  }

  async getHistory(
    listing: { readonly marketId: string },
    range: { readonly fromMs: number; readonly toMs: number; readonly intervalMs: number },
    signal: AbortSignal,
  ): Promise<readonly HistoryPoint[]> {
    this.historyRanges.push(range);
    await this.#recordCall("getHistory", [listing.marketId], signal);
    const points = this.history.get(listing.marketId) ?? [];
    return points.filter(({ startAt, endAt }) => startAt >= range.fromMs && endAt <= range.toMs);
  }

  openStream(handlers: StreamHandlers) {
    if (!this.#hasStream) return null;
    this.stream = handlers;
    return {
      follow: (listings: readonly { readonly marketId: string }[]) => {
        this.followed = listings.map(({ marketId }) => marketId);
      },
      bookOf: (marketId: string) => this.trackedBooks.get(marketId) ?? null,
      close: () => {
        this.isStreamClosed = true;
      },
    };
  }

  /** Whether a call waits for its response. */
  get isAsked(): boolean {
    return this.#waiting > 0;
  }

  async #respond(signal: AbortSignal): Promise<void> {
    if (this.responseMs === 0) return;
    this.#waiting += 1;
    try {
      await this.#clock.sleep(this.responseMs, signal);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #recordCall(
    method: VenueMethod,
    marketIds: readonly string[],
    signal: AbortSignal,
    sinceMs?: number,
  ): Promise<void> {
    this.calls.push({ at: this.#clock.now(), method, marketIds, sinceMs });
    await this.#respond(signal);
    const failure = this.failing.get(method);
    if (failure !== undefined) throw failure;
  }

  /** Creates a page. `receivedAt` of each quote is the time of the response. */
  async #createPage(ids: readonly string[], signal: AbortSignal): Promise<ListingPage> {
    const requestedAt = this.#clock.now();
    await this.#respond(signal);
    const receivedAt = this.#clock.now();
    const markets = ids.flatMap((id) => {
      const snapshot = this.markets.get(id);
      return snapshot === undefined ? [] : [{ ...snapshot, quote: { ...snapshot.quote, receivedAt } }];
    });
    return samplePage(markets, { requestedAt, totalRows: this.markets.size });
  }
}
