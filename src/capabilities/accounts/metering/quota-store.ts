import type { Tier } from "../../../domain/plan.ts";
import { columnsOf } from "../../../lib/columns-of.ts";
import type { Database } from "../../../ports/database.ts";
import type { JournalEntry } from "../../../ports/quota-journal.ts";

/** A customer's quota of one tier. */
export interface QuotaAccount {
  readonly customerId: string;
  readonly tier: Tier;
}

/** Quota units that the store has granted in advance. */
export interface GrantedBlock {
  /** Null for a single unit, which counts as used when it is granted and needs no settlement. */
  readonly blockId: number | null;
  readonly size: number;
  /** First day of the month that the units belong to, for example "2026-11-01". */
  readonly month: string;
}

export interface QuotaGrant {
  /** Empty if no unit is left. */
  readonly blocks: readonly GrantedBlock[];
  /** Units of the month that are spent or in blocks, including those of this grant. */
  readonly takenUnits: number;
  /** Milliseconds from now until the month ends, by the store's clock. */
  readonly monthEndsInMs: number;
  /** First day of the next month. */
  readonly resetsOn: string;
}

export interface ReleasedUnits {
  readonly account: QuotaAccount;
  readonly month: string;
  readonly units: number;
}

const MONTH_SQL = "date_trunc('month', now() at time zone 'utc')";
const RESETS_ON_SQL = `to_char(${MONTH_SQL} + interval '1 month', 'YYYY-MM-DD')`;

/** Retention of release serials. A node never repeats a serial after this time. */
const RELEASE_SERIAL_RETENTION = "1 month";
/** SQL that frees the unspent units of the blocks in `ended`. */
const FREE_UNSPENT_SQL = `free as (
           select customer_id, month, tier, sum(unspent) as units from ended group by 1, 2, 3
         )
         update quota_months as held set taken = held.taken - free.units from free
         where (held.customer_id, held.month, held.tier) = (free.customer_id, free.month, free.tier)`;

/** SQL for the number of units to grant when `free` units are left. */
const grantedUnitsSql = (free: string) =>
  `case when ${free} >= $7::int8 then (greatest(1, least($8::int8, ${free} / (16 * $6::int4))) * $6::int4)::int4 else 1 end`;

/** $1 customer, $2 tier, $3 limit, $4 node, $5 lease in ms, $6 units per block, $7 single units below, $8 blocks. */
const TAKE_BLOCKS_SQL = `with granted as (
  insert into quota_months as held (customer_id, month, tier, taken, last_grant)
  select $1, ${MONTH_SQL}::date, $2, unit.size, unit.size
  from (select ${grantedUnitsSql("$3::int8")} as size) as unit
  where $3::int8 > 0
  on conflict (customer_id, month, tier) do update set
    taken = held.taken + ${grantedUnitsSql("($3::int8 - held.taken)")},
    last_grant = ${grantedUnitsSql("($3::int8 - held.taken)")}
  where held.taken < $3::int8
  returning held.customer_id, held.month, held.tier, held.taken, held.last_grant
), block as (
  insert into quota_blocks (customer_id, month, tier, node_id, size, spent, expires_at)
  select customer_id, month, tier, $4, $6::int4, 0, now() + $5::float8 * interval '1 millisecond'
  from granted cross join generate_series(1, last_grant / $6::int4) where last_grant > 1
  returning block_id
)
select block.block_id as "blockId", case when granted.last_grant > 1 then $6::int4 else granted.last_grant end as size, to_char(${MONTH_SQL}, 'YYYY-MM-DD') as month,
  coalesce(
    granted.taken,
    (select taken from quota_months where customer_id = $1 and tier = $2 and month = ${MONTH_SQL}::date),
    0
  )::int8 as "takenUnits",
  extract(epoch from (${MONTH_SQL} + interval '1 month') - (now() at time zone 'utc'))::float8 * 1000 as "monthEndsInMs",
  ${RESETS_ON_SQL} as "resetsOn"
from (values (1)) as always left join granted on true left join block on true`;

export type QuotaStore = ReturnType<typeof createQuotaStore>;

/** Monthly quota units in the database. Each operation is a single statement, so it needs no transaction. */
export function createQuotaStore(database: Database) {
  return {
    /**
     * Grants blocks of `sizeMax` units if at least `singleUnitsBelow` units are free, otherwise single units. Grants at
     * most `blocks` blocks and at most a sixteenth of the free units, but at least one block or unit.
     *
     * @param options.blocks  at least 1
     */
    async takeBlocks(
      { customerId, tier }: QuotaAccount,
      options: { readonly nodeId: string } & Readonly<
        Record<"limit" | "leaseMs" | "sizeMax" | "singleUnitsBelow" | "blocks", number>
      >,
    ): Promise<QuotaGrant> {
      const { limit, nodeId, leaseMs, sizeMax, singleUnitsBelow, blocks } = options;
      const rows = await database.query<
        Omit<QuotaGrant, "blocks"> & { blockId: number | null; size: number | null; month: string }
      >(TAKE_BLOCKS_SQL, [customerId, tier, limit, nodeId, leaseMs, sizeMax, singleUnitsBelow, blocks]);
      const [row] = rows;
      if (row === undefined) throw new Error("the quota statement returned no row");
      const { takenUnits, monthEndsInMs, resetsOn } = row;
      const granted = rows.flatMap(({ blockId, size, month }) => (size === null ? [] : [{ blockId, size, month }]));
      return { blocks: granted, takenUnits, monthEndsInMs, resetsOn };
    },

    /** Stores the spent units of blocks and renews their leases. */
    async renewBlocks(entries: readonly JournalEntry[], leaseMs: number): Promise<void> {
      await database.query(
        `update quota_blocks as block set spent = reported.spent, expires_at = now() + $3::float8 * interval '1 millisecond'
         from unnest($1::int8[], $2::int4[]) as reported (block_id, spent) where block.block_id = reported.block_id`,
        [...columnsOf(entries, "blockId", "spent"), leaseMs],
      );
    },

    /** Deletes blocks of this node and frees their unspent units. */
    async returnBlocks(nodeId: string, entries: readonly JournalEntry[]): Promise<void> {
      await database.query(
        `with ended as (
           delete from quota_blocks as block using unnest($1::int8[], $2::int4[]) as reported (block_id, spent)
           where block.block_id = reported.block_id and block.node_id = $3
           returning block.customer_id, block.month, block.tier, block.size - reported.spent as unspent
         ), ${FREE_UNSPENT_SQL}`,
        [...columnsOf(entries, "blockId", "spent"), nodeId],
      );
    },

    /**
     * Deletes a dead node's blocks that are in its journal, and those without reported spending, and frees their unspent
     * units. At least the reported units of a block count as spent, because the journal may be outdated after a power
     * cut.
     */
    async returnBlocksOfDeadNode(nodeId: string, journal: readonly JournalEntry[]): Promise<void> {
      await database.query(
        `with reported as (
           select block_id, max(spent) as spent from unnest($1::int8[], $2::int4[]) as reported (block_id, spent) group by 1
         ), ended as (
           delete from quota_blocks as block
           where node_id = $3 and (spent = 0 or block_id in (select block_id from reported))
           returning customer_id, month, tier,
             size - greatest(spent, (select spent from reported where reported.block_id = block.block_id)) as unspent
         ), ${FREE_UNSPENT_SQL}`,
        [...columnsOf(journal, "blockId", "spent"), nodeId],
      );
    },

    /** This node's blocks with an expired lease, for example because the response to the grant was lost. */
    findExpiredBlocks: (nodeId: string) =>
      database.query<{ blockId: number; customerId: string; tier: Tier }>(
        `select block_id as "blockId", customer_id as "customerId", tier from quota_blocks
         where expires_at < now() and node_id = $1`,
        [nodeId],
      ),

    /**
     * Frees spent units whose blocks are already deleted.
     *
     * @param serial  increases with each release of the node; a repeated serial has no effect
     */
    async releaseUnits(nodeId: string, serial: number, units: readonly ReleasedUnits[]): Promise<void> {
      const rows = units.map(({ account, ...released }) => ({ ...account, ...released }));
      await database.query(
        `with accepted as (
           insert into quota_releases as before (node_id, last_release, released_at) values ($1, $2, now())
           on conflict (node_id) do update set last_release = excluded.last_release, released_at = now()
           where before.last_release < excluded.last_release
           returning node_id
         )
         update quota_months as held set taken = held.taken - freed.units
         from unnest($3::text[], $4::text[], $5::date[], $6::int8[]) as freed (customer_id, tier, month, units), accepted
         where (held.customer_id, held.tier, held.month) = (freed.customer_id, freed.tier, freed.month)
           and held.taken >= freed.units`,
        [nodeId, serial, ...columnsOf(rows, "customerId", "tier", "month", "units")],
      );
    },

    /** Deletes expired blocks of past months and release serials older than a month. Returns the deleted blocks. */
    async sweep(): Promise<number> {
      const rows = await database.query(
        `with deleted_serials as (delete from quota_releases where released_at < now() - interval '${RELEASE_SERIAL_RETENTION}')
         delete from quota_blocks where expires_at < now() and month < ${MONTH_SQL}::date returning block_id`,
      );
      return rows.length;
    },

    /**
     * Units used in the current month, by tier; tiers that were never used are omitted. If a node's lease has expired,
     * all units of its blocks count as used so that the limit holds, until the node returns and settles them exactly.
     * `resetsOn` is the first day of the next month.
     */
    async usage(customerId: string) {
      const rows = await database.query<{ tier: Tier | null; used: number; resets_on: string }>(
        `with usage as (
           select held.tier, (held.taken - coalesce(sum(block.size - block.spent), 0))::int8 as used
           from quota_months as held
           left join quota_blocks as block on expires_at > now()
             and (block.customer_id, block.month, block.tier) = (held.customer_id, held.month, held.tier)
           where held.customer_id = $1 and held.month = ${MONTH_SQL}::date
           group by held.tier, held.taken
         )
         select usage.tier, usage.used, ${RESETS_ON_SQL} as resets_on
         from (values (1)) as always left join usage on true`,
        [customerId],
      );
      const used = rows.flatMap(({ tier, used }) => (tier === null ? [] : [[tier, used] as const]));
      return { used: Object.fromEntries(used) as Partial<Record<Tier, number>>, resetsOn: rows[0]?.resets_on ?? "" };
    },
  };
}
