import type { Outcome, VenueId } from "../../domain/market.ts";
import { columnsOf } from "../../lib/columns-of.ts";
import type { Database, Transaction } from "../../ports/database.ts";
import { parseSnapshot } from "../snapshot-codec.ts";
import { toStorableTime } from "../storable.ts";

export interface SettledMarket {
  readonly venue: VenueId;
  readonly marketId: string;
  readonly outcome: Outcome;
  /** Settlement time reported by the venue; otherwise the time at which the result was received. Unix milliseconds. */
  readonly resolvedAt: number;
}

const SELECT_FINALIZED = `
select snapshot from unnest($1::text[], $2::text[]) as wanted (venue, market_id)
join markets using (venue, market_id) where status = 'finalized'`;

/**
 * Returns the given markets that are finalized in the store with a known outcome.
 *
 * @param markets  at most a few hundred, because the listing of each is read
 */
export async function readSettledMarkets(
  database: Pick<Database, "query"> | Transaction,
  markets: readonly { readonly venue: VenueId; readonly marketId: string }[],
): Promise<SettledMarket[]> {
  const rows = await database.query<{ snapshot: string }>(SELECT_FINALIZED, columnsOf(markets, "venue", "marketId"));
  return rows.flatMap(({ snapshot }): SettledMarket[] => {
    const market = parseSnapshot(snapshot);
    if (market === null || market.listing.outcome === null) return [];
    const { venue, marketId, outcome } = market.listing;
    const resolvedAt = toStorableTime(market.listing.resolvedAt) ?? toStorableTime(market.quote.receivedAt) ?? 0;
    return [{ venue, marketId, outcome, resolvedAt }];
  });
}
