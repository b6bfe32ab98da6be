import type { BoardMarket } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import type { Trade } from "../../../domain/trade.ts";
import { deleteOldest } from "../../../lib/delete-oldest.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import { largestBurst, TradeSizeHistogram, type WhaleLimits } from "../../../quant/alerts/whale.ts";
import { CANDIDATES_MAX } from "./model.ts";

/** Maximum number of markets whose trade sizes are in memory, about 5 kB each. The least recently used is removed. */
const SIZED_MARKETS_MAX = 1_000;
/** Maximum age of trade sizes in memory. They are then read again, to remove trades older than a week. */
const SIZES_AGE_MS_MAX = 6 * HOUR_MS;
/** Maximum time between trades of one taker that are added up. */
const BURST_MS = 60_000;
/**
 * Time for which a trade is kept after its arrival. Longer than the interval of reading trade lists, which is about a
 * minute, so that one taker's trades are added up across two reads.
 */
const KEPT_MS = 3 * 60_000;
/** Maximum number of kept trades, about 0.5 kB each. The oldest trade is removed first. */
const TRADES_MAX = 20_000;
/**
 * Maximum number of markets whose live volume is kept, about 0.2 kB each. The market with the oldest last trade is
 * removed first.
 */
const VOLUMES_MAX = 10_000;

/** A large trade, or a large sum of one taker's trades on one side of a market within a minute. */
export interface WhaleCandidate {
  readonly key: string;
  readonly market: BoardMarket;
  /** Oldest first, at least one. */
  readonly trades: readonly RecentTrade[];
  /** When the first trade was executed, Unix milliseconds. */
  readonly startedAt: number;
  /** When the last trade was executed, Unix milliseconds. */
  readonly executedAt: number;
  /** The side that the taker bought; null if unknown. */
  readonly side: "yes" | "no" | null;
  /** Average price per contract of this side, in (0, 1); the YES price if the side is unknown. */
  readonly price: number;
  /** Sum of price times size, USD. */
  readonly usd: number;
  /** 24-hour volume before the trades, USD; null if unknown. */
  readonly volume24hUsd: number | null;
}

interface StoredSizes {
  readonly sizes: TradeSizeHistogram;
  /** Unix milliseconds. */
  readonly readAt: number;
  /** Unix milliseconds. Earlier trades were read from the store; later trades are counted on arrival. */
  readonly until: number;
}

/**
 * Collects trades that are large in USD: single trades, and the trades of one taker on one side of a market within a
 * minute. The sizes of a market's trades of the last week are read from the store at its first large trade, and then
 * kept up to date with its live trades. A trade is part of at most one alert.
 */
export class WhaleDetector {
  readonly #limits: WhaleLimits;
  readonly #requestTakers: (market: BoardMarket) => void;
  readonly #amountMin: number;
  /** By market, least recently used first. */
  readonly #sizes = new Map<string, StoredSizes>();
  readonly #volume = new LiveVolume();
  readonly #recent = new RecentTrades((trade) => this.#count(trade));
  /** By group, or by trade if the taker is unknown, so that a growing sum is queued once. */
  readonly #candidates = new Map<string, WhaleCandidate>();
  #dropped = 0;

  /**
   * @param requestTakers  called if trades of unknown takers would be large together if one taker had made all of them
   */
  constructor(limits: WhaleLimits, requestTakers: (market: BoardMarket) => void) {
    this.#limits = limits;
    this.#requestTakers = requestTakers;
    this.#amountMin = Math.min(limits.minUsd, limits.shareMinUsd);
  }

  /** Number of markets whose sizes are in memory. */
  get size(): number {
    return this.#sizes.size;
  }

  /** Number of kept trades. */
  get recentCount(): number {
    return this.#recent.size;
  }

  /** Number of groups of kept trades, by market, side and taker. */
  get groupCount(): number {
    return this.#recent.groupCount;
  }

  get candidateCount(): number {
    return this.#candidates.size;
  }

  /** Number of candidates that a limit dropped. */
  get dropped(): number {
    return this.#dropped;
  }

  forget(venue: VenueId): void {
    for (const key of this.#sizes.keys()) if (key.startsWith(`${venue}\n`)) this.#sizes.delete(key);
  }

  /**
   * @param isRepeated  whether the trade was added before, with a smaller size or without its taker
   * @param now  Unix milliseconds
   */
  add(market: BoardMarket, trade: Trade, isRepeated: boolean, now: number): void {
    const price = trade.takerSide === "no" ? 1 - trade.yesPrice : trade.yesPrice;
    const usd = price * trade.size;
    if (!Number.isFinite(usd) || usd <= 0) return;
    const earlierUsd = isRepeated ? this.#recent.usdOf(market, trade.tradeId) : 0;
    const added = isRepeated ? this.#recent.update(market, trade, usd) : this.#recent.add(market, trade, usd, now);
    if (added === null) return;
    this.#volume.add(market, usd - earlierUsd);
    if (added.group.hasTaker) this.#candidates.delete(added.key);
    this.#collect(added);
    if (!added.group.hasTaker && this.#couldBeLarge(added)) this.#requestTakers(market);
  }

  /** Returns the first candidates, at most `limit`. They stay queued until `settle`. */
  peek(limit: number): readonly WhaleCandidate[] {
    return [...this.#candidates.values().take(limit)];
  }

  /**
   * Removes candidates from the queue, unless their sum has grown meanwhile. Trades of announced candidates are not
   * announced again.
   */
  settle(candidates: readonly WhaleCandidate[], announced: ReadonlySet<WhaleCandidate>): void {
    for (const candidate of candidates) {
      if (this.#candidates.get(candidate.key) === candidate) this.#candidates.delete(candidate.key);
      if (!announced.has(candidate)) continue;
      for (const trade of candidate.trades) trade.isAnnounced = true;
      for (const trade of candidate.trades) this.#collect(trade);
    }
  }

  /** Returns the sizes of the market's trades; null if unknown, or if they may contain the candidate's own trades. */
  findSizes(
    { market, startedAt }: Pick<WhaleCandidate, "market" | "startedAt">,
    now: number,
  ): TradeSizeHistogram | null {
    const key = marketKeyOf(market);
    const stored = this.#sizes.get(key);
    if (stored === undefined || now - stored.readAt > SIZES_AGE_MS_MAX || startedAt < stored.until) return null;
    this.#sizes.delete(key);
    this.#sizes.set(key, stored);
    return stored.sizes;
  }

  /**
   * @param amounts  USD of each trade before `times.until`
   * @param times  Unix milliseconds
   */
  setSizes(
    market: BoardMarket,
    amounts: readonly number[],
    times: { readonly until: number; readonly now: number },
  ): TradeSizeHistogram {
    const key = marketKeyOf(market);
    const sizes = new TradeSizeHistogram();
    for (const usd of amounts) sizes.add(usd);
    this.#sizes.delete(key);
    this.#sizes.set(key, { sizes, readAt: times.now, until: times.until });
    deleteOldest(this.#sizes, SIZED_MARKETS_MAX);
    return sizes;
  }

  /** Counts the size of a trade that is no longer kept. Counting it earlier would compare a candidate with itself. */
  #count({ group, executedAt, usd }: RecentTrade): void {
    const stored = this.#sizes.get(marketKeyOf(group.market));
    if (stored !== undefined && executedAt >= stored.until) stored.sizes.add(usd);
  }

  /**
   * Queues the largest sum of trades within a minute by this trade's taker and side, or this trade alone if its taker
   * is unknown. Removes the candidate from the queue if the sum is too small for both rules.
   */
  #collect(trade: RecentTrade): void {
    const { group } = trade;
    const open = (group.hasTaker ? group.trades : [trade]).filter(({ isAnnounced }) => !isAnnounced);
    const trades = largestBurst(open, BURST_MS);
    const usd = sumOf(trades, "usd");
    const key = group.hasTaker ? group.key : trade.key;
    const [first] = trades;
    // While a candidate is queued, its trades can be removed from the group.
    const queued = this.#candidates.get(key);
    if (queued !== undefined && queued.usd > usd && !queued.trades.some(({ isAnnounced }) => isAnnounced)) return;
    if (first === undefined || usd < this.#amountMin) {
      this.#candidates.delete(key);
      return;
    }
    if (this.#candidates.size >= CANDIDATES_MAX && !this.#candidates.has(key)) {
      this.#dropped += 1;
      return;
    }
    const executedAt = trades.at(-1)?.executedAt ?? first.executedAt;
    const price = usd / sumOf(trades, "size");
    const { market } = group;
    const volume24hUsd = this.#volume.before(market, usd);
    this.#candidates.set(key, {
      key,
      market,
      trades,
      startedAt: first.executedAt,
      executedAt,
      side: first.side,
      price,
      usd,
      volume24hUsd,
    });
  }

  /**
   * Whether the trade and other trades of its group could be large together. Uses the rules without the percentile,
   * which requires a read. False for a single trade, which is classified even without its taker.
   */
  #couldBeLarge({ executedAt, group: { market, trades } }: RecentTrade): boolean {
    const near = trades.filter((other) => !other.isAnnounced && Math.abs(other.executedAt - executedAt) <= BURST_MS);
    const burst = largestBurst(near, BURST_MS);
    const usd = sumOf(burst, "usd");
    if (burst.length < 2 || usd < this.#amountMin) return false;
    const volume24hUsd = this.#volume.before(market, usd);
    return usd >= this.#limits.minUsd || (volume24hUsd !== null && usd >= this.#limits.volumeShare * volume24hUsd);
  }
}

const sumOf = (trades: readonly RecentTrade[], field: "usd" | "size") =>
  trades.reduce((sum, trade) => sum + trade[field], 0);

/** A trade of the last minutes. */
interface RecentTrade {
  readonly key: string;
  readonly tradeId: string;
  /** Unix milliseconds. */
  readonly executedAt: number;
  /** The side that the taker bought; null if unknown. */
  readonly side: "yes" | "no" | null;
  /** Unix milliseconds. */
  readonly arrivedAt: number;
  /** Contracts. */
  size: number;
  /** USD. */
  usd: number;
  group: TradeGroup;
  isAnnounced: boolean;
}

/** The kept trades of one taker, or of all unknown takers, on one side of a market. */
interface TradeGroup {
  readonly key: string;
  readonly hasTaker: boolean;
  market: BoardMarket;
  /** Oldest first. */
  readonly trades: RecentTrade[];
}

/** Keeps the trades of the last minutes, grouped by market, side and taker. */
class RecentTrades {
  readonly #onRemove: (trade: RecentTrade) => void;
  /** By market and trade id, in the order of arrival. */
  readonly #trades = new Map<string, RecentTrade>();
  readonly #groups = new Map<string, TradeGroup>();

  /** @param onRemove  called for a trade that is no longer kept */
  constructor(onRemove: (trade: RecentTrade) => void) {
    this.#onRemove = onRemove;
  }

  get size(): number {
    return this.#trades.size;
  }

  get groupCount(): number {
    return this.#groups.size;
  }

  /** @param usd  amount of the trade, USD */
  add(market: BoardMarket, trade: Trade, usd: number, now: number): RecentTrade {
    this.#prune(now);
    const { tradeId, executedAt, takerSide: side, size } = trade;
    const key = `${marketKeyOf(market)}\n${tradeId}`;
    const group = this.#openGroup(market, trade);
    const added = { key, tradeId, executedAt, side, arrivedAt: now, size, usd, group, isAnnounced: false };
    this.#trades.set(key, added);
    insertByTime(group.trades, added);
    return added;
  }

  /** Returns the amount of a trade in USD; 0 if it is not kept. */
  usdOf(market: BoardMarket, tradeId: string): number {
    return this.#trades.get(`${marketKeyOf(market)}\n${tradeId}`)?.usd ?? 0;
  }

  /** Updates the size, the amount and the taker of a trade. Returns null if the trade is no longer kept. */
  update(market: BoardMarket, trade: Trade, usd: number): RecentTrade | null {
    const known = this.#trades.get(`${marketKeyOf(market)}\n${trade.tradeId}`);
    if (known === undefined) return null;
    known.size = trade.size;
    known.usd = usd;
    const group = this.#openGroup(market, trade);
    if (known.group !== group) {
      this.#leaveGroup(known);
      known.group = group;
      insertByTime(group.trades, known);
    }
    return known;
  }

  #openGroup(market: BoardMarket, { taker, takerSide }: Trade): TradeGroup {
    const key = `${marketKeyOf(market)}\n${takerSide}\n${taker ?? ""}`;
    const group = this.#groups.get(key) ?? { key, hasTaker: taker !== undefined, market, trades: [] };
    group.market = market;
    this.#groups.set(key, group);
    return group;
  }

  #prune(now: number): void {
    for (const trade of this.#trades.values()) {
      if (now - trade.arrivedAt <= KEPT_MS && this.#trades.size < TRADES_MAX) break;
      this.#trades.delete(trade.key);
      this.#leaveGroup(trade);
      this.#onRemove(trade);
    }
  }

  #leaveGroup(trade: RecentTrade): void {
    const { key, trades } = trade.group;
    trades.splice(trades.indexOf(trade), 1);
    if (trades.length === 0) this.#groups.delete(key);
  }
}

function marketKeyOf({ listing: { venue, marketId } }: BoardMarket): string {
  return `${venue}\n${marketId}`;
}

function insertByTime(trades: RecentTrade[], trade: RecentTrade): void {
  const index = trades.findLastIndex(({ executedAt }) => executedAt <= trade.executedAt);
  trades.splice(index + 1, 0, trade);
}

interface TradedSince {
  /** The 24-hour volume that the venue published, USD; null if unknown. */
  readonly volume24hUsd: number | null;
  /** USD of the trades since this volume was published. */
  usd: number;
}

/** Estimates the 24-hour volume of markets between two publications of the venue, which can be half an hour apart. */
export class LiveVolume {
  /** By market, in the order of the last trade, oldest first. */
  readonly #markets = new Map<string, TradedSince>();

  get size(): number {
    return this.#markets.size;
  }

  /** @param usd  amount of a new trade, or of further fills of a known trade, USD */
  add(market: BoardMarket, usd: number): void {
    const key = marketKeyOf(market);
    const { volume24hUsd } = market.activity;
    const known = this.#markets.get(key);
    const since = known?.volume24hUsd === volume24hUsd ? known : { volume24hUsd, usd: 0 };
    since.usd += usd;
    this.#markets.delete(key);
    this.#markets.set(key, since);
    deleteOldest(this.#markets, VOLUMES_MAX);
  }

  /** Returns the published volume plus later trades minus `usd`, at least the published volume; null if unknown. */
  before(market: BoardMarket, usd: number): number | null {
    const { volume24hUsd } = market.activity;
    if (volume24hUsd === null) return null;
    const since = this.#markets.get(marketKeyOf(market));
    return volume24hUsd + (since?.volume24hUsd === volume24hUsd ? Math.max(0, since.usd - usd) : 0);
  }
}
