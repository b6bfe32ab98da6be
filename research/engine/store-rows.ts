/** Reads resolved questions from the store of the service. */
import { keysetPages } from "../../src/lib/chunks.ts";
import type { Database } from "../../src/ports/database.ts";
import { parseSnapshot } from "../../src/storage/snapshot-codec.ts";
import { toPrice } from "../../src/storage/storable.ts";
import { withStore } from "../open-store.ts";
import type { ResolvedRow } from "./rows.ts";

const PAGE_MARKETS = 500;
const BAR_HOURS = 1;

/** Selects finalised markets, with the time at which their outcome was first stored. */
const SELECT_MARKETS = `
select key, snapshot, (
  select min(changed_at) from status_changes where market_key = key and outcome is not null and outcome <> 'null'
) as resolved_at
from markets where status = 'finalized' and key > $1::int4 order by key limit ${PAGE_MARKETS}`;

/** Selects hourly prices, dated by the end of their bar, because a bar's closing price is known only then. */
const SELECT_PRICES = `
select market_key, start_at + interval '${BAR_HOURS} hour' as at, yes_close
from bars_1h where market_key = any($1::int4[]) and yes_close is not null order by market_key, start_at`;

/**
 * Reads the resolved questions of a store. A service must not be running on the data directory.
 *
 * The stored closing time is not used, because a venue changes it when a market closes early: it can reveal the
 * outcome.
 *
 * @param store  PostgreSQL URL, or data directory of the service
 * @throws Error if the directory contains no store, and `AppError` if the database server is not available
 */
export const readResolvedRows = (store: string): Promise<ResolvedRow[]> => withStore(store, queryResolvedRows);

/** Reads the markets that resolved YES or NO, with their hourly prices before the resolution. */
export async function queryResolvedRows(database: Database): Promise<ResolvedRow[]> {
  const rows: ResolvedRow[] = [];
  const selectAfter = ({ key }: { readonly key: number }) =>
    database.query<{ key: number; snapshot: string; resolved_at: Date | null }>(SELECT_MARKETS, [key]);
  for await (const markets of keysetPages({ key: 0 }, selectAfter)) {
    const keys = markets.map(({ key }) => key);
    const prices = await database.query<StoredPrice>(SELECT_PRICES, [keys]);
    const pricesByMarket = Map.groupBy(prices, ({ market_key }) => market_key);
    for (const { key, snapshot, resolved_at } of markets) {
      const row = toRow(snapshot, resolved_at, pricesByMarket.get(key) ?? []);
      if (row !== null) rows.push(row);
    }
  }
  return rows;
}

type StoredPrice = { readonly market_key: number; readonly at: Date; readonly yes_close: number };

function toRow(snapshot: string, storedAt: Date | null, prices: readonly StoredPrice[]): ResolvedRow | null {
  const listing = parseSnapshot(snapshot)?.listing;
  const kind = listing?.outcome?.kind;
  const resolvedAt = listing?.resolvedAt ?? storedAt?.getTime() ?? null;
  if (listing === undefined || resolvedAt === null || (kind !== "yes" && kind !== "no")) return null;
  return {
    venue: listing.venue,
    market_id: listing.marketId,
    resolved_at: new Date(resolvedAt).toISOString(),
    outcome: kind === "yes" ? 1 : 0,
    prices: prices.flatMap(({ at, yes_close }): [string, number][] => {
      const price = toPrice(yes_close);
      return price === null || at.getTime() > resolvedAt ? [] : [[at.toISOString(), price]];
    }),
    title: listing.title,
    event_id: null,
    category: listing.category,
    created_at: listing.openAt === null ? null : new Date(listing.openAt).toISOString(),
    close_at: null,
    group: `${listing.venue} ${listing.eventId ?? listing.marketId}`,
  };
}
