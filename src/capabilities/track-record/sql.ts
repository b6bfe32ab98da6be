import type { MarketId } from "./model.ts";

/** SQL that converts a parameter with Unix milliseconds to a timestamp. */
export const time = (parameter: string) => `to_timestamp(${parameter}::float8 / 1000)`;

/** SQL that converts a timestamp column to Unix milliseconds. */
export const millis = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

/** SQL that converts a date column to YYYY-MM-DD. Drivers would return a `Date` in the local time zone. */
export const dateText = (column: string) => `to_char(${column}, 'YYYY-MM-DD')`;

/** Parameters for `unnest($1::text[], $2::text[])`. */
export const marketColumns = (markets: readonly MarketId[]): [string[], string[]] => [
  markets.map(({ venue }) => venue),
  markets.map(({ marketId }) => marketId),
];
