import type { BoardMarket } from "../board/index.ts";
import type { Trade } from "../domain/trade.ts";
import { cacheMostTraded, type VenueContext } from "./context.ts";
import { RollingVolume } from "./rolling-volume.ts";

const TRADES_PER_READ_MAX = 1_000;
const MARKETS_MAX = 200;
/** Limit for venues without published volume, whose volume is summed from the trades of all markets. */
const MARKETS_FOR_VOLUME_MAX = 5_000;
/** Limit of markets whose trades are requested; further requests are ignored. */
const REQUESTED_MAX = 100;
/** Age of the oldest trades that are read for a request. */
const REQUESTED_MS = 3 * 60_000;

/**
 * Reads the trades of a venue's most traded markets, one market at a time. If the venue's listing contains no volume,
 * it contains no last trade either: the newest trade read is the last price.
 */
export class TradesReader {
  readonly #context: VenueContext;
  readonly #confirm: (marketId: string) => void;
  readonly #listCandidates: () => readonly BoardMarket[];
  readonly #volumes = new Map<string, RollingVolume>();
  /** When each market's trades were last read, Unix milliseconds. */
  readonly #readAt = new Map<string, number>();
  /** Markets whose trades are read next, in the order of the requests. */
  readonly #requested = new Set<string>();
  #wasRequested = false;
  /** Market whose polled trades are being reported; null at other times. */
  #reportedId: string | null = null;
  #hasReadAll = false;

  /** @param confirm  reads a market again */
  constructor(context: VenueContext, confirm: (marketId: string) => void) {
    this.#context = context;
    this.#confirm = confirm;
    const { volumeFromTrades } = context.venue.profile;
    this.#listCandidates = volumeFromTrades
      ? cacheMostTraded(context, MARKETS_FOR_VOLUME_MAX, () => this.#listUnpriced())
      : cacheMostTraded(context, MARKETS_MAX);
  }

  /** True if the trades of every candidate have been read at least once. */
  get hasReadAll(): boolean {
    return this.#hasReadAll;
  }

  /**
   * Requests a read of the market's latest trades with their takers. Ignored while polled trades of the market are
   * reported: another read of those that have no taker would not find one.
   */
  requestTakers(marketId: string): void {
    const { takersFromTrades } = this.#context.venue.profile;
    if (!takersFromTrades || marketId === this.#reportedId || this.#requested.size >= REQUESTED_MAX) return;
    this.#requested.add(marketId);
  }

  forget(marketId: string): void {
    this.#volumes.delete(marketId);
    this.#readAt.delete(marketId);
  }

  /**
   * Reads the trades of a requested market or of the market with the oldest read. Prefers markets that were never read,
   * most traded first. At most every second read is a requested one, so that requests do not delay all other markets.
   */
  async readNext(): Promise<void> {
    if (this.#context.venue.playMoney) return;
    const requested = this.#nextRequested();
    if (requested !== null) {
      try {
        return await this.#readLatest(requested);
      } catch (error) {
        this.requestTakers(requested.listing.marketId);
        throw error;
      }
    }
    const market = this.#nextMarket();
    if (market !== null) await this.#read(market);
  }

  async #readLatest(market: BoardMarket): Promise<void> {
    const { venue, clock, health, signal } = this.#context;
    const sinceMs = clock.now() - REQUESTED_MS;
    const trades = await venue.listTrades(market.listing, sinceMs, TRADES_PER_READ_MAX, signal);
    health.succeeded();
    this.#report(market, trades);
  }

  async #read(market: BoardMarket): Promise<void> {
    const { venue, board, storeWriter, live, clock, health, signal } = this.#context;
    const { marketId } = market.listing;
    const isFirstRead = !this.#volumes.has(marketId);
    const volume = this.#volumes.get(marketId) ?? new RollingVolume();
    this.#volumes.set(marketId, volume);
    this.#readAt.set(marketId, clock.now());
    const sinceMs = volume.nextReadFrom(clock.now());
    const trades = await venue.listTrades(market.listing, sinceMs, TRADES_PER_READ_MAX, signal);
    health.succeeded();
    volume.add(trades, sinceMs, trades.length < TRADES_PER_READ_MAX, clock.now());
    this.#report(market, trades);
    if (!venue.profile.volumeFromTrades) return;
    storeWriter.queueFigures(board.annotate(market, { volume24hUsd: volume.total(clock.now()) }));
    // Without a price, an older trade than those of the last day is read as well.
    const isLastTradeOlder = trades.length === 0 && isFirstRead && market.yesPrice === null;
    const [lastTrade] = isLastTradeOlder ? await venue.listTrades(market.listing, 0, 1, signal) : trades;
    const change = lastTrade === undefined ? null : board.applyTrade(market, lastTrade);
    if (change === null || lastTrade === undefined) return;
    storeWriter.queueChange(change);
    if (live.reportPrice(change, lastTrade.executedAt)) this.#confirm(marketId);
  }

  #report(market: BoardMarket, trades: readonly Trade[]): void {
    this.#context.storeWriter.queueTrades(market, trades);
    this.#reportedId = market.listing.marketId;
    this.#context.live.reportTrades(market, trades);
    this.#reportedId = null;
  }

  /** Active markets that have traded but have no price, because their last trade is unknown. Scans the whole board. */
  #listUnpriced(): readonly BoardMarket[] {
    const { board, venue } = this.#context;
    return board
      .markets()
      .filter(
        ({ listing, yesPrice, activity }) =>
          listing.venue === venue.id &&
          listing.status === "active" &&
          yesPrice === null &&
          (activity.volumeTotalUsd ?? 0) > 0,
      )
      .take(MARKETS_FOR_VOLUME_MAX)
      .toArray();
  }

  #nextRequested(): BoardMarket | null {
    const { board, venue } = this.#context;
    const [marketId] = this.#requested;
    this.#wasRequested = marketId !== undefined && !this.#wasRequested;
    if (marketId === undefined || !this.#wasRequested) return null;
    this.#requested.delete(marketId);
    return board.find(venue.id, marketId);
  }

  #nextMarket(): BoardMarket | null {
    let next: BoardMarket | null = null;
    let oldest = Number.POSITIVE_INFINITY;
    for (const market of this.#listCandidates()) {
      const readAt = this.#readAt.get(market.listing.marketId) ?? 0;
      if (readAt < oldest) {
        oldest = readAt;
        next = market;
      }
    }
    if (oldest > 0) this.#hasReadAll = true;
    return next;
  }
}
