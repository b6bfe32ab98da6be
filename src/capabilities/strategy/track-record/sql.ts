import type { MarketRef } from "../../../domain/market-name.ts";

/** Returns SQL that converts a date column to YYYY-MM-DD. Drivers would return a `Date` in the local time zone. */
export const dateText = (column: string) => `to_char(${column}, 'YYYY-MM-DD')`;

/** Parameters for `unnest($1::text[], $2::text[])`. */
export const marketColumns = (markets: readonly MarketRef[]): [string[], string[]] => [
  markets.map(({ venue }) => venue),
  markets.map(({ marketId }) => marketId),
];
