/** Contracts resting at one price of the YES contract; price in (0, 1), size in contracts, above 0. */
export interface BookLevel {
  readonly price: number;
  readonly size: number;
}

/** YES book in normal form: bids best (highest) first, asks best (lowest) first. */
export interface OrderBook {
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
  readonly lastPrice: number | null;
  readonly eventAt: number | null;
  readonly receivedAt: number;
}

/** Levels sorted into normal form, without those no one can trade at; equal prices are left as the venue sent them. */
export function normaliseBook(
  bids: readonly BookLevel[],
  asks: readonly BookLevel[],
): { bids: BookLevel[]; asks: BookLevel[] } {
  const tradable = (level: BookLevel) => level.price > 0 && level.price < 1 && level.size > 0;
  return {
    bids: bids.filter(tradable).sort((a, b) => b.price - a.price),
    asks: asks.filter(tradable).sort((a, b) => a.price - b.price),
  };
}

/** Bid at or above ask: a torn read, never to be shown as tradable. */
export function isCrossed(bid: number | null, ask: number | null): boolean {
  return bid !== null && ask !== null && bid >= ask;
}
