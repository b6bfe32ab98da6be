import { type Allowance, allowanceOf, type Plan } from "../../../domain/plan.ts";
import type { Database, Transaction } from "../../../ports/database.ts";
import type { NewKey, ParsedKey } from "./key-format.ts";

/** The customer that a key authenticates. */
export interface KeyOwner {
  readonly customerId: string;
  /** The customer's current plan; the prefix of the key contains the plan at its creation. */
  readonly plan: Plan;
  readonly allowance: Allowance;
  readonly keyId: string;
}

/** A key to look up. */
export interface KeyDigest {
  /** SHA-256 of the key in hex. */
  readonly hash: string;
  /** The plan in the prefix of the key. */
  readonly plan: Plan;
}

/** Returns the owners of keys in one query; null for a key that is not active or whose customer is canceled. */
export async function findKeyOwners(
  database: Database,
  keys: readonly KeyDigest[],
): Promise<readonly (KeyOwner | null)[]> {
  const rows = await database.query<
    Omit<KeyOwner, "allowance"> & Parameters<typeof allowanceOf>[1] & { readonly hash: string }
  >(
    `select wanted.hash, key_id as "keyId", customer_id as "customerId", customers.plan, quotas,
       rate_limits as "rateLimits"
     from unnest($1::text[], $2::text[]) as wanted (hash, plan)
     join api_keys on key_hash = decode(wanted.hash, 'hex') and api_keys.plan = wanted.plan
     join customers using (customer_id)
     where revoked_at is null and customers.status <> 'canceled'`,
    [keys.map(({ hash }) => hash), keys.map(({ plan }) => plan)],
    "request",
  );
  const owners = new Map<string, KeyOwner>();
  for (const { hash, quotas, rateLimits, ...owner } of rows)
    owners.set(hash, { ...owner, allowance: allowanceOf(owner.plan, { quotas, rateLimits }) });
  return keys.map(({ hash }) => owners.get(hash) ?? null);
}

/** Returns the current plan of each key by its id. Revoked keys and keys of canceled customers have no entry. */
export async function findActivePlans(
  database: Database,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, Plan>> {
  const rows = await database.query<{ readonly keyId: string; readonly plan: Plan }>(
    `select key_id as "keyId", customers.plan from api_keys join customers using (customer_id)
     where key_id = any($1::text[]) and revoked_at is null and customers.status <> 'canceled'`,
    [keyIds],
  );
  return new Map(rows.map(({ keyId, plan }) => [keyId, plan]));
}

/** Whether the key is active and belongs to this customer on this plan, even if the customer is canceled. */
export async function isActiveKeyOf(
  database: Database,
  key: ParsedKey,
  { customerId, plan }: { readonly customerId: string; readonly plan: Plan },
): Promise<boolean> {
  const rows = await database.query(
    `select 1 from api_keys join customers using (customer_id)
     where key_hash = $1 and customer_id = $2 and customers.plan = $3 and revoked_at is null`,
    [key.hash, customerId, plan],
  );
  return rows.length > 0;
}

/** Stores the hash of a key. The customer must exist and have no active key with this name. */
export async function insertKey(
  transaction: Transaction,
  key: Omit<NewKey, "key"> & { readonly keyId: string; readonly customerId: string; readonly name: string },
  now: number,
): Promise<void> {
  await transaction.query(
    `insert into api_keys (key_hash, key_id, customer_id, plan, prefix, name, created_at)
     values ($1, $2, $3, $4, $5, $6, to_timestamp($7::float8 / 1000))`,
    [key.hash, key.keyId, key.customerId, key.plan, key.prefix, key.name, now],
  );
}

/** Creates the customer if missing, revokes its key of this name and stores the new one, in one transaction. */
export async function replaceKey(
  database: Database,
  customer: {
    readonly customerId: string;
    readonly plan: Plan;
    /** If omitted, the plan's limits apply. */
    readonly customLimits?: Allowance;
  },
  key: NewKey & { readonly keyId: string; readonly name: string },
  now: number,
): Promise<void> {
  const { customerId, plan, customLimits } = customer;
  await database.transaction(async (transaction) => {
    await transaction.query(
      `insert into customers (customer_id, plan, status, created_at, quotas, rate_limits)
       values ($1, $2, 'active', to_timestamp($3::float8 / 1000), $4::text::jsonb, $5::text::jsonb)
       on conflict (customer_id) do update
       set plan = excluded.plan, quotas = excluded.quotas, rate_limits = excluded.rate_limits`,
      [customerId, plan, now, toJson(customLimits?.quotas), toJson(customLimits?.rateLimits)],
    );
    await transaction.query(
      `update api_keys set revoked_at = to_timestamp($3::float8 / 1000)
       where customer_id = $1 and name = $2 and revoked_at is null`,
      [customerId, key.name, now],
    );
    await insertKey(transaction, { ...key, customerId }, now);
  });
}

// Sent as text, because the database drivers serialise objects differently.
const toJson = (value: object | undefined) => (value === undefined ? null : JSON.stringify(value));
