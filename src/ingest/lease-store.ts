import { columnsOf } from "../lib/columns-of.ts";
import { toMillisSql } from "../lib/timestamp-sql.ts";
import type { Database } from "../ports/database.ts";

/** A lease, evaluated by the store's clock. */
export interface LeaseRow {
  readonly name: string;
  readonly holder: string;
  /** Number that increases each time the holder of the lease changes. */
  readonly fence: number;
  /** True if the lease is neither released nor expired. */
  readonly isLive: boolean;
  /** The holder's last report; null before the first. */
  readonly report: string | null;
  /** Milliseconds since the last report; 0 before the first. */
  readonly reportAgeMs: number;
}

export type LeaseView = Awaited<ReturnType<LeaseStore["view"]>>;
export type LeaseStore = ReturnType<typeof createLeaseStore>;

/** Time after which an expired candidate of a crashed node is deleted. */
const EXPIRED_CANDIDATE_RETENTION = "interval '1 hour'";

/**
 * Leases in the store. Each change is one SQL statement that checks the holder. All times come from the store, so
 * clocks of nodes are never compared. Every method throws `store_unavailable` if the store does not respond.
 */
export function createLeaseStore(database: Database) {
  return {
    /** Acquires a lease, unless another node holds it. Returns its fence, or null if another node holds the lease. */
    async acquire(name: string, holder: string, durationMs: number): Promise<number | null> {
      const [row] = await database.query<{ fence: number }>(
        `insert into leases (name, holder, fence, expires_at)
         values ($1, $2, 1, clock_timestamp() + $3::float8 * interval '1 millisecond')
         on conflict (name) do update set
           holder = excluded.holder, expires_at = excluded.expires_at,
           fence = leases.fence + case when leases.holder = excluded.holder then 0 else 1 end
         where leases.holder = excluded.holder or leases.expires_at <= clock_timestamp()
         returning fence`,
        [name, holder, durationMs],
      );
      return row?.fence ?? null;
    },

    /**
     * Renews the leases that `holder` still holds under the given fences and stores their reports; null keeps the
     * stored report. Returns the names of the renewed leases.
     */
    async renew(
      held: readonly { readonly name: string; readonly fence: number; readonly report: string | null }[],
      holder: string,
      durationMs: number,
    ): Promise<ReadonlySet<string>> {
      if (held.length === 0) return new Set();
      const rows = await database.query<{ name: string }>(
        `update leases set expires_at = clock_timestamp() + $2::float8 * interval '1 millisecond',
           report = coalesce(held.report, leases.report),
           reported_at = case when held.report is null then leases.reported_at else clock_timestamp() end
         from unnest($3::text[], $4::int8[], $5::text[]) as held (name, fence, report)
         where leases.name = held.name and leases.fence = held.fence and leases.holder = $1
         returning leases.name`,
        [holder, durationMs, ...columnsOf(held, "name", "fence", "report")],
      );
      return new Set(rows.map(({ name }) => name));
    },

    /** Ends a lease immediately, so that another node need not wait until it expires. */
    async release(name: string, holder: string, fence: number): Promise<void> {
      await database.query(
        "update leases set holder = '', expires_at = clock_timestamp() where name = $1 and holder = $2 and fence = $3",
        [name, holder, fence],
      );
    },

    /** Registers a node as alive for `durationMs`, with the names of the leases that it is eligible for. */
    async announce(candidate: string, names: readonly string[], durationMs: number): Promise<void> {
      await database.query(
        `insert into lease_candidates (candidate, names, expires_at)
         values ($1, $2::text[], clock_timestamp() + $3::float8 * interval '1 millisecond')
         on conflict (candidate) do update set names = excluded.names, expires_at = excluded.expires_at`,
        [candidate, names, durationMs],
      );
    },

    /** Ends the leases and the candidacy of all holders that no longer run, whose ids begin with `prefix`. */
    async releaseAll(prefix: string): Promise<void> {
      await database.query(
        "update leases set holder = '', expires_at = clock_timestamp() where starts_with(holder, $1) and expires_at > clock_timestamp()",
        [prefix],
      );
      await database.query("delete from lease_candidates where starts_with(candidate, $1)", [prefix]);
    },

    async withdraw(candidate: string): Promise<void> {
      await database.query(
        `delete from lease_candidates where candidate = $1 or expires_at < clock_timestamp() - ${EXPIRED_CANDIDATE_RETENTION}`,
        [candidate],
      );
    },

    /** Returns the leases with these names, and all live candidates. */
    async view(names: readonly string[]) {
      const leases = await database.query<LeaseRow>(
        `select name, holder, fence, expires_at > clock_timestamp() as "isLive", report,
           greatest(0, ${toMillisSql("clock_timestamp() - reported_at")}) as "reportAgeMs"
         from leases where name = any($1::text[]) order by name`,
        [names],
      );
      const candidates = await database.query<{ candidate: string; names: string[] }>(
        "select candidate, names from lease_candidates where expires_at > clock_timestamp() order by candidate",
      );
      return { leases, candidates };
    },
  };
}
