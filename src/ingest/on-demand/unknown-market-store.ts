import type { VenueId } from "../../domain/market.ts";
import { deleteInBatches } from "../../lib/delete-in-batches.ts";
import type { Database } from "../../ports/database.ts";

/** Maximum number of rows after a clean-up. The oldest rows are deleted first. */
export const UNKNOWN_MARKET_ROWS_MAX = 50_000;
const DELETE_ROWS_MAX = 5_000;
const DELETE_BATCHES_MAX = 100;

/**
 * The result of a claim. `claimed`: the caller must request the market from the venue. `unknown`: the venue did not
 * have the market at the last request. `asked_elsewhere`: another look-up is requesting the market.
 */
export type LookUpClaim =
  | { readonly kind: "claimed" }
  | { readonly kind: "unknown"; readonly expiresInMs: number }
  | { readonly kind: "asked_elsewhere" };

export type UnknownMarketStore = ReturnType<typeof createUnknownMarketStore>;

/**
 * Stores, for all nodes, the markets that a venue does not have and the claims of running look-ups. All times come from
 * the database's clock. Every method throws `store_unavailable` if the database does not respond.
 */
export function createUnknownMarketStore(database: Database) {
  const expiresAt = (parameter: string) => `clock_timestamp() + ${parameter}::float8 * interval '1 millisecond'`;
  return {
    /** Claims the look-up of a market. A claim that is not released expires after `durationMs`. */
    async claim(venue: VenueId, marketId: string, durationMs: number): Promise<LookUpClaim> {
      const claimed = await database.query(
        `insert into unknown_markets (venue, market_id, asked_at, expires_at, is_answered)
         values ($1, $2, clock_timestamp(), ${expiresAt("$3")}, false)
         on conflict (venue, market_id) do update set
           asked_at = excluded.asked_at, expires_at = excluded.expires_at, is_answered = false
         where unknown_markets.expires_at <= clock_timestamp()
         returning true`,
        [venue, marketId, durationMs],
        "request",
      );
      if (claimed.length > 0) return { kind: "claimed" };
      const [row] = await database.query<{ expires_in_ms: number }>(
        `select (extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as expires_in_ms
         from unknown_markets where venue = $1 and market_id = $2 and is_answered`,
        [venue, marketId],
        "request",
      );
      return row === undefined
        ? { kind: "asked_elsewhere" }
        : { kind: "unknown", expiresInMs: Math.max(0, row.expires_in_ms) };
    },

    /** Records for `durationMs` that the venue does not have the market. */
    async recordUnknown(venue: VenueId, marketId: string, durationMs: number): Promise<void> {
      await database.query(
        `insert into unknown_markets (venue, market_id, asked_at, expires_at, is_answered)
         values ($1, $2, clock_timestamp(), ${expiresAt("$3")}, true)
         on conflict (venue, market_id) do update set
           asked_at = excluded.asked_at, expires_at = excluded.expires_at, is_answered = true`,
        [venue, marketId, durationMs],
        "request",
      );
    },

    /** Releases a claim whose look-up found the market or failed. */
    async release(venue: VenueId, marketId: string): Promise<void> {
      await database.query(
        "delete from unknown_markets where venue = $1 and market_id = $2 and not is_answered",
        [venue, marketId],
        "request",
      );
    },

    /** Deletes expired rows, and then the oldest rows until `rowsMax` remain. */
    async removeOld(rowsMax = UNKNOWN_MARKET_ROWS_MAX): Promise<void> {
      const deleteWhere = (condition: string, parameters: readonly unknown[]) =>
        deleteInBatches(DELETE_ROWS_MAX, DELETE_BATCHES_MAX, async () => {
          const rows = await database.query(
            `delete from unknown_markets where (venue, market_id) in (
               select venue, market_id from unknown_markets ${condition} limit ${DELETE_ROWS_MAX}
             ) returning true`,
            parameters,
          );
          return rows.length;
        });
      await deleteWhere("where expires_at <= clock_timestamp()", []);
      await deleteWhere("order by asked_at desc, market_id desc offset $1", [rowsMax]);
    },
  };
}
