/** One trade, expressed for the YES contract, also if NO contracts were traded. */
export interface Trade {
  /** The venue's id, or a key of the content with an ordinal if it has none. */
  readonly tradeId: string;
  readonly executedAt: number;
  /** Price of the YES contract in (0, 1). */
  readonly yesPrice: number;
  /** Contracts. */
  readonly size: number;
  /** What the taker bought (selling YES is buying NO); null if unknown. */
  readonly takerSide: "yes" | "no" | null;
}

/** A market's price and volume over the interval [startAt, endAt). */
export interface HistoryPoint {
  readonly startAt: number;
  readonly endAt: number;
  /** Price by the `yesPrice` rule at the end of the interval; null if unknown. */
  readonly yesPrice: number | null;
  readonly bid: number | null;
  readonly ask: number | null;
  /** USD traded in the interval; null if unknown. */
  readonly volumeUsd: number | null;
}
