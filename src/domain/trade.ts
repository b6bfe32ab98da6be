/** One match on a venue, told from the YES side whichever contract changed hands. */
export interface Trade {
  /** The venue's id, or a content key with an ordinal where it gives none. */
  readonly tradeId: string;
  readonly executedAt: number;
  /** Price of the YES contract in (0, 1). */
  readonly yesPrice: number;
  /** Contracts. */
  readonly size: number;
  /** What the taker bought (selling YES is buying NO); null when the venue does not say. */
  readonly takerSide: "yes" | "no" | null;
}

/** What was known of a market over one closed-open interval of time [startAt, endAt). */
export interface HistoryPoint {
  readonly startAt: number;
  readonly endAt: number;
  /** Price by the `yesPrice` rule at the interval's end, null when nothing was known. */
  readonly yesPrice: number | null;
  readonly bid: number | null;
  readonly ask: number | null;
  /** USD traded in the interval, null when the venue does not say. */
  readonly volumeUsd: number | null;
}
