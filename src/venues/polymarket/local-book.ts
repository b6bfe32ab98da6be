import type { BookLevel } from "../../domain/order-book.ts";
import { toMicros } from "../../domain/price.ts";

/** Maximum number of levels per side. A valid book has fewer, even at the smallest price increment. */
const LEVELS_MAX = 10_000;

export interface TopOfBook {
  readonly bid: number | null;
  readonly ask: number | null;
  readonly bidSize: number | null;
  readonly askSize: number | null;
}

/** One token's book, maintained from complete snapshots and changed levels. */
export class LocalBook {
  readonly #bids = new Map<number, BookLevel>();
  readonly #asks = new Map<number, BookLevel>();
  #isComplete = false;

  /** Whether the book is complete: false before the first snapshot and after `discard`. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  replace(bids: readonly BookLevel[], asks: readonly BookLevel[]): void {
    this.discard();
    for (const level of bids) this.set("BUY", level);
    for (const level of asks) this.set("SELL", level);
    this.#isComplete = true;
  }

  /** Sets the size of a level; 0 removes the level. */
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

  top(): TopOfBook {
    const bid = best(this.#bids, (a, b) => a > b);
    const ask = best(this.#asks, (a, b) => a < b);
    return { bid: bid?.price ?? null, ask: ask?.price ?? null, bidSize: bid?.size ?? null, askSize: ask?.size ?? null };
  }
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
