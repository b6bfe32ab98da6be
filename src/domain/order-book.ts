import { complement, type Side } from "./price.ts";

/** Open orders at one price in (0, 1). The size is in contracts, above 0. */
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

/** Sorts the levels, best first, and removes untradable ones. Levels with equal prices are not merged. */
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

/** Returns the levels of the other contract: an order for YES at p is an order of the other kind for NO at 1 - p. */
export const complementLevels = <Level extends { readonly price: number }>(levels: readonly Level[]): Level[] =>
  levels.map((level) => ({ ...level, price: complement(level.price) }));

/** Returns what a book offers of a side, best price first: the asks, or for NO the complements of the bids. */
export const offersOf = <Level extends { readonly price: number }>(
  { bids, asks }: { readonly bids: readonly Level[]; readonly asks: readonly Level[] },
  side: Side,
): readonly Level[] => (side === "yes" ? asks : complementLevels(bids));

/** Returns whether the bid is at or above the ask. Such a book is inconsistent and must not be displayed. */
export function isCrossed(bid: number | null, ask: number | null): boolean {
  return bid !== null && ask !== null && bid >= ask;
}
