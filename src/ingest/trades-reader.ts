import type { BoardMarket } from "../board/index.ts";
import type { Trade } from "../domain/trade.ts";
import { cacheMostTraded, type VenueContext } from "./context.ts";
import { RollingVolume } from "./rolling-volume.ts";

const TRADES_PER_READ_MAX = 1_000;
const MARKETS_MAX = 200;
/** Maximum number of markets whose volume is summed from their trades, for venues that do not publish volumes. */
const MARKETS_FOR_VOLUME_MAX = 5_000;
/** Maximum number of markets queued by `requestTakers`. Further requests are ignored. */
const REQUESTED_MAX = 100;
/** Maximum age of the trades that are read for a call of `requestTakers`. */
const REQUESTED_MS = 3 * 60_000;
/**
 * Pause after a read without a new trade. It doubles with each further one, up to the maximum, and ends when the venue
 * publishes another volume or last price.
 */
const QUIET_PAUSE_MS = 30_000;
const QUIET_PAUSE_MS_MAX = 4 * 60_000;

/** The last read of a market's trades. */
interface MarketRead {
  /** Monotonic milliseconds. */
  readonly at: number;
  /** Number of consecutive reads without a new trade. */
  readonly quietReads: number;
  /** The trades that the next read will probably return again. */
  readonly newest: readonly Trade[];
  readonly volumeUsd: number | null;
  readonly lastPrice: number | null;
}

export type TradesReader = ReturnType<typeof createTradesReader>;

/**
 * Reads the trades of a venue's most traded markets, one market at a time. If the venue's listing contains no volume,
 * it contains no last trade either: the newest trade read is the last price.
 *
 * @param confirm  reads a market again
 */
export function createTradesReader(context: VenueContext, confirm: (marketId: string) => void) {
  const { venue, clock, health, signal, board, storeWriter, live } = context;
  const volumes = new Map<string, RollingVolume>();
  const reads = new Map<string, MarketRead>();
  /** Markets queued by `requestTakers`, in order. */
  const requested = new Set<string>();
  let wasRequested = false;
  /** Market whose polled trades are being reported; null at other times. */
  let reportedId: string | null = null;
  let hasReadAll = false;

  const readLatest = async (market: BoardMarket): Promise<void> => {
    const sinceMs = clock.now() - REQUESTED_MS;
    const trades = await venue.listTrades(market.listing, sinceMs, TRADES_PER_READ_MAX, signal);
    health.succeeded();
    report(market, trades);
  };

  const read = async (market: BoardMarket): Promise<void> => {
    const { marketId } = market.listing;
    const isFirstRead = !volumes.has(marketId);
    const volume = volumes.get(marketId) ?? new RollingVolume();
    volumes.set(marketId, volume);
    const { quietReads, newest } = reads.get(marketId) ?? { quietReads: 0, newest: [] };
    const started = {
      at: clock.monotonic(),
      volumeUsd: market.activity.volumeTotalUsd,
      lastPrice: market.quote.lastPrice,
    };
    reads.set(marketId, { ...started, quietReads: 0, newest });
    const sinceMs = volume.nextReadFrom(clock.now());
    const trades = await venue.listTrades(market.listing, sinceMs, TRADES_PER_READ_MAX, signal);
    health.succeeded();
    volume.add(trades, sinceMs, trades.length < TRADES_PER_READ_MAX, clock.now());
    const newTrades = trades.filter((trade) => !newest.some((known) => isSameTrade(known, trade)));
    reads.set(marketId, {
      ...started,
      quietReads: newTrades.length === 0 ? quietReads + 1 : 0,
      newest: trades.length === 0 ? newest : trades.filter((trade) => volume.isRepeatable(trade, clock.now())),
    });
    report(market, newTrades);
    if (!venue.profile.volumeFromTrades) return;
    storeWriter.queueFigures(board.annotate(market, { volume24hUsd: volume.total(clock.now()) }));
    // If the market has no price and no trade of the last day, the last older trade is read for its price.
    const isLastTradeOlder = trades.length === 0 && isFirstRead && market.yesPrice === null;
    const [lastTrade] = isLastTradeOlder ? await venue.listTrades(market.listing, 0, 1, signal) : trades;
    const change = lastTrade === undefined ? null : board.applyTrade(market, lastTrade);
    if (change === null || lastTrade === undefined) return;
    storeWriter.queueChange(change);
    if (live.reportPrice(change, lastTrade.executedAt)) confirm(marketId);
  };

  const report = (market: BoardMarket, trades: readonly Trade[]): void => {
    storeWriter.queueTrades(market, trades);
    reportedId = market.listing.marketId;
    live.reportTrades(market, trades);
    reportedId = null;
  };

  /** Active markets that have traded but have no price, because their last trade is unknown. Scans the whole board. */
  const listUnpriced = (): readonly BoardMarket[] => {
    const isUnpriced = ({ listing, yesPrice, activity }: BoardMarket) =>
      listing.venue === venue.id &&
      listing.status === "active" &&
      yesPrice === null &&
      (activity.volumeTotalUsd ?? 0) > 0;
    return board.markets().filter(isUnpriced).take(MARKETS_FOR_VOLUME_MAX).toArray();
  };
  const listCandidates = venue.profile.volumeFromTrades
    ? cacheMostTraded(context, MARKETS_FOR_VOLUME_MAX, listUnpriced)
    : cacheMostTraded(context, MARKETS_MAX);

  const nextRequested = (): BoardMarket | null => {
    const [marketId] = requested;
    wasRequested = marketId !== undefined && !wasRequested;
    if (marketId === undefined || !wasRequested) return null;
    requested.delete(marketId);
    return board.find(venue.id, marketId);
  };

  const isDue = ({ at, quietReads, volumeUsd, lastPrice }: MarketRead, { activity, quote }: BoardMarket): boolean => {
    if (quietReads === 0 || activity.volumeTotalUsd !== volumeUsd || quote.lastPrice !== lastPrice) return true;
    return clock.monotonic() - at >= Math.min(QUIET_PAUSE_MS_MAX, QUIET_PAUSE_MS * 2 ** (quietReads - 1));
  };

  const nextMarket = (): BoardMarket | null => {
    let next: BoardMarket | null = null;
    let oldest = Number.POSITIVE_INFINITY;
    for (const market of listCandidates()) {
      const read = reads.get(market.listing.marketId);
      if (read === undefined) return market;
      if (read.at >= oldest || !isDue(read, market)) continue;
      oldest = read.at;
      next = market;
    }
    hasReadAll = true;
    return next;
  };

  /**
   * Queues a read of the market's latest trades with their takers. Ignored while polled trades of the market are being
   * reported, because polled trades without a taker would be read without a taker again.
   */
  const requestTakers = (marketId: string): void => {
    if (!venue.profile.takersFromTrades || marketId === reportedId || requested.size >= REQUESTED_MAX) return;
    requested.add(marketId);
  };

  return {
    requestTakers,
    /** True if the trades of every candidate have been read at least once. */
    get hasReadAll(): boolean {
      return hasReadAll;
    },
    forget(marketId: string): void {
      volumes.delete(marketId);
      reads.delete(marketId);
    },
    /**
     * Reads the trades of a requested market or of the market with the oldest read. Prefers markets that were never
     * read, most traded first. Markets whose last reads found no new trade are read less often. At most every second
     * read is a requested one, so that requests do not delay all other markets.
     */
    async readNext(): Promise<void> {
      if (venue.playMoney) return;
      const requestedMarket = nextRequested();
      if (requestedMarket !== null) {
        try {
          return await readLatest(requestedMarket);
        } catch (error) {
          requestTakers(requestedMarket.listing.marketId);
          throw error;
        }
      }
      const market = nextMarket();
      if (market !== null) await read(market);
    },
  };
}

/** Returns whether two reads of a trade are equal. A later read may add fills or the taker. */
function isSameTrade(a: Trade, b: Trade): boolean {
  return a.tradeId === b.tradeId && a.size === b.size && a.taker === b.taker;
}
