import type { Database } from "../ports/database.ts";

/** A lease as the store has it now, by the store's own clock. */
export interface LeaseRow {
  readonly name: string;
  readonly holder: string;
  /** Rises with every take-over by another holder. */
  readonly fence: number;
  /** Not released and not run out. */
  readonly isLive: boolean;
  /** What the holder last told of its work, and how long ago; null before it told anything. */
  readonly report: string | null;
  readonly reportAgeMs: number | null;
}

/** A node that is alive and would take any of these leases. */
export interface LeaseCandidate {
  readonly candidate: string;
  readonly names: readonly string[];
}

export interface LeaseView {
  readonly leases: readonly LeaseRow[];
  readonly candidates: readonly LeaseCandidate[];
}

/**
 * Leases in the store. Every decision is one conditional statement, and time is the store's: the clocks of nodes are
 * never compared. Every method throws `store_unavailable` when the store gives no answer.
 */
export interface LeaseStore {
  /** Takes a lease that is free, or already the holder's own; gives its fence, or null when another holds it. */
  take(name: string, holder: string, durationMs: number): Promise<number | null>;
  /** Prolongs those that are still the holder's under the same fence and notes its reports; gives their names. */
  renew(
    held: readonly { readonly name: string; readonly fence: number; readonly report: string | null }[],
    holder: string,
    durationMs: number,
  ): Promise<ReadonlySet<string>>;
  /** Ends a lease at once, so that another need not wait for it to run out. */
  release(name: string, holder: string, fence: number): Promise<void>;
  /** Says that this node is alive and which leases it would take. */
  announce(candidate: LeaseCandidate, durationMs: number): Promise<void>;
  withdraw(candidate: string): Promise<void>;
  /** The leases of these names and every living candidate. */
  view(names: readonly string[]): Promise<LeaseView>;
}

/** Nodes that ended without a word are forgotten this much later than they were last counted. */
const CANDIDATE_KEPT = "interval '1 hour'";

export function createLeaseStore(database: Database): LeaseStore {
  return {
    async take(name, holder, durationMs) {
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

    async renew(held, holder, durationMs) {
      if (held.length === 0) return new Set();
      const rows = await database.query<{ name: string }>(
        `update leases set expires_at = clock_timestamp() + $2::float8 * interval '1 millisecond',
           report = coalesce(mine.report, leases.report),
           reported_at = case when mine.report is null then leases.reported_at else clock_timestamp() end
         from unnest($3::text[], $4::int8[], $5::text[]) as mine (name, fence, report)
         where leases.name = mine.name and leases.fence = mine.fence and leases.holder = $1
         returning leases.name`,
        [
          holder,
          durationMs,
          held.map(({ name }) => name),
          held.map(({ fence }) => fence),
          held.map(({ report }) => report),
        ],
      );
      return new Set(rows.map(({ name }) => name));
    },

    async release(name, holder, fence) {
      await database.query(
        "update leases set holder = '', expires_at = clock_timestamp() where name = $1 and holder = $2 and fence = $3",
        [name, holder, fence],
      );
    },

    async announce({ candidate, names }, durationMs) {
      await database.query(
        `insert into lease_candidates (candidate, names, expires_at)
         values ($1, $2::text[], clock_timestamp() + $3::float8 * interval '1 millisecond')
         on conflict (candidate) do update set names = excluded.names, expires_at = excluded.expires_at`,
        [candidate, names, durationMs],
      );
    },

    async withdraw(candidate) {
      await database.query(
        `delete from lease_candidates where candidate = $1 or expires_at < clock_timestamp() - ${CANDIDATE_KEPT}`,
        [candidate],
      );
    },

    async view(names) {
      const leases = await database.query<{
        name: string;
        holder: string;
        fence: number;
        is_live: boolean;
        report: string | null;
        report_age_ms: number | null;
      }>(
        `select name, holder, fence, expires_at > clock_timestamp() as is_live, report,
           (extract(epoch from clock_timestamp() - reported_at) * 1000)::float8 as report_age_ms
         from leases where name = any($1::text[]) order by name`,
        [names],
      );
      const candidates = await database.query<{ candidate: string; names: string[] }>(
        "select candidate, names from lease_candidates where expires_at > clock_timestamp() order by candidate",
      );
      return {
        leases: leases.map(({ is_live, report_age_ms, ...row }) => ({
          ...row,
          isLive: is_live,
          reportAgeMs: report_age_ms === null ? null : Math.max(0, report_age_ms),
        })),
        candidates,
      };
    },
  };
}
