import type { MarketSnapshot } from "../domain/market.ts";
import { appendEvents, type NewEvent } from "../event-log/index.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Database, Transaction } from "../ports/database.ts";
import { fenceParameters, heldFencesSql } from "./lease-fence.ts";
import {
  createMarketResolvedEvent,
  EVENT_MARKET_ID_LENGTH_MAX,
  encodeOutcome,
  readLastEstimates,
} from "./market-resolved.ts";
import type { VenueFence } from "./model.ts";
import { isStorableId, toStorableText, toStorableTime } from "./storable.ts";

const ROWS_PER_STATEMENT_MAX = 1_000;

/**
 * Selects the markets to write. Statements update existing markets and insert only new ones. INSERT ... ON CONFLICT
 * would use a sequence value for each existing market, and sweeps of 300,000 markets would exhaust the int4 key within
 * weeks.
 */
const INCOMING_MARKETS = `
  select venue, market_id, event_id, title, status, to_timestamp(updated_ms / 1000) as updated_at, snapshot
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::text[])
    as market (venue, market_id, event_id, title, status, updated_ms, snapshot)`;
const MARKET_COLUMNS = "venue, market_id, event_id, title, status, updated_at, snapshot";
const IS_NEW = `not exists (
    select 1 from markets known where known.venue = incoming.venue and known.market_id = incoming.market_id)`;

const upsertMarketsSql = (isFenced: boolean) => `
with ${isFenced ? `held as materialized (${heldFencesSql("$8", "$9")}),` : ""} incoming as (
  ${INCOMING_MARKETS} ${isFenced ? "where venue in (select venue from held)" : ""}
), updated as (
  update markets set event_id = incoming.event_id, title = incoming.title, status = incoming.status,
    updated_at = incoming.updated_at, snapshot = incoming.snapshot ${isFenced ? ", position = nextval('market_changes')" : ""}
  from incoming where markets.venue = incoming.venue and markets.market_id = incoming.market_id
  returning markets.key, markets.venue, markets.market_id
), inserted as (
  insert into markets (${MARKET_COLUMNS}, position)
  select ${MARKET_COLUMNS}, ${isFenced ? "nextval('market_changes')" : "0"} from incoming where ${IS_NEW}
  on conflict (venue, market_id) do update set snapshot = excluded.snapshot, updated_at = excluded.updated_at,
    status = excluded.status, position = excluded.position
  returning key, venue, market_id
)
select key, venue, market_id from updated union all select key, venue, market_id from inserted`;

/**
 * If two nodes insert the same market simultaneously, one succeeds and the other reads the key on its next attempt. The
 * position is 0, which followers do not read. Only the holder of the venue's lease may use the sequence; otherwise
 * positions would not be in commit order.
 */
const INSERT_UNKNOWN_MARKETS = `
with incoming as (${INCOMING_MARKETS}
), inserted as (
  insert into markets (${MARKET_COLUMNS}, position)
  select ${MARKET_COLUMNS}, 0 from incoming where ${IS_NEW}
  on conflict (venue, market_id) do nothing
  returning key, venue, market_id
)
select key, venue, market_id from inserted
union all select markets.key, markets.venue, markets.market_id from markets join incoming using (venue, market_id)`;

/**
 * Records the outcome of each newly settled market. Returns the markets whose outcome differs from the stored outcome,
 * to be announced. A market that is already settled when first stored is not announced. The leases stay locked until
 * the transaction ends, so that the market row is written under the same fence.
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

const toVenueMarketId = (venue: string, id: string) => `${venue}\n${id}`;

/**
 * Implements `MarketStore.upsertMarkets`.
 *
 * @param onEventsAppended  called after each commit that appended events to the event log
 */
export async function upsertMarkets(
  database: Database,
  snapshots: readonly MarketSnapshot[],
  fences: readonly VenueFence[] | undefined,
  onEventsAppended: () => void,
): Promise<(number | null)[]> {
  const statement = upsertMarketsSql(fences !== undefined);
  return writeUniqueMarkets(snapshots, async (chunk, keys) => {
    const settledMarkets = chunk.filter(({ listing }) => listing.status === "finalized");
    if (settledMarkets.length === 0) return writeMarkets(database, statement, chunk, keys, fences);
    const appendedCount = await database.transaction(async (transaction) => {
      const events = await announceSettlements(transaction, settledMarkets, fences);
      await writeMarkets(transaction, statement, chunk, keys, fences);
      return appendEvents(transaction, events);
    });
    if (appendedCount > 0) onEventsAppended();
  });
}

/** Implements `MarketStore.insertUnknownMarkets`. */
export function insertUnknownMarkets(
  database: Database,
  snapshots: readonly MarketSnapshot[],
): Promise<(number | null)[]> {
  return writeUniqueMarkets(snapshots, (chunk, keys) => writeMarkets(database, INSERT_UNKNOWN_MARKETS, chunk, keys));
}

async function announceSettlements(
  transaction: Transaction,
  snapshots: readonly MarketSnapshot[],
  fences: readonly VenueFence[] | undefined,
): Promise<NewEvent[]> {
  const rows = await transaction.query<{ venue: string; market_id: string }>(
    announceSettlementsSql(fences !== undefined),
    [
      snapshots.map(({ listing }) => listing.venue),
      snapshots.map(({ listing }) => listing.marketId),
      snapshots.map(({ listing }) => encodeOutcome(listing.outcome)),
      ...fenceParameters(fences),
    ],
  );
  const announcedIds = new Set(rows.map((row) => toVenueMarketId(row.venue, row.market_id)));
  const announced = snapshots.filter(({ listing }) => {
    const { venue, marketId, outcome } = listing;
    const isAnnounced = outcome !== null && announcedIds.has(toVenueMarketId(venue, marketId));
    return isAnnounced && marketId.length <= EVENT_MARKET_ID_LENGTH_MAX;
  });
  if (announced.length === 0) return [];
  const estimates = await readLastEstimates(transaction, announced);
  return announced.flatMap((snapshot, index) => {
    const { outcome } = snapshot.listing;
    return outcome === null ? [] : [createMarketResolvedEvent(snapshot, outcome, estimates[index] ?? null)];
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
    snapshots.map(({ listing }) => (listing.eventId === null ? null : toStorableText(listing.eventId))),
    snapshots.map(({ listing }) => toStorableText(listing.title)),
    snapshots.map(({ listing }) => listing.status),
    snapshots.map(({ quote }) => toStorableTime(quote.receivedAt) ?? 0),
    // JSON escapes NUL and unpaired surrogates, so the text needs no further conversion.
    snapshots.map((snapshot) => JSON.stringify(snapshot)),
    ...fenceParameters(fences),
  ]);
  for (const row of rows) keys.set(toVenueMarketId(row.venue, row.market_id), row.key);
}

/** Writes all snapshots except duplicates and unstorable ids, in chunks. Returns a key or null for each snapshot. */
async function writeUniqueMarkets(
  snapshots: readonly MarketSnapshot[],
  write: (chunk: readonly MarketSnapshot[], keys: MarketKeys) => Promise<void>,
): Promise<(number | null)[]> {
  const uniqueSnapshots = new Map<string, MarketSnapshot>();
  for (const snapshot of snapshots) {
    const { venue, marketId } = snapshot.listing;
    if (isStorableId(marketId) && marketId.isWellFormed())
      uniqueSnapshots.set(toVenueMarketId(venue, marketId), snapshot);
  }
  const keys: MarketKeys = new Map();
  for (const chunk of chunksOf([...uniqueSnapshots.values()], ROWS_PER_STATEMENT_MAX)) await write(chunk, keys);
  return snapshots.map(({ listing }) => keys.get(toVenueMarketId(listing.venue, listing.marketId)) ?? null);
}
