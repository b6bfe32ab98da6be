import { assertProbability } from "../assert.ts";

const WINDOW_MS = 3_600_000;
/** Prices of the same two minutes share an entry, which bounds the window to 30 entries. */
const ENTRY_MS = 120_000;

interface Entry {
  readonly startAt: number;
  min: number;
  minAt: number;
  max: number;
  maxAt: number;
}

/** A price that the market had. `at` in Unix milliseconds, `yesPrice` in [0, 1]. */
export interface PricePoint {
  readonly at: number;
  readonly yesPrice: number;
}

/**
 * The lowest and the highest price of one market in the last hour. It has at most 30 entries. A price leaves the window up to
 * two minutes before it is an hour old, and never later.
 */
export class PriceWindow {
  #entries: Entry[] = [];

  /** Number of entries, at most 30. */
  get size(): number {
    return this.#entries.length;
  }

  /** Time of the newest price; null if the window is empty. */
  get latestAt(): number | null {
    const last = this.#entries.at(-1);
    return last === undefined ? null : Math.max(last.minAt, last.maxAt);
  }

  /**
   * Adds a price. A price that is older than the newest entry is ignored.
   *
   * @throws RangeError when the price is outside [0, 1]
   */
  add(at: number, yesPrice: number): void {
    assertProbability(yesPrice, "yesPrice");
    this.#removeBefore(at);
    const last = this.#entries.at(-1);
    const startAt = Math.floor(at / ENTRY_MS) * ENTRY_MS;
    if (last === undefined || startAt > last.startAt) {
      this.#entries.push({ startAt, min: yesPrice, minAt: at, max: yesPrice, maxAt: at });
      return;
    }
    if (at < last.startAt) return;
    // Of equal prices the latest counts: the time since then is the time of the move.
    if (yesPrice <= last.min) {
      last.min = yesPrice;
      last.minAt = at;
    }
    if (yesPrice >= last.max) {
      last.max = yesPrice;
      last.maxAt = at;
    }
  }

  /** Returns the price of the last hour that is furthest from `yesPrice`; null if the window is empty. */
  furthestFrom(yesPrice: number, now: number): PricePoint | null {
    this.#removeBefore(now);
    let furthest: PricePoint | null = null;
    let distance = -1;
    for (const { min, minAt, max, maxAt } of this.#entries) {
      if (yesPrice - min >= distance) {
        distance = yesPrice - min;
        furthest = { at: minAt, yesPrice: min };
      }
      if (max - yesPrice >= distance) {
        distance = max - yesPrice;
        furthest = { at: maxAt, yesPrice: max };
      }
    }
    return furthest;
  }

  #removeBefore(now: number): void {
    let expired = 0;
    for (const { startAt } of this.#entries) {
      if (now - startAt < WINDOW_MS) break;
      expired += 1;
    }
    if (expired > 0) this.#entries = this.#entries.slice(expired);
  }
}
