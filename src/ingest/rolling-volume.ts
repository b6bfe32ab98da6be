import type { Trade } from "../domain/trade.ts";
import { toCents } from "../domain/usd.ts";
import { deleteOldest } from "../lib/delete-oldest.ts";
import { DAY_MS } from "../lib/durations.ts";

const BUCKET_MS = 5 * 60_000;
/** Resolution of the trade times of some venues, which return the trades of a whole second again. */
const TIME_RESOLUTION_MS = 1_000;
/** Maximum number of counted trades that the next read can return again. */
const REPEATABLE_TRADES_MAX = 2_000;

/**
 * USD traded in the last 24 hours, summed from a market's trades in buckets of five minutes. The total is null until
 * the trades of a whole day are read. A trade that is read twice counts once.
 */
export class RollingVolume {
  readonly #buckets = new Map<number, number>();
  /** The counted trades that the next read can return again, by id. */
  readonly #repeatable = new Map<string, Trade>();
  /** Time since which all trades are counted, Unix milliseconds; null before the first read. */
  #completeSince: number | null = null;
  #readUntil: number | null = null;

  /** Start of the next read, Unix milliseconds. */
  nextReadFrom(now: number): number {
    return this.#readUntil ?? now - DAY_MS;
  }

  /** Whether the next read can return the trade again. */
  isRepeatable({ executedAt }: Trade, now: number): boolean {
    return executedAt > this.nextReadFrom(now) - TIME_RESOLUTION_MS;
  }

  /**
   * Adds the trades of one read, newest first. Ignores trades before the requested range, which an earlier read counted.
   *
   * @param sinceMs     start of the requested range, Unix milliseconds
   * @param isComplete  whether `trades` contains all trades of the range; false if a limit truncated it
   */
  add(trades: readonly Trade[], sinceMs: number, isComplete: boolean, now: number): void {
    for (const trade of trades) {
      if (this.#repeatable.has(trade.tradeId) || trade.executedAt <= sinceMs - TIME_RESOLUTION_MS) continue;
      this.#repeatable.set(trade.tradeId, trade);
      const bucket = Math.floor(trade.executedAt / BUCKET_MS);
      this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + trade.yesPrice * trade.size);
      // A timestamp in the future must not exclude earlier trades from the next read.
      this.#readUntil = Math.max(this.#readUntil ?? 0, Math.min(trade.executedAt, now));
    }
    if (this.#readUntil === null) this.#readUntil = now - BUCKET_MS;
    if (!isComplete) this.#completeSince = trades.at(-1)?.executedAt ?? now;
    else this.#completeSince ??= sinceMs;
    for (const [id, trade] of this.#repeatable) if (!this.isRepeatable(trade, now)) this.#repeatable.delete(id);
    deleteOldest(this.#repeatable, REPEATABLE_TRADES_MAX);
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
