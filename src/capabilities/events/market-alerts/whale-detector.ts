import type { BoardMarket } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import type { Trade } from "../../../domain/trade.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import { largestBurst, TradeSizes, type WhaleLimits } from "../../../quant/alerts/whale.ts";
import { LiveVolume } from "./live-volume.ts";
import { CANDIDATES_MAX, type WhaleCandidate } from "./model.ts";
import { marketKeyOf, type RecentTrade, RecentTrades } from "./recent-trades.ts";

/** Limit of markets whose trade sizes are in memory, about 5 kB each; the least recently used are read again when needed. */
const SIZED_MARKETS_MAX = 1_000;
/** The sizes are read again after this time, so that those of trades older than a week are removed. */
const SIZES_AGE_MS_MAX = 6 * HOUR_MS;
/** One taker's trades are added up if their times differ by at most this. */
const BURST_MS = 60_000;

interface StoredSizes {
  readonly sizes: TradeSizes;
  /** Unix milliseconds. */
  readonly readAt: number;
  /** Unix milliseconds. Trades from before this time were read from the store; later ones are counted as they arrive. */
  readonly until: number;
}

/**
 * Watches trades and collects those that are large in USD: single trades, and the trades of one taker on one side of a market
 * within a minute. The sizes of a market's trades of the last week are read from the store at its first large trade, and then
 * kept up to date with its live trades. A trade is part of at most one alert.
 */
export class WhaleDetector {
  readonly #limits: WhaleLimits;
  readonly #amountMin: number;
  /** By market, the least recently used first. */
  readonly #sizes = new Map<string, StoredSizes>();
  readonly #volume = new LiveVolume();
  readonly #recent = new RecentTrades((trade) => this.#count(trade));
  /** By group, or by trade if the taker is unknown, so that a sum that grows waits once. */
  readonly #candidates = new Map<string, WhaleCandidate>();
  #dropped = 0;

  constructor(limits: WhaleLimits) {
    this.#limits = limits;
    this.#amountMin = Math.min(limits.minUsd, limits.shareMinUsd);
  }

  /** Number of markets whose sizes are in memory. */
  get size(): number {
    return this.#sizes.size;
  }

  /** Number of trades of the last minutes in memory. */
  get recentCount(): number {
    return this.#recent.size;
  }

  /** Number of takers, by market and side, who made these trades. */
  get groupCount(): number {
    return this.#recent.groupCount;
  }

  /** Number of candidates that wait. */
  get candidateCount(): number {
    return this.#candidates.size;
  }

  /** Number of candidates that a limit dropped. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Forgets the trade sizes of a venue's markets. */
  forget(venue: VenueId): void {
    for (const key of this.#sizes.keys()) if (key.startsWith(`${venue}\n`)) this.#sizes.delete(key);
  }

  /**
   * @param isRepeated  whether the trade was added before, without these fills or this taker
   * @param now  Unix milliseconds
   * @returns whether the trades of unknown takers would be large if one taker had made all of them
   */
  add(market: BoardMarket, trade: Trade, isRepeated: boolean, now: number): boolean {
    const price = trade.takerSide === "no" ? 1 - trade.yesPrice : trade.yesPrice;
    const usd = price * trade.size;
    if (!Number.isFinite(usd) || usd <= 0) return false;
    const earlierUsd = isRepeated ? this.#recent.usdOf(market, trade.tradeId) : 0;
    const added = isRepeated ? this.#recent.update(market, trade, usd) : this.#recent.add(market, trade, usd, now);
    if (added === null) return false;
    this.#volume.add(market, usd - earlierUsd);
    if (added.group.hasTaker) this.#candidates.delete(added.key);
    this.#collect(added);
    return !added.group.hasTaker && this.#couldBeLarge(added);
  }

  /** Returns the first candidates, at most `limit`. They stay queued until `settle`. */
  peek(limit: number): readonly WhaleCandidate[] {
    return [...this.#candidates.values().take(limit)];
  }

  /** Removes candidates, unless they grew meanwhile. The trades of announced candidates are not announced again. */
  settle(candidates: readonly WhaleCandidate[], announced: ReadonlySet<WhaleCandidate>): void {
    for (const candidate of candidates) {
      if (this.#candidates.get(candidate.key) === candidate) this.#candidates.delete(candidate.key);
      if (!announced.has(candidate)) continue;
      for (const trade of candidate.trades) trade.isAnnounced = true;
      for (const trade of candidate.trades) this.#collect(trade);
    }
  }

  /** Returns the sizes of the market's trades; null if they must be read, or if they can contain the candidate's own trades. */
  findSizes({ market, startedAt }: Pick<WhaleCandidate, "market" | "startedAt">, now: number): TradeSizes | null {
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
  ): TradeSizes {
    const key = marketKeyOf(market);
    const sizes = new TradeSizes();
    for (const usd of amounts) sizes.add(usd);
    this.#sizes.delete(key);
    this.#sizes.set(key, { sizes, readAt: times.now, until: times.until });
    for (const oldest of this.#sizes.keys()) {
      if (this.#sizes.size <= SIZED_MARKETS_MAX) break;
      this.#sizes.delete(oldest);
    }
    return sizes;
  }

  /** Counts a trade's size once the trade is no longer kept. Until then, a candidate could be compared with itself. */
  #count({ group, executedAt, usd }: RecentTrade): void {
    const stored = this.#sizes.get(marketKeyOf(group.market));
    if (stored !== undefined && executedAt >= stored.until) stored.sizes.add(usd);
  }

  /**
   * Queues the largest sum of the trades within a minute that have the taker and the side of this trade; of this trade alone
   * if its taker is unknown. A sum that is too small for both rules leaves the queue.
   */
  #collect(trade: RecentTrade): void {
    const { group } = trade;
    const open = (group.hasTaker ? group.trades : [trade]).filter(({ isAnnounced }) => !isAnnounced);
    const trades = largestBurst(open, BURST_MS);
    const usd = sumOf(trades, "usd");
    const key = group.hasTaker ? group.key : trade.key;
    const [first] = trades;
    // While a candidate waits for the store, its trades can be removed from the group.
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
   * Whether the trade and others of its group would be large together by the rules, without the percentile, which needs the
   * store. False for the trade alone, which is judged without its taker.
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
