import type { Trade } from "../domain/trade.ts";
import { toCents } from "../domain/usd.ts";
import { deleteOldest } from "../lib/delete-oldest.ts";
import { DAY_MS } from "../lib/durations.ts";

const BUCKET_MS = 5 * 60_000;
const SEEN_IDS_MAX = 2_000;

/**
 * USD traded in the last 24 hours, summed from a market's trades in buckets of five minutes. The total is null until
 * the trades of a whole day are read. A trade that is read twice counts once.
 */
export class RollingVolume {
  readonly #buckets = new Map<number, number>();
  /** Ids of the most recently counted trades. */
  readonly #seen = new Set<string>();
  /** Time since which all trades are counted, Unix milliseconds; null before the first read. */
  #completeSince: number | null = null;
  #readUntil: number | null = null;

  /** Start of the next read, Unix milliseconds. */
  nextReadFrom(now: number): number {
    return this.#readUntil ?? now - DAY_MS;
  }

  /**
   * Adds the trades of one read, newest first.
   *
   * @param sinceMs     start of the requested range, Unix milliseconds
   * @param isComplete  whether `trades` contains all trades of the range; false if a limit truncated it
   */
  add(trades: readonly Trade[], sinceMs: number, isComplete: boolean, now: number): void {
    for (const trade of trades) {
      if (this.#seen.has(trade.tradeId)) continue;
      this.#seen.add(trade.tradeId);
      const bucket = Math.floor(trade.executedAt / BUCKET_MS);
      this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + trade.yesPrice * trade.size);
      // A timestamp in the future must not exclude earlier trades from the next read.
      this.#readUntil = Math.max(this.#readUntil ?? 0, Math.min(trade.executedAt, now));
    }
    if (this.#readUntil === null) this.#readUntil = now - BUCKET_MS;
    if (!isComplete) this.#completeSince = trades.at(-1)?.executedAt ?? now;
    else this.#completeSince ??= sinceMs;
    deleteOldest(this.#seen, SEEN_IDS_MAX);
  }

  /** Returns the volume in USD, or null until the trades of a whole day are known. */
  total(now: number): number | null {
    const since = now - DAY_MS;
    if (this.#completeSince === null || this.#completeSince > since + BUCKET_MS) return null;
    let total = 0;
    for (const [bucket, usd] of this.#buckets) {
      if (bucket * BUCKET_MS < since - BUCKET_MS) this.#buckets.delete(bucket);
      else if (bucket * BUCKET_MS >= since) total += usd;
    }
    return toCents(total);
  }
}
