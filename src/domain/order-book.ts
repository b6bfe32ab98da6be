import { complement, type Side } from "./price.ts";

/** Total size of the open orders at one price. The price is in (0, 1), the size in contracts and above 0. */
export interface BookLevel {
  readonly price: number;
  readonly size: number;
}

/** The order book of the YES contract: bids highest first, asks lowest first. */
export interface OrderBook {
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
  readonly lastPrice: number | null;
  readonly eventAt: number | null;
  readonly receivedAt: number;
}

/** Sorts the levels, best first, and removes untradable levels. Levels with equal prices are not merged. */
export function normaliseBook(
  bids: readonly BookLevel[],
  asks: readonly BookLevel[],
): { bids: BookLevel[]; asks: BookLevel[] } {
  const isTradable = (level: BookLevel) => level.price > 0 && level.price < 1 && level.size > 0;
  return {
    bids: bids.filter(isTradable).sort((a, b) => b.price - a.price),
    asks: asks.filter(isTradable).sort((a, b) => a.price - b.price),
  };
}

/** Returns the levels of the other contract: a bid for YES at p is an ask for NO at 1 - p, and vice versa. */
export const complementLevels = <Level extends { readonly price: number }>(levels: readonly Level[]): Level[] =>
  levels.map((level) => ({ ...level, price: complement(level.price) }));

/** Returns the offers of a side, best price first: the asks for YES, the complements of the bids for NO. */
export const offersOf = <Level extends { readonly price: number }>(
  { bids, asks }: { readonly bids: readonly Level[]; readonly asks: readonly Level[] },
  side: Side,
): readonly Level[] => (side === "yes" ? asks : complementLevels(bids));

/** Returns whether the bid is at or above the ask. Such an order book is inconsistent and must not be displayed. */
export function isCrossed(bid: number | null, ask: number | null): boolean {
  return bid !== null && ask !== null && bid >= ask;
}
