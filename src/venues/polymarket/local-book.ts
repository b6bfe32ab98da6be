import type { BookLevel } from "../../domain/order-book.ts";
import { toMicros } from "../../domain/price.ts";

/** More resting levels than the finest grid has on one side. */
const LEVELS_MAX = 10_000;

export interface TopOfBook {
  readonly bid: number | null;
  readonly ask: number | null;
  readonly bidSize: number | null;
  readonly askSize: number | null;
}

/** One token's book as the stream tells it: whole now and then, changed levels in between. */
export class LocalBook {
  readonly #bids = new Map<number, BookLevel>();
  readonly #asks = new Map<number, BookLevel>();
  #isWhole = false;

  /** False until a whole book was told, and again once what we hold is known to be wrong. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  replace(bids: readonly BookLevel[], asks: readonly BookLevel[]): void {
    this.discard();
    for (const level of bids) this.set("BUY", level);
    for (const level of asks) this.set("SELL", level);
    this.#isWhole = true;
  }

  /** A level's new size; 0 removes it. */
  set(side: "BUY" | "SELL", level: BookLevel): void {
    const levels = side === "BUY" ? this.#bids : this.#asks;
    const key = toMicros(level.price);
    if (level.size === 0) levels.delete(key);
    else if (levels.size < LEVELS_MAX || levels.has(key)) levels.set(key, level);
    else this.#isWhole = false;
  }

  discard(): void {
    this.#bids.clear();
    this.#asks.clear();
    this.#isWhole = false;
  }

  top(): TopOfBook {
    const bid = best(this.#bids, (a, b) => a > b);
    const ask = best(this.#asks, (a, b) => a < b);
    return { bid: bid?.price ?? null, ask: ask?.price ?? null, bidSize: bid?.size ?? null, askSize: ask?.size ?? null };
  }
}

function best(levels: ReadonlyMap<number, BookLevel>, isBetter: (a: number, b: number) => boolean): BookLevel | null {
  let found: BookLevel | null = null;
  let foundKey = 0;
  for (const [key, level] of levels) {
    if (found !== null && !isBetter(key, foundKey)) continue;
    found = level;
    foundKey = key;
  }
  return found;
}
