import { type BookLevel, normaliseBook } from "../../domain/order-book.ts";
import { toMicros } from "../../domain/price.ts";

/** Maximum number of levels per side. A valid book has fewer, even at the smallest price increment. */
const LEVELS_MAX = 10_000;

export interface BestPrices {
  readonly bid: number | null;
  readonly ask: number | null;
}

/** Sizes in contracts; null if unknown or if the side is empty. */
export interface TopOfBook extends BestPrices {
  readonly bidSize: number | null;
  readonly askSize: number | null;
}

/** The order book of one token, maintained from complete snapshots and changed levels. */
export class LocalBook {
  readonly #bids = new Map<number, BookLevel>();
  readonly #asks = new Map<number, BookLevel>();
  #isComplete = false;

  /** True if the order book is complete. False before the first snapshot, after `discard`, and with too many levels. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Replaces the book. A snapshot with too many levels leaves it incomplete. */
  replace(bids: readonly BookLevel[], asks: readonly BookLevel[]): void {
    this.discard();
    this.#isComplete = true;
    for (const level of bids) this.set("BUY", level);
    for (const level of asks) this.set("SELL", level);
  }

  /** Sets the size of a level; 0 removes the level. More than `LEVELS_MAX` levels make the order book incomplete. */
  set(side: "BUY" | "SELL", level: BookLevel): void {
    const levels = side === "BUY" ? this.#bids : this.#asks;
    const key = toMicros(level.price);
    if (level.size === 0) levels.delete(key);
    else if (levels.size < LEVELS_MAX || levels.has(key)) levels.set(key, level);
    else this.#isComplete = false;
  }

  discard(): void {
    this.#bids.clear();
    this.#asks.clear();
    this.#isComplete = false;
  }

  /** Removes the levels that are better than the best prices. Returns the number of removed levels. */
  removeBetterThan({ bid, ask }: BestPrices): number {
    const bidMax = bid === null ? Number.NEGATIVE_INFINITY : toMicros(bid);
    const askMin = ask === null ? Number.POSITIVE_INFINITY : toMicros(ask);
    return removeIf(this.#bids, (key) => key > bidMax) + removeIf(this.#asks, (key) => key < askMin);
  }

  /** Returns both sides, best first, without the levels that are better than the best prices, if these are given. */
  sides(bestPrices: BestPrices | null): { readonly bids: BookLevel[]; readonly asks: BookLevel[] } {
    const { bids, asks } = normaliseBook([...this.#bids.values()], [...this.#asks.values()]);
    if (bestPrices === null) return { bids, asks };
    const { bid, ask } = bestPrices;
    return {
      bids: bid === null ? [] : bids.filter(({ price }) => price <= bid),
      asks: ask === null ? [] : asks.filter(({ price }) => price >= ask),
    };
  }

  top(): TopOfBook {
    const bid = best(this.#bids, (a, b) => a > b);
    const ask = best(this.#asks, (a, b) => a < b);
    return { bid: bid?.price ?? null, ask: ask?.price ?? null, bidSize: bid?.size ?? null, askSize: ask?.size ?? null };
  }
}

function removeIf(levels: Map<number, BookLevel>, isRemoved: (key: number) => boolean): number {
  let count = 0;
  for (const key of levels.keys()) if (isRemoved(key) && levels.delete(key)) count += 1;
  return count;
}

function best(levels: ReadonlyMap<number, BookLevel>, isBetter: (a: number, b: number) => boolean): BookLevel | null {
  let bestLevel: BookLevel | null = null;
  let bestKey = 0;
  for (const [key, level] of levels) {
    if (bestLevel !== null && !isBetter(key, bestKey)) continue;
    bestLevel = level;
    bestKey = key;
  }
  return bestLevel;
}
