import { toTimestampSql } from "../../../lib/timestamp-sql.ts";
import type { Database, Transaction } from "../../../ports/database.ts";

type QueryDatabase = Pick<Database, "query">;
type QueryRunner = QueryDatabase | Transaction;

/** Maximum number of sessions per customer; a further session ends the least recently used one. */
const SESSIONS_MAX = 20;
/** Maximum number of expired sessions that one new session deletes, so that the table stays bounded. */
const DELETED_SESSIONS_MAX = 100;

/** Stores the only sign-in link of the customer with this e-mail address. Returns the customer id, or null if there is none. */
export async function upsertLink(
  queryRunner: QueryRunner,
  link: { readonly email: string; readonly tokenHash: Uint8Array; readonly expiresAt: number },
): Promise<string | null> {
  const [row] = await queryRunner.query<{ customer_id: string }>(
    `insert into sign_in_links (customer_id, token_hash, expires_at)
     select customer_id, $2::bytea, ${toTimestampSql("$3")} from customers where email = $1 and status <> 'canceled'
     on conflict (customer_id) do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at
     returning customer_id`,
    [link.email, link.tokenHash, link.expiresAt],
  );
  return row?.customer_id ?? null;
}

/**
 * Consumes an unexpired link and returns its customer. If called concurrently, exactly one call succeeds. Locks the
 * customer first, in the same order as disabling a customer, so that no session can start while a customer is being
 * disabled.
 */
export async function takeLink(transaction: Transaction, tokenHash: Uint8Array, now: number): Promise<string | null> {
  const [customer] = await transaction.query(
    `select customers.customer_id from sign_in_links join customers using (customer_id)
     where token_hash = $1 and expires_at > ${toTimestampSql("$2")} and status <> 'canceled' for share of customers`,
    [tokenHash, now],
  );
  if (customer === undefined) return null;
  const [link] = await transaction.query<{ customer_id: string }>(
    "delete from sign_in_links where token_hash = $1 returning customer_id",
    [tokenHash],
  );
  return link?.customer_id ?? null;
}

/** Returns the e-mail address of a link's customer, or null if the link is invalid or expired. */
export async function selectLinkEmail(
  database: QueryDatabase,
  tokenHash: Uint8Array,
  now: number,
): Promise<string | null> {
  const [row] = await database.query<{ email: string }>(
    `select email from sign_in_links join customers using (customer_id)
     where token_hash = $1 and expires_at > ${toTimestampSql("$2")} and status <> 'canceled'`,
    [tokenHash, now],
    "request",
  );
  return row?.email ?? null;
}

export async function insertSession(
  transaction: Transaction,
  session: { readonly sessionId: string; readonly tokenHash: Uint8Array; readonly customerId: string },
  now: number,
): Promise<void> {
  await transaction.query(
    `insert into sessions (session_id, token_hash, customer_id, started_at, proven_at, last_seen_at)
     values ($1, $2, $3, ${toTimestampSql("$4")}, ${toTimestampSql("$4")}, ${toTimestampSql("$4")})`,
    [session.sessionId, session.tokenHash, session.customerId, now],
  );
  await transaction.query(
    `delete from sessions where session_id in (
       select session_id from sessions where customer_id = $1 and session_id <> $2
       order by last_seen_at desc offset ${SESSIONS_MAX - 1})`,
    [session.customerId, session.sessionId],
  );
}

/** Deletes sessions last used before a timestamp. Skips rows that a concurrent call is deleting. */
export async function deleteExpiredSessions(transaction: Transaction, before: number): Promise<void> {
  await transaction.query(
    `delete from sessions where session_id in (
       select session_id from sessions where last_seen_at < ${toTimestampSql("$1")} limit ${DELETED_SESSIONS_MAX} for update skip locked)`,
    [before],
  );
}

/** Active sessions were last used and started after these timestamps (Unix milliseconds). */
interface ActiveSessionBounds {
  readonly lastSeen: number;
  readonly started: number;
}

/** Finds an active session of an active customer. */
export async function selectSession(database: QueryDatabase, tokenHash: Uint8Array, bounds: ActiveSessionBounds) {
  const [row] = await database.query<{ sessionId: string; customerId: string; provenAt: Date; lastSeenAt: Date }>(
    `select session_id as "sessionId", customer_id as "customerId", proven_at as "provenAt",
       last_seen_at as "lastSeenAt"
     from sessions join customers using (customer_id)
     where token_hash = $1 and last_seen_at > ${toTimestampSql("$2")} and started_at > ${toTimestampSql("$3")}
       and customers.status <> 'canceled'`,
    [tokenHash, bounds.lastSeen, bounds.started],
    "request",
  );
  return row ?? null;
}

/** Lists the active sessions of a customer, most recently used first. */
export async function selectSessions(database: QueryDatabase, customerId: string, bounds: ActiveSessionBounds) {
  return database.query<{ sessionId: string; startedAt: Date; lastSeenAt: Date }>(
    `select session_id as "sessionId", started_at as "startedAt", last_seen_at as "lastSeenAt" from sessions
     where customer_id = $1 and last_seen_at > ${toTimestampSql("$2")} and started_at > ${toTimestampSql("$3")}
     order by last_seen_at desc, session_id limit ${SESSIONS_MAX}`,
    [customerId, bounds.lastSeen, bounds.started],
    "request",
  );
}

export async function updateLastSeen(queryRunner: QueryRunner, sessionId: string, now: number): Promise<void> {
  await queryRunner.query(
    `update sessions set last_seen_at = ${toTimestampSql("$2")} where session_id = $1 and last_seen_at < ${toTimestampSql("$2")}`,
    [sessionId, now],
  );
}

export async function markReauthenticated(queryRunner: Transaction, sessionId: string, now: number): Promise<void> {
  await queryRunner.query(`update sessions set proven_at = ${toTimestampSql("$2")} where session_id = $1`, [
    sessionId,
    now,
  ]);
}

/** Deletes and returns a session, or returns null. If called concurrently, exactly one call returns the session. */
export async function deleteSession(
  transaction: Transaction,
  tokenHash: Uint8Array,
): Promise<{ readonly sessionId: string; readonly customerId: string } | null> {
  const [row] = await transaction.query<{ sessionId: string; customerId: string }>(
    'delete from sessions where token_hash = $1 returning session_id as "sessionId", customer_id as "customerId"',
    [tokenHash],
  );
  return row ?? null;
}

/** Locks an active customer until the end of the transaction, so that it cannot be disabled or deleted meanwhile. */
export async function lockActiveCustomer(transaction: Transaction, customerId: string): Promise<boolean> {
  const rows = await transaction.query(
    "select 1 from customers where customer_id = $1 and status <> 'canceled' for share",
    [customerId],
  );
  return rows.length > 0;
}

/**
 * Deletes the sign-in link and all sessions of a customer except one. Returns the number of deleted sessions, or null if
 * that one session has ended.
 */
export async function endOtherSessions(
  transaction: Transaction,
  { customerId, sessionId }: { readonly customerId: string; readonly sessionId: string },
): Promise<number | null> {
  const ownSession = await transaction.query("select 1 from sessions where session_id = $1 for update", [sessionId]);
  if (ownSession.length === 0) return null;
  await transaction.query("delete from sign_in_links where customer_id = $1", [customerId]);
  const deletedSessions = await transaction.query(
    "delete from sessions where customer_id = $1 and session_id <> $2 returning session_id",
    [customerId, sessionId],
  );
  return deletedSessions.length;
}

/** Deletes all sessions and the sign-in link of a customer. Returns the number of sessions. */
export async function endSessions(transaction: Transaction, customerId: string): Promise<number> {
  await transaction.query("delete from sign_in_links where customer_id = $1", [customerId]);
  const deletedSessions = await transaction.query("delete from sessions where customer_id = $1 returning session_id", [
    customerId,
  ]);
  return deletedSessions.length;
}
