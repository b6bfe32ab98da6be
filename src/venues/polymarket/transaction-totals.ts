import { fromMicros, toMicros } from "../../domain/price.ts";
import type { Trade } from "../../domain/trade.ts";

/** Maximum number of transactions of one market. */
const TRANSACTIONS_MAX = 64;
/** Maximum number of fills of one transaction; further fills are not added. */
const FILLS_MAX = 1_000;
/** How long a transaction is remembered, because the stream may repeat a message. */
const TRANSACTION_MS_MAX = 60_000;

interface Total {
  readonly trade: Trade;
  /** Price and size of each fill. */
  readonly fills: Set<string>;
  sizeMicros: number;
  /** Sum of price times size. */
  notional: number;
  lastPrice: number;
  readonly startedAt: number;
  isReported: boolean;
}

/** A transaction's trade, and the price of its latest fill. */
export interface TotalTrade {
  readonly trade: Trade;
  readonly lastPrice: number;
}

/**
 * Sums up the fills of each transaction in one market. A total is never larger than the whole trade, because an equal
 * fill counts as a repeated message.
 */
export class TransactionTotals {
  readonly #totals = new Map<string, Total>();

  /** Whether `takeChanged` would return a trade. */
  get hasChanged(): boolean {
    return this.#totals.values().some((total) => !total.isReported);
  }

  /**
   * Adds a fill. If there are too many transactions, forgets the oldest and returns its trade unless it was returned
   * before.
   *
   * @param now monotonic milliseconds
   */
  add(fill: Trade, now: number): TotalTrade | null {
    const total = this.#totals.get(fill.tradeId) ?? createTotal(fill, now);
    this.#totals.set(fill.tradeId, total);
    const key = `${toMicros(fill.yesPrice)}:${toMicros(fill.size)}`;
    if (total.fills.size < FILLS_MAX && !total.fills.has(key)) {
      total.fills.add(key);
      total.sizeMicros += toMicros(fill.size);
      total.notional += fill.yesPrice * fill.size;
      total.lastPrice = fill.yesPrice;
      total.isReported = false;
    }
    const [oldest] = this.#totals;
    if (this.#totals.size <= TRANSACTIONS_MAX || oldest === undefined) return null;
    this.#totals.delete(oldest[0]);
    return oldest[1].isReported ? null : toTotalTrade(oldest[1]);
  }

  /** Returns the trades with fills that were not returned before, and forgets old transactions. */
  takeChanged(now: number): TotalTrade[] {
    const changed: TotalTrade[] = [];
    for (const [id, total] of this.#totals) {
      if (!total.isReported) changed.push(toTotalTrade(total));
      total.isReported = true;
      if (now - total.startedAt > TRANSACTION_MS_MAX) this.#totals.delete(id);
    }
    return changed;
  }
}

function createTotal(trade: Trade, now: number): Total {
  const { yesPrice: lastPrice } = trade;
  return { trade, fills: new Set(), sizeMicros: 0, notional: 0, lastPrice, startedAt: now, isReported: true };
}

function toTotalTrade(total: Total): TotalTrade {
  return { trade: toTrade(total), lastPrice: total.lastPrice };
}

/** Sums up the fills of one transaction to a trade at their average price. */
export function sumFills(fills: readonly Trade[]): Trade {
  const [trade] = fills;
  if (trade === undefined) throw new RangeError("a trade has at least one fill");
  const sizeMicros = fills.reduce((sum, { size }) => sum + toMicros(size), 0);
  const notional = fills.reduce((sum, { yesPrice, size }) => sum + yesPrice * size, 0);
  return toTrade({ trade, sizeMicros, notional });
}

function toTrade({ trade, sizeMicros, notional }: Pick<Total, "trade" | "sizeMicros" | "notional">): Trade {
  return { ...trade, size: fromMicros(sizeMicros), yesPrice: fromMicros(toMicros(notional / fromMicros(sizeMicros))) };
}
