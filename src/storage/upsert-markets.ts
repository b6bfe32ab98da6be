import type { MarketSnapshot } from "../domain/market.ts";
import { appendEvents, type NewEvent } from "../event-log/index.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Database, Transaction } from "../ports/database.ts";
import { fenceColumns, heldFencesSql } from "./lease-fence.ts";
import { EVENT_MARKET_ID_LENGTH_MAX, marketResolved, outcomeText } from "./market-resolved.ts";
import type { VenueFence } from "./model.ts";
import { isStorableId, type StoreDrop, storableAmount, storableText, storableTime } from "./storable.ts";

const ROWS_PER_STATEMENT_MAX = 1_000;

/**
 * Existing markets are updated and only new ones are inserted. INSERT ... ON CONFLICT would consume a sequence value
 * for every existing market, and sweeps of 300,000 markets would exhaust the int4 key within weeks.
 */
const INCOMING_MARKETS = `
  select venue, market_id, event_id, title, status, to_timestamp(close_ms / 1000) as close_at, volume,
    to_timestamp(updated_ms / 1000) as updated_at, snapshot
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::float8[], $8::float8[], $9::text[])
    as market (venue, market_id, event_id, title, status, close_ms, volume, updated_ms, snapshot)`;
const MARKET_COLUMNS = "venue, market_id, event_id, title, status, close_at, volume_24h_usd, updated_at, snapshot";
const MARKET_VALUES = "venue, market_id, event_id, title, status, close_at, volume, updated_at, snapshot";
const IS_NEW = `not exists (
    select 1 from markets known where known.venue = incoming.venue and known.market_id = incoming.market_id)`;

const upsertMarketsSql = (isFenced: boolean) => `
with ${isFenced ? `held as materialized (${heldFencesSql("$10", "$11")}),` : ""} incoming as (
  ${INCOMING_MARKETS} ${isFenced ? "where venue in (select venue from held)" : ""}
), updated as (
  update markets set event_id = incoming.event_id, title = incoming.title, status = incoming.status,
    close_at = incoming.close_at, volume_24h_usd = incoming.volume, updated_at = incoming.updated_at,
    snapshot = incoming.snapshot ${isFenced ? ", position = nextval('market_changes')" : ""}
  from incoming where markets.venue = incoming.venue and markets.market_id = incoming.market_id
  returning markets.key, markets.venue, markets.market_id
), inserted as (
  insert into markets (${MARKET_COLUMNS}, position)
  select ${MARKET_VALUES}, ${isFenced ? "nextval('market_changes')" : "0"} from incoming where ${IS_NEW}
  on conflict (venue, market_id) do update set snapshot = excluded.snapshot, updated_at = excluded.updated_at,
    status = excluded.status, position = excluded.position
  returning key, venue, market_id
)
select key, venue, market_id from updated union all select key, venue, market_id from inserted`;

/**
 * If two nodes insert the same market simultaneously, one succeeds and the other reads its key on the next attempt. The
 * position is 0, which followers do not read: only the holder of the venue's lease may draw a position, otherwise
 * positions would not follow the commit order.
 */
const INSERT_UNKNOWN_MARKETS = `
with incoming as (${INCOMING_MARKETS}
), inserted as (
  insert into markets (${MARKET_COLUMNS}, position)
  select ${MARKET_VALUES}, 0 from incoming where ${IS_NEW}
  on conflict (venue, market_id) do nothing
  returning key, venue, market_id
)
select key, venue, market_id from inserted
union all select markets.key, markets.venue, markets.market_id from markets join incoming using (venue, market_id)`;

/**
 * Records the outcome of each newly settled market and returns those markets. The stored outcome decides, not the
 * memory of this process. A market that is already settled when first stored is not announced. A settlement whose
 * outcome is published later, or changes, is announced. The leases stay locked until the transaction ends, so the market
 * row is written under the same fence.
 */
const announceSettlementsSql = (isFenced: boolean) => `
${isFenced ? `with held as materialized (${heldFencesSql("$4", "$5")})` : ""}
update markets set announced_outcome = settled.outcome
from unnest($1::text[], $2::text[], $3::text[]) as settled (venue, market_id, outcome)
where ${isFenced ? "settled.venue in (select venue from held) and" : ""} markets.venue = settled.venue and markets.market_id = settled.market_id
  and (markets.status <> 'finalized' or markets.announced_outcome is not null)
  and markets.announced_outcome is distinct from settled.outcome
  and (settled.outcome <> '' or markets.announced_outcome is null)
returning markets.venue, markets.market_id`;

type MarketKeys = Map<string, number>;

const venueMarketId = (venue: string, id: string) => `${venue}\n${id}`;

/**
 * Implements `MarketStore.upsertMarkets`.
 *
 * @param onEventsAppended  called after each commit that appended to the event log
 */
export async function upsertMarkets(
  database: Database,
  snapshots: readonly MarketSnapshot[],
  fences: readonly VenueFence[] | undefined,
  drop: StoreDrop,
  onEventsAppended: () => void,
): Promise<(number | null)[]> {
  const statement = upsertMarketsSql(fences !== undefined);
  return writeUniqueMarkets(snapshots, drop, async (chunk, keys) => {
    const settled = chunk.filter(({ listing }) => listing.status === "finalized");
    if (settled.length === 0) return writeMarkets(database, statement, chunk, keys, fences);
    const appended = await database.transaction(async (transaction) => {
      const events = await announceSettlements(transaction, settled, fences, drop);
      await writeMarkets(transaction, statement, chunk, keys, fences);
      return appendEvents(transaction, events);
    });
    if (appended > 0) onEventsAppended();
  });
}

/** Implements `MarketStore.insertUnknownMarkets`. */
export function insertUnknownMarkets(
  database: Database,
  snapshots: readonly MarketSnapshot[],
  drop: StoreDrop,
): Promise<(number | null)[]> {
  return writeUniqueMarkets(snapshots, drop, (chunk, keys) =>
    writeMarkets(database, INSERT_UNKNOWN_MARKETS, chunk, keys),
  );
}

async function announceSettlements(
  transaction: Transaction,
  snapshots: readonly MarketSnapshot[],
  fences: readonly VenueFence[] | undefined,
  drop: StoreDrop,
): Promise<NewEvent[]> {
  const rows = await transaction.query<{ venue: string; market_id: string }>(
    announceSettlementsSql(fences !== undefined),
    [
      snapshots.map(({ listing }) => listing.venue),
      snapshots.map(({ listing }) => listing.marketId),
      snapshots.map(({ listing }) => outcomeText(listing.outcome)),
      ...fenceColumns(fences),
    ],
  );
  const announced = new Set(rows.map((row) => venueMarketId(row.venue, row.market_id)));
  return snapshots.flatMap((snapshot) => {
    const { venue, marketId, outcome } = snapshot.listing;
    if (outcome === null || !announced.has(venueMarketId(venue, marketId))) return [];
    if (marketId.length <= EVENT_MARKET_ID_LENGTH_MAX) return [marketResolved(snapshot, outcome)];
    drop("market_id_too_long_for_an_event");
    return [];
  });
}

async function writeMarkets(
  database: Transaction,
  statement: string,
  snapshots: readonly MarketSnapshot[],
  keys: MarketKeys,
  fences?: readonly VenueFence[],
): Promise<void> {
  const rows = await database.query<{ key: number; venue: string; market_id: string }>(statement, [
    snapshots.map(({ listing }) => listing.venue),
    snapshots.map(({ listing }) => listing.marketId),
    snapshots.map(({ listing }) => (listing.eventId === null ? null : storableText(listing.eventId))),
    snapshots.map(({ listing }) => storableText(listing.title)),
    snapshots.map(({ listing }) => listing.status),
    snapshots.map(({ listing }) => storableTime(listing.closeAt)),
    snapshots.map(({ activity }) => storableAmount(activity.volume24hUsd)),
    snapshots.map(({ quote }) => storableTime(quote.receivedAt) ?? 0),
    // JSON escapes NUL and unpaired surrogates, so any text is storable here.
    snapshots.map((snapshot) => JSON.stringify(snapshot)),
    ...fenceColumns(fences),
  ]);
  for (const row of rows) keys.set(venueMarketId(row.venue, row.market_id), row.key);
}

/** Removes duplicates and unstorable ids, writes the rest in chunks and returns a key or null for each snapshot. */
async function writeUniqueMarkets(
  snapshots: readonly MarketSnapshot[],
  drop: StoreDrop,
  write: (chunk: readonly MarketSnapshot[], keys: MarketKeys) => Promise<void>,
): Promise<(number | null)[]> {
  const unique = new Map<string, MarketSnapshot>();
  for (const snapshot of snapshots) {
    const { venue, marketId } = snapshot.listing;
    if (!isStorableId(marketId) || !marketId.isWellFormed()) drop("market_id_not_storable");
    else unique.set(venueMarketId(venue, marketId), snapshot);
  }
  const keys: MarketKeys = new Map();
  for (const chunk of chunksOf([...unique.values()], ROWS_PER_STATEMENT_MAX)) await write(chunk, keys);
  return snapshots.map(({ listing }) => keys.get(venueMarketId(listing.venue, listing.marketId)) ?? null);
}
