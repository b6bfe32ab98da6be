import type { Database, Transaction } from "../../ports/database.ts";

type Reader = Pick<Database, "query">;
type Store = Reader | Transaction;

/** Of one customer; the longest unused ends when another begins. */
const SESSIONS_MAX = 20;
/** How many long dead sessions each new one clears away, so that the table cannot grow for ever. */
const SWEPT_MAX = 100;

const instant = (parameter: string) => `to_timestamp(${parameter}::float8 / 1000)`;

/** Stores the one link of whoever has this address and may sign in; null where nobody has. */
export async function upsertLink(
  store: Store,
  link: { readonly email: string; readonly tokenHash: Uint8Array; readonly expiresAt: number },
): Promise<string | null> {
  const [row] = await store.query<{ customer_id: string }>(
    `insert into sign_in_links (customer_id, token_hash, expires_at)
     select customer_id, $2::bytea, ${instant("$3")} from customers where email = $1 and status <> 'canceled'
     on conflict (customer_id) do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at
     returning customer_id`,
    [link.email, link.tokenHash, link.expiresAt],
  );
  return row?.customer_id ?? null;
}

/**
 * Takes a living link away and gives whose it was; of several who try, one gets it. The customer is locked first, in the
 * order in which disabling does it: no session begins behind its back.
 */
export async function takeLink(transaction: Transaction, tokenHash: Uint8Array, now: number): Promise<string | null> {
  const [owner] = await transaction.query(
    `select customers.customer_id from sign_in_links join customers using (customer_id)
     where token_hash = $1 and expires_at > ${instant("$2")} and status <> 'canceled' for share of customers`,
    [tokenHash, now],
  );
  if (owner === undefined) return null;
  const [taken] = await transaction.query<{ customer_id: string }>(
    "delete from sign_in_links where token_hash = $1 returning customer_id",
    [tokenHash],
  );
  return taken?.customer_id ?? null;
}

/** The address of whoever a living link signs in; null where it does not live. */
export async function selectLinkEmail(database: Reader, tokenHash: Uint8Array, now: number): Promise<string | null> {
  const [row] = await database.query<{ email: string }>(
    `select email from sign_in_links join customers using (customer_id)
     where token_hash = $1 and expires_at > ${instant("$2")} and status <> 'canceled'`,
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
     values ($1, $2, $3, ${instant("$4")}, ${instant("$4")}, ${instant("$4")})`,
    [session.sessionId, session.tokenHash, session.customerId, now],
  );
  await transaction.query(
    `delete from sessions where session_id in (
       select session_id from sessions where customer_id = $1 and session_id <> $2
       order by last_seen_at desc offset ${SESSIONS_MAX - 1})`,
    [session.customerId, session.sessionId],
  );
}

/** Clears away sessions that were last used before an instant; those that somebody else is clearing are left to him. */
export async function sweepSessions(transaction: Transaction, before: number): Promise<void> {
  await transaction.query(
    `delete from sessions where session_id in (
       select session_id from sessions where last_seen_at < ${instant("$1")} limit ${SWEPT_MAX} for update skip locked)`,
    [before],
  );
}

export interface SessionRow extends Record<string, unknown> {
  readonly session_id: string;
  readonly customer_id: string;
  readonly proven_at: Date;
  readonly last_seen_at: Date;
}

/** When a session must have been seen and begun to live still. */
interface After {
  readonly seen: number;
  readonly started: number;
}

/** A living session of a customer that may sign in. */
export async function selectSession(database: Reader, tokenHash: Uint8Array, after: After): Promise<SessionRow | null> {
  const [row] = await database.query<SessionRow>(
    `select session_id, customer_id, proven_at, last_seen_at from sessions join customers using (customer_id)
     where token_hash = $1 and last_seen_at > ${instant("$2")} and started_at > ${instant("$3")}
       and customers.status <> 'canceled'`,
    [tokenHash, after.seen, after.started],
    "request",
  );
  return row ?? null;
}

/** The living sessions of a customer, the one last used first. */
export async function selectSessions(database: Reader, customerId: string, after: After) {
  return database.query<{ session_id: string; started_at: Date; last_seen_at: Date }>(
    `select session_id, started_at, last_seen_at from sessions
     where customer_id = $1 and last_seen_at > ${instant("$2")} and started_at > ${instant("$3")}
     order by last_seen_at desc, session_id limit ${SESSIONS_MAX}`,
    [customerId, after.seen, after.started],
    "request",
  );
}

export async function touchSession(store: Store, sessionId: string, now: number): Promise<void> {
  await store.query(
    `update sessions set last_seen_at = ${instant("$2")} where session_id = $1 and last_seen_at < ${instant("$2")}`,
    [sessionId, now],
  );
}

export async function proveSession(store: Transaction, sessionId: string, now: number): Promise<void> {
  await store.query(`update sessions set proven_at = ${instant("$2")} where session_id = $1`, [sessionId, now]);
}

/** Gives which session it was; null where there was none: of several who end it, one did. */
export async function deleteSession(
  transaction: Transaction,
  tokenHash: Uint8Array,
): Promise<{ readonly sessionId: string; readonly customerId: string } | null> {
  const [row] = await transaction.query<{ session_id: string; customer_id: string }>(
    "delete from sessions where token_hash = $1 returning session_id, customer_id",
    [tokenHash],
  );
  return row === undefined ? null : { sessionId: row.session_id, customerId: row.customer_id };
}

/** Ends every session and the link of a customer, in the transaction of what makes them end; gives how many sessions. */
export async function endSessions(transaction: Transaction, customerId: string): Promise<number> {
  await transaction.query("delete from sign_in_links where customer_id = $1", [customerId]);
  const ended = await transaction.query("delete from sessions where customer_id = $1 returning session_id", [
    customerId,
  ]);
  return ended.length;
}
