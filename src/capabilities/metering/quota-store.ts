import type { Tier } from "../../domain/plan.ts";
import type { Database } from "../../ports/database.ts";
import type { JournalEntry } from "../../ports/spend-journal.ts";

/** Whose units, and of which kind. */
export interface QuotaAccount {
  readonly customerId: string;
  readonly tier: Tier;
}

/** Units taken from the month before they are used. */
export interface TakenBlock {
  /** Null for a single unit: it counts as used from now on, so there is nothing to settle later. */
  readonly blockId: number | null;
  readonly size: number;
  /** First day of the month that they belong to, for example "2026-11-01". */
  readonly month: string;
  /** Units of the month that are spent or in blocks now, these included. */
  readonly taken: number;
  /** Milliseconds from now until the month ends, by the store's clock. */
  readonly monthEndsInMs: number;
}

/** Where the month's units are kept. Every statement stands alone, so no isolation level matters. */
export interface QuotaStore {
  /**
   * Takes a block: `sizeMax` units while at least `singlesBelow` are free, one at a time below. Null when none is left.
   */
  take(account: QuotaAccount, options: TakeOptions): Promise<TakenBlock | null>;
  /** Tells what is spent of blocks and keeps them for another lease; gives the ids of those that still live. */
  renew(entries: readonly JournalEntry[], leaseMs: number): Promise<ReadonlySet<number>>;
  /** Ends blocks; what is not spent of them is free again. */
  giveBack(entries: readonly JournalEntry[]): Promise<void>;
  /** Frees one unit that was spent from a block that has ended since. */
  release(account: QuotaAccount, month: string): Promise<void>;
  /**
   * Ends blocks whose lease is over. Their node cannot be asked what it spent since it last said so, so what it might
   * have spent counts as spent: the limit is never passed. A node that comes back settles its own blocks exactly.
   */
  sweep(): Promise<number>;
  /** Units used in the running month, by tier. */
  usage(customerId: string): Promise<Readonly<Partial<Record<Tier, number>>>>;
}

export interface TakeOptions {
  readonly limit: number;
  readonly nodeId: string;
  readonly leaseMs: number;
  readonly sizeMax: number;
  readonly singlesBelow: number;
}

const MONTH = "date_trunc('month', now() at time zone 'utc')";

export function createQuotaStore(database: Database): QuotaStore {
  return {
    async take({ customerId, tier }, { limit, nodeId, leaseMs, sizeMax, singlesBelow }) {
      const [row] = await database.query<{
        block_id: number | null;
        size: number;
        month: string;
        taken: number;
        ends_in_ms: number;
      }>(
        `with granted as (
           insert into quota_months as held (customer_id, month, tier, taken, last_grant)
           select $1, ${MONTH}::date, $2, unit.size, unit.size
           from (select case when $3::int8 >= $7::int8 then $6::int4 else 1 end as size) as unit
           where $3::int8 > 0
           on conflict (customer_id, month, tier) do update set
             taken = held.taken + case when $3::int8 - held.taken >= $7::int8 then $6::int4 else 1 end,
             last_grant = case when $3::int8 - held.taken >= $7::int8 then $6::int4 else 1 end
           where held.taken < $3::int8
           returning held.customer_id, held.month, held.tier, held.taken, held.last_grant
         ), block as (
           insert into quota_blocks (customer_id, month, tier, node_id, size, spent, expires_at)
           select customer_id, month, tier, $4, last_grant, 0, now() + $5::float8 * interval '1 millisecond'
           from granted where last_grant > 1
           returning block_id
         )
         select block.block_id, granted.last_grant as size, to_char(granted.month, 'YYYY-MM-DD') as month, granted.taken,
           extract(epoch from (${MONTH} + interval '1 month') - (now() at time zone 'utc'))::float8 * 1000 as ends_in_ms
         from granted left join block on true`,
        [customerId, tier, limit, nodeId, leaseMs, sizeMax, singlesBelow],
      );
      if (row === undefined) return null;
      const { block_id: blockId, size, month, taken, ends_in_ms: monthEndsInMs } = row;
      return { blockId, size, month, taken, monthEndsInMs };
    },

    async renew(entries, leaseMs) {
      const rows = await database.query<{ block_id: number }>(
        `update quota_blocks as block set spent = told.spent, expires_at = now() + $3::float8 * interval '1 millisecond'
         from unnest($1::int8[], $2::int4[]) as told (block_id, spent) where block.block_id = told.block_id
         returning block.block_id`,
        [...columns(entries), leaseMs],
      );
      return new Set(rows.map((row) => row.block_id));
    },

    async giveBack(entries) {
      await database.query(
        `with ended as (
           delete from quota_blocks as block using unnest($1::int8[], $2::int4[]) as told (block_id, spent)
           where block.block_id = told.block_id
           returning block.customer_id, block.month, block.tier, block.size - told.spent as unspent
         ), free as (
           select customer_id, month, tier, sum(unspent) as units from ended group by 1, 2, 3
         )
         update quota_months as held set taken = held.taken - free.units from free
         where (held.customer_id, held.month, held.tier) = (free.customer_id, free.month, free.tier)`,
        columns(entries),
      );
    },

    async release({ customerId, tier }, month) {
      await database.query(
        `update quota_months set taken = taken - 1
         where customer_id = $1 and tier = $2 and month = $3::date and taken > 0`,
        [customerId, tier, month],
      );
    },

    async sweep() {
      const rows = await database.query("delete from quota_blocks where expires_at < now() returning block_id");
      return rows.length;
    },

    async usage(customerId) {
      const rows = await database.query<{ tier: Tier; used: number }>(
        `select held.tier, (held.taken - coalesce(sum(block.size - block.spent), 0))::int8 as used
         from quota_months as held
         left join quota_blocks as block using (customer_id, month, tier)
         where held.customer_id = $1 and held.month = ${MONTH}::date
         group by held.tier, held.taken`,
        [customerId],
      );
      return Object.fromEntries(rows.map(({ tier, used }) => [tier, used]));
    },
  };
}

const columns = (entries: readonly JournalEntry[]): [number[], number[]] => [
  entries.map(({ blockId }) => blockId),
  entries.map(({ spent }) => spent),
];
