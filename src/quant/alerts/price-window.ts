import type { PricePoint } from "../../domain/trade.ts";
import { HOUR_MS } from "../../lib/durations.ts";
import { assertProbability } from "../assert.ts";

const WINDOW_MS = HOUR_MS;
/** Length of an entry. All prices of the same three minutes share one entry, so the window has at most 20 entries. */
const ENTRY_MS = 180_000;
/**
 * Numbers per entry: start time, lowest price and its time, highest price and its time. A flat array needs less memory
 * than objects.
 */
const FIELDS = 5;

/**
 * The lowest and the highest price of one market in the last hour, in at most 20 entries of 40 bytes. A price leaves
 * the window at the age of 57 to 60 minutes.
 */
export class PriceWindow {
  readonly #entries: number[] = [];

  /** Number of entries, at most 20. */
  get size(): number {
    return this.#entries.length / FIELDS;
  }

  /** Whether the window contains no price of the last hour. */
  isEmpty(now: number): boolean {
    this.#removeOld(now);
    return this.#entries.length === 0;
  }

  /** Adds a price. A price that is older than the newest entry is ignored. */
  add(at: number, yesPrice: number): void {
    assertProbability(yesPrice, "yesPrice");
    this.#removeOld(at);
    const entries = this.#entries;
    const last = entries.length - FIELDS;
    const startAt = Math.floor(at / ENTRY_MS) * ENTRY_MS;
    const lastStartAt = last < 0 ? Number.NEGATIVE_INFINITY : this.#read(last);
    if (at < lastStartAt) return;
    if (startAt > lastStartAt) {
      entries.push(startAt, yesPrice, at, yesPrice, at);
      return;
    }
    // For equal prices the later time is stored: a move starts at the last time its starting price was seen.
    if (yesPrice <= this.#read(last + 1)) {
      entries[last + 1] = yesPrice;
      entries[last + 2] = at;
    }
    if (yesPrice >= this.#read(last + 3)) {
      entries[last + 3] = yesPrice;
      entries[last + 4] = at;
    }
  }

  /** Returns the price of the last hour that is furthest from `yesPrice`; null if the window is empty. */
  furthestFrom(yesPrice: number, now: number): PricePoint | null {
    this.#removeOld(now);
    let found = -1;
    let distance = -1;
    for (let field = 1; field < this.#entries.length; field += field % FIELDS === 1 ? 2 : 3) {
      const candidate = Math.abs(this.#read(field) - yesPrice);
      if (candidate < distance) continue;
      distance = candidate;
      found = field;
    }
    return found < 0 ? null : { at: this.#read(found + 1), yesPrice: this.#read(found) };
  }

  #read(field: number): number {
    return this.#entries[field] ?? Number.NaN;
  }

  #removeOld(now: number): void {
    let expired = 0;
    while (expired < this.#entries.length && now - this.#read(expired) >= WINDOW_MS) expired += FIELDS;
    if (expired > 0) this.#entries.splice(0, expired);
  }
}
