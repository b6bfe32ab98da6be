import { type Allowance, allowanceOf, type Plan } from "../../../domain/plan.ts";
import { deleteRows } from "../../../lib/delete-in-batches.ts";
import { toTimestampSql } from "../../../lib/timestamp-sql.ts";
import type { Database, Transaction } from "../../../ports/database.ts";
import {
  type Account,
  type Actor,
  type AuditEntry,
  type CustomerStatus,
  type CustomerSummary,
  type KeyView,
  LISTED_KEYS_MAX,
} from "./model.ts";

type QueryRunner = Pick<Database, "query"> | Transaction;

export interface CustomerRow extends Record<string, unknown> {
  readonly customer_id: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly plan: Plan;
  readonly status: CustomerStatus;
  readonly created_at: Date;
  readonly quotas: Partial<Allowance["quotas"]> | null;
  readonly rate_limits: Partial<Allowance["rateLimits"]> | null;
}

/** The format of all ids. Other values are rejected without a query, because PostgreSQL rejects some (NUL bytes). */
const ID_PATTERN = /^[a-z0-9-]{1,64}$/;
const CUSTOMER_COLUMNS = "customer_id, email, name, plan, status, created_at, quotas, rate_limits";
/** Columns that are selected as the fields of `KeyView`. */
const KEY_COLUMNS = `key_id as "keyId", name, prefix, created_at as "createdAt", last_used_at as "lastUsedAt",
  revoked_at as "revokedAt"`;
const KEY_ORDER = "revoked_at is null desc, created_at desc, key_id";

/** Selects an account by id or by canonical e-mail address. */
export async function selectAccount(
  database: Pick<Database, "query">,
  identifier: { readonly customerId: string } | { readonly email: string },
): Promise<Account | null> {
  const [column, value] = "email" in identifier ? ["email", identifier.email] : ["customer_id", identifier.customerId];
  if (column === "customer_id" && !ID_PATTERN.test(value)) return null;
  const select = `select ${CUSTOMER_COLUMNS} from customers where ${column} = $1`;
  const [row] = await database.query<CustomerRow>(select, [value], "request");
  if (row === undefined) return null;
  const keys = await database.query<KeyView>(
    `select ${KEY_COLUMNS} from api_keys where customer_id = $1 order by ${KEY_ORDER} limit ${LISTED_KEYS_MAX}`,
    [row.customer_id],
    "request",
  );
  const { customer_id: customerId, created_at: createdAt, quotas, rate_limits: rateLimits } = row;
  const { email, name, plan, status } = row;
  const customLimits = { quotas: quotas ?? {}, rateLimits: rateLimits ?? {} };
  const allowance = allowanceOf(plan, { quotas, rateLimits });
  return { customerId, email, name, plan, status, createdAt, allowance, customLimits, keys };
}

export async function selectCustomers(
  queryRunner: QueryRunner,
  options: Partial<Pick<Account, "plan" | "status">> & { readonly limit: number; readonly after?: string },
): Promise<readonly CustomerSummary[]> {
  return queryRunner.query<CustomerSummary>(
    `select customer_id as "customerId", email, name, plan, status, created_at as "createdAt",
       (select count(*) from api_keys k where k.customer_id = c.customer_id and revoked_at is null) as "activeKeyCount"
     from customers c
     where customer_id > $1 and ($2::text is null or plan = $2) and ($3::text is null or status = $3)
     order by customer_id limit $4`,
    [options.after ?? "", options.plan ?? null, options.status ?? null, options.limit],
  );
}

/** Selects the customer and locks the row until the end of the transaction. */
export async function lockCustomer(transaction: Transaction, customerId: string): Promise<CustomerRow | null> {
  const [row] = await transaction.query<CustomerRow>(
    `select ${CUSTOMER_COLUMNS} from customers where customer_id = $1 for update`,
    [customerId],
  );
  return row ?? null;
}

/**
 * Locks the customer until the end of the transaction. Writes of other areas for one customer then run one at a time,
 * and a deletion waits for them. Returns false if the customer does not exist.
 */
export async function lockCustomerRow(transaction: Transaction, customerId: string): Promise<boolean> {
  const rows = await transaction.query("select 1 from customers where customer_id = $1 for no key update", [
    customerId,
  ]);
  return rows.length > 0;
}

/** Whether the key is active; if so, locks its row. The customer must be locked first. */
export async function lockActiveKey(transaction: Transaction, customerId: string, keyId: string): Promise<boolean> {
  const rows = await transaction.query(
    "select 1 from api_keys where key_id = $1 and customer_id = $2 and revoked_at is null for update",
    [keyId, customerId],
  );
  return rows.length > 0;
}

/** Returns whether the customer was inserted; false if another customer has the e-mail address or the id. */
export async function insertCustomer(
  transaction: Transaction,
  customer: Pick<Account, "customerId" | "email" | "name" | "plan"> & { readonly now: number },
): Promise<boolean> {
  const rows = await transaction.query(
    `insert into customers (customer_id, email, name, plan, status, created_at)
     values ($1, $2, $3, $4, 'active', to_timestamp($5::float8 / 1000))
     on conflict do nothing returning customer_id`,
    [customer.customerId, customer.email, customer.name, customer.plan, customer.now],
  );
  return rows.length === 1;
}

/** Updates the fields that operators can change. The row must be locked. */
export async function updateCustomer(transaction: Transaction, row: CustomerRow): Promise<void> {
  const toJson = (value: object | null) => (value === null ? null : JSON.stringify(value));
  await transaction.query(
    `update customers set plan = $2, status = $3, quotas = $4::text::jsonb, rate_limits = $5::text::jsonb
     where customer_id = $1`,
    [row.customer_id, row.plan, row.status, toJson(row.quotas), toJson(row.rate_limits)],
  );
}

export async function countActiveKeys(
  transaction: Transaction,
  customerId: string,
  name: string,
): Promise<{ readonly total: number; readonly withName: number }> {
  const [row] = await transaction.query<{ total: number; withName: number }>(
    `select count(*) as total, count(*) filter (where name = $2) as "withName"
     from api_keys where customer_id = $1 and revoked_at is null`,
    [customerId, name],
  );
  return row ?? { total: 0, withName: 0 };
}

/** Revokes and returns an active key of the customer, or returns null. If called concurrently, exactly one call succeeds. */
export async function revokeKey(
  transaction: Transaction,
  customerId: string,
  keyId: string,
  now: number,
): Promise<KeyView | null> {
  if (!ID_PATTERN.test(keyId)) return null;
  const [row] = await transaction.query<KeyView>(
    `update api_keys set revoked_at = to_timestamp($3::float8 / 1000)
     where key_id = $1 and customer_id = $2 and revoked_at is null returning ${KEY_COLUMNS}`,
    [keyId, customerId, now],
  );
  return row ?? null;
}

/** Deletes revoked keys beyond the first `LISTED_KEYS_MAX` keys. The customer must be locked. */
export async function deleteUnlistedKeys(transaction: Transaction, customerId: string): Promise<void> {
  await transaction.query(
    `delete from api_keys where revoked_at is not null and key_id in (
       select key_id from api_keys where customer_id = $1 order by ${KEY_ORDER} offset ${LISTED_KEYS_MAX})`,
    [customerId],
  );
}

/** Inserts an audit log entry in the transaction of the change. */
export async function insertAudit(
  transaction: Transaction,
  entry: {
    readonly actor: Actor;
    readonly action: string;
    readonly customerId: string;
    /** Must not contain secrets. */
    readonly details?: Readonly<Record<string, unknown>>;
    readonly now: number;
  },
): Promise<void> {
  const { actor, action, customerId, details = {}, now } = entry;
  await transaction.query(
    `insert into audit_log (occurred_at, actor_kind, actor_id, action, customer_id, details)
     values (to_timestamp($1::float8 / 1000), $2, $3, $4, $5, $6::text::jsonb)`,
    [now, actor.kind, actor.id, action, customerId, JSON.stringify(details)],
  );
}

export async function selectAudit(
  queryRunner: QueryRunner,
  options: { readonly customerId?: string; readonly before?: number; readonly limit: number },
): Promise<readonly AuditEntry[]> {
  const rows = await queryRunner.query<Omit<AuditEntry, "actor"> & AuditEntry["actor"]>(
    `select audit_id as "auditId", occurred_at as "occurredAt", actor_kind as kind, actor_id as id, action,
       customer_id as "customerId", details
     from audit_log
     where ($1::text is null or customer_id = $1) and ($2::int8 is null or audit_id < $2)
     order by audit_id desc limit $3`,
    [options.customerId ?? null, options.before ?? null, options.limit],
  );
  return rows.map(({ kind, id, ...entry }) => ({ ...entry, actor: { kind, id } }));
}

export async function hasAccount(transaction: Transaction, email: string): Promise<boolean> {
  return (await transaction.query("select 1 from customers where email = $1", [email])).length > 0;
}

/**
 * Stores a sign-up that awaits verification, one per address. Returns the id that the account will have.
 *
 * @param hasNewToken  whether this token will be e-mailed and so replaces the previous token
 */
export async function upsertPendingSignup(
  transaction: Transaction,
  pendingSignup: {
    readonly email: string;
    readonly name: string | null;
    readonly customerId: string;
    readonly tokenHash: Uint8Array;
    readonly expiresAt: number;
  },
  hasNewToken: boolean,
): Promise<string> {
  const { email, name, customerId, tokenHash, expiresAt } = pendingSignup;
  const assignments = hasNewToken
    ? "name = excluded.name, token_hash = excluded.token_hash, expires_at = excluded.expires_at"
    : "name = pending_signups.name";
  const [row] = await transaction.query<{ customer_id: string }>(
    `insert into pending_signups (email, name, customer_id, token_hash, expires_at)
     values ($1, $2, $3, $4, to_timestamp($5::float8 / 1000))
     on conflict (email) do update set ${assignments} returning customer_id`,
    [email, name, customerId, tokenHash, expiresAt],
  );
  return row?.customer_id ?? customerId;
}

/** Deletes and returns the pending sign-up of a token, or returns null if there is none or it has expired. */
export async function takePendingSignup(
  transaction: Transaction,
  tokenHash: Uint8Array,
  now: number,
): Promise<{ readonly email: string; readonly name: string | null; readonly customerId: string } | null> {
  const [row] = await transaction.query<{ email: string; name: string | null; customerId: string }>(
    `delete from pending_signups where token_hash = $1 and expires_at > to_timestamp($2::float8 / 1000)
     returning email, name, customer_id as "customerId"`,
    [tokenHash, now],
  );
  return row ?? null;
}

/** Stores the only pending change of the customer's e-mail address. */
export async function upsertEmailChange(
  transaction: Transaction,
  change: {
    readonly customerId: string;
    readonly email: string;
    readonly tokenHash: Uint8Array;
    readonly expiresAt: number;
  },
): Promise<void> {
  await transaction.query(
    `insert into email_changes (customer_id, email, token_hash, expires_at)
     values ($1, $2, $3, to_timestamp($4::float8 / 1000))
     on conflict (customer_id) do update set
       email = excluded.email, token_hash = excluded.token_hash, expires_at = excluded.expires_at`,
    [change.customerId, change.email, change.tokenHash, change.expiresAt],
  );
}

/** Deletes the customer's pending change with this token and returns its e-mail address, or returns null. */
export async function takeEmailChange(
  transaction: Transaction,
  change: { readonly customerId: string; readonly tokenHash: Uint8Array; readonly now: number },
): Promise<string | null> {
  const [row] = await transaction.query<{ email: string }>(
    `delete from email_changes where customer_id = $1 and token_hash = $2 and expires_at > to_timestamp($3::float8 / 1000)
     returning email`,
    [change.customerId, change.tokenHash, change.now],
  );
  return row?.email ?? null;
}

export async function deleteEmailChange(queryRunner: QueryRunner, customerId: string): Promise<void> {
  await queryRunner.query("delete from email_changes where customer_id = $1", [customerId]);
}

/** Replaces the token of a pending sign-up. Returns whether there is one. */
export async function renewPendingSignup(
  transaction: Transaction,
  signup: { readonly email: string; readonly tokenHash: Uint8Array; readonly expiresAt: number },
): Promise<boolean> {
  const rows = await transaction.query(
    "update pending_signups set token_hash = $2, expires_at = to_timestamp($3::float8 / 1000) where email = $1 returning email",
    [signup.email, signup.tokenHash, signup.expiresAt],
  );
  return rows.length > 0;
}

export async function hasPendingSignup(transaction: Transaction, email: string, now: number): Promise<boolean> {
  const rows = await transaction.query(
    "select 1 from pending_signups where email = $1 and expires_at > to_timestamp($2::float8 / 1000)",
    [email, now],
  );
  return rows.length > 0;
}

/** The column that defines the age of a row. */
const AGE_COLUMNS = {
  pending_signups: "expires_at",
  attempts: "last_at",
  audit_log: "occurred_at",
  api_keys: "revoked_at",
  usage_days: "day",
  recent_requests: "occurred_at",
  activity_batches: "written_at",
  email_changes: "expires_at",
};

/** Deletes rows older than `before`, until none is left or `shouldStop` returns true. */
export async function deleteOlderRows(
  queryRunner: QueryRunner,
  table: keyof typeof AGE_COLUMNS,
  before: number,
  shouldStop?: () => boolean,
): Promise<void> {
  await deleteRows(queryRunner, table, `${AGE_COLUMNS[table]} < ${toTimestampSql("$1")}`, before, { shouldStop });
}
