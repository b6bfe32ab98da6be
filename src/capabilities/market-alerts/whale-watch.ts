import type { BoardMarket } from "../../board/index.ts";
import type { VenueId } from "../../domain/market.ts";
import type { Trade } from "../../domain/trade.ts";
import { TradeSizes, type WhaleLimits } from "../../quant/alerts/whale.ts";
import { CANDIDATES_MAX, type WhaleCandidate } from "./model.ts";

/** Limit of markets whose trade sizes are in memory, about 5 kB each; the least recently used are read again when needed. */
const SIZED_MARKETS_MAX = 1_000;
/** The sizes are read again after this time, so that those of trades older than a week are removed. */
const SIZES_AGE_MS_MAX = 6 * 3_600_000;

interface StoredSizes {
  readonly sizes: TradeSizes;
  /** Unix milliseconds. */
  readonly readAt: number;
}

/**
 * Watches trades and collects those that are large in USD. The sizes of a market's trades of the last week are read from
 * the store at its first large trade, and then kept up to date with its live trades.
 */
export class WhaleWatch {
  readonly #amountMin: number;
  /** By market, the least recently used first. */
  readonly #sizes = new Map<string, StoredSizes>();
  /** By market and trade, so that a trade whose size grows waits once. */
  readonly #candidates = new Map<string, WhaleCandidate>();
  #dropped = 0;

  constructor({ minUsd, shareMinUsd }: WhaleLimits) {
    this.#amountMin = Math.min(minUsd, shareMinUsd);
  }

  /** Number of markets whose sizes are in memory. */
  get size(): number {
    return this.#sizes.size;
  }

  /** Number of large trades that wait. */
  get candidateCount(): number {
    return this.#candidates.size;
  }

  /** Number of large trades that a limit dropped. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Forgets the trade sizes of a venue's markets. */
  forget(venue: VenueId): void {
    for (const key of this.#sizes.keys()) if (key.startsWith(`${venue}\n`)) this.#sizes.delete(key);
  }

  /** @param earlierSize  contracts of the same trade that were reported before; null at the first report */
  add(market: BoardMarket, trade: Trade, earlierSize: number | null): void {
    const price = trade.takerSide === "no" ? 1 - trade.yesPrice : trade.yesPrice;
    const usd = price * trade.size;
    if (!Number.isFinite(usd) || usd <= 0) return;
    if (usd < this.#amountMin) {
      if (earlierSize === null) this.#sizes.get(marketKeyOf(market))?.sizes.add(usd);
      return;
    }
    const key = `${marketKeyOf(market)}\n${trade.tradeId}`;
    if (this.#candidates.size >= CANDIDATES_MAX && !this.#candidates.has(key)) {
      this.#dropped += 1;
      return;
    }
    const { tradeId, executedAt, takerSide: side } = trade;
    this.#candidates.set(key, { market, tradeId, executedAt, side, price, usd });
  }

  /** Returns the first candidates, at most `limit`. They stay queued until `settle`. */
  peek(limit: number): readonly WhaleCandidate[] {
    return [...this.#candidates.values().take(limit)];
  }

  /** Removes candidates, unless they grew meanwhile, and counts their sizes. */
  settle(candidates: readonly WhaleCandidate[]): void {
    for (const candidate of candidates) {
      const marketKey = marketKeyOf(candidate.market);
      const key = `${marketKey}\n${candidate.tradeId}`;
      if (this.#candidates.get(key) === candidate) this.#candidates.delete(key);
      this.#sizes.get(marketKey)?.sizes.add(candidate.usd);
    }
  }

  /** Returns the sizes of a market's trades; null if they must be read. */
  findSizes(market: BoardMarket, now: number): TradeSizes | null {
    const key = marketKeyOf(market);
    const stored = this.#sizes.get(key);
    if (stored === undefined || now - stored.readAt > SIZES_AGE_MS_MAX) return null;
    this.#sizes.delete(key);
    this.#sizes.set(key, stored);
    return stored.sizes;
  }

  setSizes(market: BoardMarket, amounts: readonly number[], now: number): TradeSizes {
    const key = marketKeyOf(market);
    const sizes = new TradeSizes();
    for (const usd of amounts) sizes.add(usd);
    this.#sizes.delete(key);
    this.#sizes.set(key, { sizes, readAt: now });
    for (const oldest of this.#sizes.keys()) {
      if (this.#sizes.size <= SIZED_MARKETS_MAX) break;
      this.#sizes.delete(oldest);
    }
    return sizes;
  }
}

function marketKeyOf({ listing: { venue, marketId } }: BoardMarket): string {
  return `${venue}\n${marketId}`;
}
