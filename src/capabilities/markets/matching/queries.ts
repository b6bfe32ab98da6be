import type { MarketRef } from "../../../domain/market-name.ts";
import { columnsOf } from "../../../lib/columns-of.ts";
import { toMillisSql } from "../../../lib/timestamp-sql.ts";
import type { Database } from "../../../ports/database.ts";
import type { MatchDecision } from "./model.ts";

export function selectDecisions(database: Database, limit: number): Promise<MatchDecision[]> {
  return database.query<MatchDecision>(
    `select market_a as a, market_b as b, decision, note, decided_by as "decidedBy",
       ${toMillisSql("decided_at")} as "decidedAt"
     from match_overrides order by market_a, market_b limit $1`,
    [limit],
  );
}

/** Stores all decisions, or none if the table would hold more than `decisionsMax`. Returns whether they were stored. */
export async function upsertDecisions(
  database: Database,
  decisions: readonly MatchDecision[],
  decisionsMax: number,
): Promise<boolean> {
  const rows = await database.query(
    `with input as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
         as decisions (market_a, market_b, decision, note, decided_by, decided_at)
     )
     insert into match_overrides (market_a, market_b, decision, note, decided_by, decided_at)
     select market_a, market_b, decision, note, decided_by, decided_at from input
     where (select count(*) from match_overrides)
       + (select count(*) from input left join match_overrides stored using (market_a, market_b)
          where stored.market_a is null) <= $7
     on conflict (market_a, market_b) do update
     set decision = excluded.decision, note = excluded.note, decided_by = excluded.decided_by,
         decided_at = excluded.decided_at
     returning market_a`,
    [
      ...columnsOf(decisions, "a", "b", "decision", "note", "decidedBy"),
      decisions.map(({ decidedAt }) => new Date(decidedAt).toISOString()),
      decisionsMax,
    ],
  );
  return rows.length > 0;
}

/** Returns whether there was a decision. */
export async function deleteDecision(database: Database, a: string, b: string): Promise<boolean> {
  const rows = await database.query(
    "delete from match_overrides where market_a = $1 and market_b = $2 returning market_a",
    [a, b],
  );
  return rows.length > 0;
}

export function selectStoredMarkets(database: Database, markets: readonly MarketRef[]): Promise<MarketRef[]> {
  return database.query<MarketRef>(
    `select venue, market_id as "marketId" from markets
     where (venue, market_id) in (select * from unnest($1::text[], $2::text[]))`,
    columnsOf(markets, "venue", "marketId"),
  );
}
