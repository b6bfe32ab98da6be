import type { Side } from "./price.ts";

/** The displayed price of a market at a time. `at` is in Unix milliseconds, `yesPrice` in [0, 1]. */
export interface PricePoint {
  readonly at: number;
  readonly yesPrice: number;
}

/** One trade, expressed for the YES contract. A trade of the NO contract is converted. */
export interface Trade {
  /** The venue's trade id; without one, a key from the content of the trade and an ordinal number. */
  readonly tradeId: string;
  readonly executedAt: number;
  /** Price of the YES contract in (0, 1). */
  readonly yesPrice: number;
  /** Number of contracts. */
  readonly size: number;
  /** The side that the taker bought (selling YES counts as buying NO); null if unknown. */
  readonly takerSide: Side | null;
  /**
   * Pseudonym of the taker, equal for all trades of the taker at this venue. Absent if the venue does not identify the
   * taker. Never stored or returned.
   */
  readonly taker?: string;
}

/** A market's price and volume over the interval [startAt, endAt). */
export interface HistoryPoint {
  readonly startAt: number;
  readonly endAt: number;
  /** Displayed price (`yesPrice`) at the end of the interval; null if unknown. */
  readonly yesPrice: number | null;
  readonly bid: number | null;
  readonly ask: number | null;
  /** USD traded in the interval; null if unknown. */
  readonly volumeUsd: number | null;
}
