import type { BoardMarket } from "../board/index.ts";
import { cacheMostTraded, type VenueContext } from "./context.ts";
import { RollingVolume } from "./rolling-volume.ts";

const TRADES_PER_READ_MAX = 1_000;
const MARKETS_MAX = 200;
/** Limit for venues without published volume: the volume is summed from trades, so the trades of all markets are read. */
const MARKETS_FOR_VOLUME_MAX = 5_000;

/**
 * Reads the trades of a venue's most traded markets, one market at a time. If the venue's listing contains no volume, it
 * contains no last trade either: the newest trade read is the last price.
 */
export class TradesReader {
  readonly #context: VenueContext;
  readonly #confirm: (marketId: string) => void;
  readonly #listCandidates: () => readonly BoardMarket[];
  readonly #volumes = new Map<string, RollingVolume>();
  /** When each market's trades were last read, Unix milliseconds. */
  readonly #readAt = new Map<string, number>();
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

  forget(marketId: string): void {
    this.#volumes.delete(marketId);
    this.#readAt.delete(marketId);
  }

  /** Reads the trades of the market with the oldest read. Prefers markets that were never read, most traded first. */
  async readNext(): Promise<void> {
    const { venue, board, storeWriter, live, clock, health, signal } = this.#context;
    if (venue.playMoney) return;
    const market = this.#nextMarket();
    if (market === null) return;
    const { marketId } = market.listing;
    const isFirstRead = !this.#volumes.has(marketId);
    const volume = this.#volumes.get(marketId) ?? new RollingVolume();
    this.#volumes.set(marketId, volume);
    this.#readAt.set(marketId, clock.now());
    const sinceMs = volume.nextReadFrom(clock.now());
    const trades = await venue.listTrades(market.listing, sinceMs, TRADES_PER_READ_MAX, signal);
    health.succeeded();
    volume.add(trades, sinceMs, trades.length < TRADES_PER_READ_MAX, clock.now());
    storeWriter.queueTrades(market, trades);
    live.reportTrades(market, trades);
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
