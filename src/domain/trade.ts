import type { Side } from "./price.ts";

/** One trade, expressed for the YES contract. A trade of the NO contract is converted. */
export interface Trade {
  /** The venue's trade id. If the venue has none: a key derived from the trade's content, with an ordinal. */
  readonly tradeId: string;
  readonly executedAt: number;
  /** Price of the YES contract in (0, 1). */
  readonly yesPrice: number;
  /** Number of contracts. */
  readonly size: number;
  /** The side that the taker bought (selling YES counts as buying NO); null if unknown. */
  readonly takerSide: Side | null;
  /**
   * Pseudonym of the taker, equal for all trades of one taker at the venue. Absent if the venue does not name the
   * taker. It is neither stored nor shown.
   */
  readonly taker?: string;
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
