import { fromMicros, toMicros } from "../../domain/price.ts";
import type { Trade } from "../../domain/trade.ts";

/** Maximum number of transactions of one market. */
const TRANSACTIONS_MAX = 64;
/** Maximum number of fills of one transaction; further fills are not added. */
const FILLS_MAX = 1_000;
/** How long a transaction is remembered, because its fills arrive one by one and the stream may repeat a message. */
const TRANSACTION_MS_MAX = 60_000;

interface Total {
  readonly trade: Trade;
  /** Price and size of each fill. */
  readonly fills: Set<string>;
  sizeMicros: number;
  /** Sum of price times size. */
  notional: number;
  readonly startedAt: number;
}

/**
 * Sums up the fills of each transaction in one market. A total is never larger than the whole trade, because an equal
 * fill counts as a repeated message.
 */
export class TransactionTotals {
  readonly #totals = new Map<string, Total>();

  /**
   * Adds a fill. Returns the trade with all fills of the transaction so far, or null if the message is repeated.
   *
   * @param now monotonic milliseconds
   */
  add(fill: Trade, now: number): Trade | null {
    for (const [id, { startedAt }] of this.#totals) {
      const isFull = this.#totals.size >= TRANSACTIONS_MAX && !this.#totals.has(fill.tradeId);
      if (now - startedAt > TRANSACTION_MS_MAX || isFull) this.#totals.delete(id);
      else break;
    }
    const total = this.#totals.get(fill.tradeId) ?? {
      trade: fill,
      fills: new Set<string>(),
      sizeMicros: 0,
      notional: 0,
      startedAt: now,
    };
    this.#totals.set(fill.tradeId, total);
    const key = `${toMicros(fill.yesPrice)}:${toMicros(fill.size)}`;
    if (total.fills.size >= FILLS_MAX || total.fills.has(key)) return null;
    total.fills.add(key);
    total.sizeMicros += toMicros(fill.size);
    total.notional += fill.yesPrice * fill.size;
    return toTrade(total);
  }
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
