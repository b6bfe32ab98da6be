import type { Trade } from "../domain/trade.ts";

const BUCKET_MS = 5 * 60_000;
const DAY_MS = 86_400_000;
const SEEN_MAX = 2_000;

/**
 * USD traded in the last 24 hours, summed from a venue's tape in steps of five minutes. Known only once the tape has
 * been read back for a whole day; a trade told twice counts once.
 */
export class RollingVolume {
  readonly #buckets = new Map<number, number>();
  readonly #seen = new Set<string>();
  #completeSince: number | null = null;
  #readUntil: number | null = null;

  /** From when on the tape has to be read next, Unix milliseconds. */
  nextReadFrom(now: number): number {
    return this.#readUntil ?? now - DAY_MS;
  }

  /**
   * Adds what a read of the tape gave.
   * @param sinceMs the instant from which on the read asked for trades
   * @param isComplete whether it reached back that far, not cut off by a page limit
   */
  add(trades: readonly Trade[], sinceMs: number, isComplete: boolean, now: number): void {
    for (const trade of trades) {
      if (this.#seen.has(trade.tradeId)) continue;
      this.#seen.add(trade.tradeId);
      const bucket = Math.floor(trade.executedAt / BUCKET_MS);
      this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + trade.yesPrice * trade.size);
      // A trade told with a time that lies ahead must not keep the next reads from asking for what comes before it.
      this.#readUntil = Math.max(this.#readUntil ?? 0, Math.min(trade.executedAt, now));
    }
    if (this.#readUntil === null) this.#readUntil = now - BUCKET_MS;
    if (!isComplete) this.#completeSince = trades.at(-1)?.executedAt ?? now;
    else this.#completeSince ??= sinceMs;
    for (const id of this.#seen) {
      if (this.#seen.size <= SEEN_MAX) break;
      this.#seen.delete(id);
    }
  }

  /** USD, or null while less than a day of the tape is known. */
  total(now: number): number | null {
    const since = now - DAY_MS;
    if (this.#completeSince === null || this.#completeSince > since + BUCKET_MS) return null;
    let total = 0;
    for (const [bucket, usd] of this.#buckets) {
      if (bucket * BUCKET_MS < since - BUCKET_MS) this.#buckets.delete(bucket);
      else if (bucket * BUCKET_MS >= since) total += usd;
    }
    return Math.round(total * 100) / 100;
  }
}
