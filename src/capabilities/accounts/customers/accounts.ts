import { AppError, rateLimited } from "../../../domain/errors.ts";
import { type Allowance, CUSTOM_LIMITS_PLAN, type Plan, type RateClass, type Tier } from "../../../domain/plan.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import { randomBase32 } from "../../../lib/random-text.ts";
import type { Transaction } from "../../../ports/database.ts";
import type { Random } from "../../../ports/random.ts";
import { createKey, insertKey } from "../keys/index.ts";
import { endSessions } from "../sessions/index.ts";
import { type AttemptRule, takeAttempt } from "./attempts.ts";
import type { CustomerData } from "./customer-data.ts";
import { deleteAccount } from "./deletion.ts";
import { parseEmail } from "./email-address.ts";
import {
  ACTIVE_KEYS_MAX,
  type Account,
  type Actor,
  CUSTOM_QUOTA_MAX,
  CUSTOM_RATE_LIMIT_MAX,
  type CustomerPorts,
  type IssuedKey,
  KEY_NAME_LENGTH_MAX,
  LIST_LIMIT_MAX,
} from "./model.ts";
import { isPlainName } from "./plain-text.ts";
import {
  type CustomerRow,
  countActiveKeys,
  deleteUnlistedKeys,
  insertAudit,
  insertCustomer,
  lockActiveKey,
  lockCustomer,
  revokeKey,
  selectAccount,
  selectAudit,
  selectCustomers,
  updateCustomer,
} from "./queries.ts";

/** Number of base32 characters in the random part of an id: 130 bits. */
const ID_LENGTH = 26;
const FIRST_KEY_NAME = "default";
/** Limits how many keys a customer creates or rotates. Operators are not limited. */
const NEW_KEY_RULES: readonly AttemptRule[] = [{ limit: 20, windowMs: HOUR_MS }];

export interface AccountDependencies extends Omit<CustomerPorts, "log"> {
  /** Called after the commit of a change that affects keys, to invalidate the caches of all nodes. */
  readonly onKeysChanged: () => void;
  /** Customer data of the other areas. */
  readonly customerData: readonly CustomerData[];
}

export const newCustomerId = (random: Random) => `cus-${randomBase32(random, ID_LENGTH)}`;

/** Creates a key and stores its hash. The customer must exist. */
async function issueKey(
  transaction: Transaction,
  { random, clock }: Pick<AccountDependencies, "random" | "clock">,
  owner: { readonly customerId: string; readonly plan: Plan },
  name: string,
): Promise<IssuedKey> {
  const generatedKey = createKey(random, owner.plan);
  const keyId = `key-${randomBase32(random, ID_LENGTH)}`;
  const now = clock.now();
  await insertKey(transaction, { ...generatedKey, keyId, customerId: owner.customerId, name }, now);
  const { prefix, key: apiKey } = generatedKey;
  return { apiKey, keyId, name, prefix, createdAt: new Date(now), lastUsedAt: null, revokedAt: null };
}

/**
 * Creates an account with its first key within a transaction.
 *
 * @throws AppError `email_taken`
 */
export async function createAccount(
  transaction: Transaction,
  dependencies: Pick<AccountDependencies, "random" | "clock">,
  input: Pick<Account, "customerId" | "name" | "plan"> & { readonly email: string; readonly actor: Actor },
): Promise<IssuedKey> {
  const now = dependencies.clock.now();
  if (!(await insertCustomer(transaction, { ...input, now }))) throw createEmailTakenError();
  const key = await issueKey(transaction, dependencies, input, FIRST_KEY_NAME);
  const details = { plan: input.plan, key_id: key.keyId };
  const { actor, customerId } = input;
  await insertAudit(transaction, { actor, action: "customer.created", customerId, details, now });
  return key;
}

export type Accounts = ReturnType<typeof createAccounts>;

/**
 * Operations on existing accounts. Each change and its audit log entry are written in one transaction. A change
 * requested with a key throws `unauthorized` if that key has been revoked, even if this node has not yet been notified.
 */
export function createAccounts(dependencies: AccountDependencies) {
  const { database, clock, random, onKeysChanged, customerData } = dependencies;

  const transactAndNotify = async <Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> => {
    const result = await database.transaction(work, "request");
    onKeysChanged();
    return result;
  };

  /** Locks the customer, and checks that the actor's key has not been revoked since the request was authenticated. */
  const lockAuthorizedCustomer = async (
    transaction: Transaction,
    customerId: string,
    actor: Actor,
  ): Promise<CustomerRow> => {
    const row = requireFound(await lockCustomer(transaction, customerId));
    const isAuthorized =
      actor.kind !== "key" || (row.status !== "canceled" && (await lockActiveKey(transaction, customerId, actor.id)));
    if (!isAuthorized) throw new AppError("unauthorized", "Invalid or expired API key");
    return row;
  };

  const revokeActiveKey = async (transaction: Transaction, customerId: string, keyId: string) => {
    const revoked = await revokeKey(transaction, customerId, keyId, clock.now());
    if (revoked === null) throw new AppError("key_not_found", "There is no such active key");
    return revoked;
  };

  /** Issues a key to a locked customer and deletes revoked keys beyond `LISTED_KEYS_MAX`. */
  const issueAdditionalKey = async (
    transaction: Transaction,
    { customer_id: customerId, plan }: CustomerRow,
    name: string,
    actor: Actor,
  ): Promise<IssuedKey> => {
    if (actor.kind !== "operator") {
      const waitMs = await takeAttempt(transaction, `keys:${customerId}`, NEW_KEY_RULES, clock.now());
      if (waitMs > 0) throw rateLimited("Too many new keys", waitMs);
    }
    const key = await issueKey(transaction, dependencies, { customerId, plan }, name);
    await deleteUnlistedKeys(transaction, customerId);
    return key;
  };

  /** Applies an operator's change to a customer and audits the values before and after the change. */
  const changeCustomer: ChangeCustomer = (customerId, actor, action, computeChanges, applySideEffects) =>
    transactAndNotify(async (transaction) => {
      const row = await lockAuthorizedCustomer(transaction, customerId, actor);
      const after = computeChanges(row);
      await updateCustomer(transaction, { ...row, ...after });
      await applySideEffects?.(transaction, customerId);
      const before = Object.fromEntries(Object.keys(after).map((name) => [name, row[name]]));
      await insertAudit(transaction, { actor, action, customerId, details: { before, after }, now: clock.now() });
    });

  return {
    /** @throws AppError `customer_not_found` */
    account: async (customerId: string): Promise<Account> =>
      requireFound(await selectAccount(database, { customerId })),
    /** Finds an account by id, or by e-mail address in any spelling; null if there is none. */
    async find(idOrEmail: string): Promise<Account | null> {
      if (!idOrEmail.includes("@")) return selectAccount(database, { customerId: idOrEmail });
      const email = parseEmail(idOrEmail);
      return email === null ? null : selectAccount(database, { email: email.address });
    },
    /** Lists customers ordered by id, starting after the id `after`. */
    list: ({ limit, ...filter }: Parameters<typeof selectCustomers>[1]) =>
      selectCustomers(database, { ...filter, limit: requireListLimit(limit) }),
    /**
     * Creates an account with a first key named `default`.
     *
     * @param input.email  in canonical form
     * @throws AppError `email_taken`
     */
    async create(input: Pick<Parameters<typeof createAccount>[2], "email" | "name" | "plan">, actor: Actor) {
      const customerId = newCustomerId(random);
      const key = await database.transaction(
        (transaction) => createAccount(transaction, dependencies, { ...input, customerId, actor }),
        "request",
      );
      return { customerId, key };
    },
    /**
     * @throws AppError `customer_not_found`, `key_name_taken`, `key_limit_reached`; `rate_limited` if the customer has
     *   created or replaced 20 keys within the last hour
     */
    createKey: (customerId: string, name: string, actor: Actor) =>
      database.transaction(async (transaction) => {
        assertKeyName(name);
        // The lock prevents concurrent calls from exceeding the limit.
        const customer = await lockAuthorizedCustomer(transaction, customerId, actor);
        assertKeyAllowed(await countActiveKeys(transaction, customerId, name));
        const key = await issueAdditionalKey(transaction, customer, name, actor);
        const details = { key_id: key.keyId, name };
        await insertAudit(transaction, { actor, action: "key.created", customerId, details, now: clock.now() });
        return key;
      }, "request"),
    /**
     * Revokes an active key and creates another with the same name. If called concurrently, exactly one call succeeds.
     *
     * @throws AppError `customer_not_found`; `key_not_found` if the key is not active or belongs to another customer;
     *   `rate_limited` as for `createKey`
     */
    rotateKey: (customerId: string, keyId: string, actor: Actor) =>
      transactAndNotify(async (transaction) => {
        const customer = await lockAuthorizedCustomer(transaction, customerId, actor);
        const revoked = await revokeActiveKey(transaction, customerId, keyId);
        const key = await issueAdditionalKey(transaction, customer, revoked.name, actor);
        const details = { key_id: keyId, next_key_id: key.keyId, name: key.name };
        await insertAudit(transaction, { actor, action: "key.rotated", customerId, details, now: clock.now() });
        return key;
      }),
    /** Revokes an active key on every node. @throws AppError `customer_not_found`, `key_not_found` */
    revokeKey: (customerId: string, keyId: string, actor: Actor) =>
      transactAndNotify(async (transaction) => {
        await lockAuthorizedCustomer(transaction, customerId, actor);
        const revoked = await revokeActiveKey(transaction, customerId, keyId);
        const details = { key_id: keyId, name: revoked.name };
        await insertAudit(transaction, { actor, action: "key.revoked", customerId, details, now: clock.now() });
      }),
    /**
     * Creates an account for a marketplace user, without e-mail address and key and on the enterprise plan, so that it
     * can have custom limits. Does nothing if the account exists.
     */
    ensureMarketplaceAccount: (customerId: string, name: string | null, actor: Actor) =>
      database.transaction(async (transaction) => {
        const now = clock.now();
        const plan = CUSTOM_LIMITS_PLAN;
        if (!(await insertCustomer(transaction, { customerId, email: null, name, plan, now }))) return;
        await insertAudit(transaction, { actor, action: "customer.created", customerId, details: { plan }, now });
      }, "request"),
    ...createOperatorChanges(changeCustomer),
    /**
     * Erases the account: its keys stop working on every node, and its sessions end. The e-mail address can sign up
     * again. Does nothing if the account was already deleted. Returns the e-mail address that the account had.
     *
     * @throws AppError `customer_not_found`
     */
    delete: (customerId: string, actor: Actor) =>
      transactAndNotify((transaction) => deleteAccount(transaction, { customerId, actor, customerData }, clock.now())),
    /** Lists audit entries of one customer or of all, newest first, with ids below `before`. */
    auditLog: ({ limit, ...filter }: Parameters<typeof selectAudit>[1]) =>
      selectAudit(database, { ...filter, limit: requireListLimit(limit) }),
  };
}

/** Applies a change to a locked customer and audits it. `applySideEffects` runs in the same transaction. */
type ChangeCustomer = (
  customerId: string,
  actor: Actor,
  action: string,
  computeChanges: (row: CustomerRow) => Partial<CustomerRow>,
  applySideEffects?: (transaction: Transaction, customerId: string) => Promise<unknown>,
) => Promise<void>;

function createOperatorChanges(changeCustomer: ChangeCustomer) {
  return {
    /** Changing from enterprise to another plan removes custom limits. @throws AppError `customer_not_found` */
    setPlan: (customerId: string, plan: Plan, actor: Actor) =>
      changeCustomer(customerId, actor, "customer.plan_set", ({ plan: previousPlan, quotas, rate_limits }) => {
        const keepsLimits = plan === CUSTOM_LIMITS_PLAN && previousPlan === plan;
        return keepsLimits || (quotas ?? rate_limits) === null ? { plan } : { plan, quotas: null, rate_limits: null };
      }),
    /**
     * Sets a custom quota for one tier, in calls per month; null restores the plan's quota.
     *
     * @throws AppError `customer_not_found`; `plan_required` if the customer is not on enterprise
     */
    setQuota: (customerId: string, tier: Tier, limit: number | null, actor: Actor) =>
      changeCustomer(customerId, actor, "customer.quota_set", (row) => {
        assertCustomLimitsAllowed(row);
        return { quotas: mergeLimits<Allowance["quotas"]>(row.quotas, { [tier]: limit }, CUSTOM_QUOTA_MAX) };
      }),
    /** Sets custom limits in calls per minute; null restores the plan's limit. @throws as `setQuota` */
    setRateLimits: (customerId: string, limits: Partial<Record<RateClass, number | null>>, actor: Actor) =>
      changeCustomer(customerId, actor, "customer.rate_limits_set", (row) => {
        assertCustomLimitsAllowed(row);
        return { rate_limits: mergeLimits<Allowance["rateLimits"]>(row.rate_limits, limits, CUSTOM_RATE_LIMIT_MAX) };
      }),
    /** Rejects all keys of the customer and ends all its sessions. @throws AppError `customer_not_found` */
    disable: (customerId: string, actor: Actor) =>
      changeCustomer(customerId, actor, "customer.disabled", () => ({ status: "canceled" }), endSessions),
    /** @throws AppError `customer_not_found` */
    enable: (customerId: string, actor: Actor) =>
      changeCustomer(customerId, actor, "customer.enabled", () => ({ status: "active" })),
  };
}

function assertKeyAllowed({ total, withName }: Awaited<ReturnType<typeof countActiveKeys>>): void {
  if (withName > 0)
    throw new AppError(
      "key_name_taken",
      "An active key already has this name: choose another name, or rotate that key",
    );
  if (total >= ACTIVE_KEYS_MAX)
    throw new AppError("key_limit_reached", `At most ${ACTIVE_KEYS_MAX} keys can be active: revoke one first`);
}

export const createEmailTakenError = () => new AppError("email_taken", "An account with this e-mail address exists");

function requireFound<Found>(customer: Found | null): Found {
  if (customer === null) throw new AppError("customer_not_found", "There is no such customer");
  return customer;
}

const requireListLimit = (limit: number): number => {
  if (!Number.isInteger(limit) || limit < 1 || limit > LIST_LIMIT_MAX)
    throw new RangeError(`The limit must be from 1 to ${LIST_LIMIT_MAX}.`);
  return limit;
};

function assertKeyName(name: string): void {
  if (!isPlainName(name, KEY_NAME_LENGTH_MAX))
    throw new RangeError(
      `A key name must have 1 to ${KEY_NAME_LENGTH_MAX} plain characters without leading or trailing spaces.`,
    );
}

function assertCustomLimitsAllowed({ plan }: CustomerRow): void {
  if (plan === CUSTOM_LIMITS_PLAN) return;
  const message = `Custom limits require the ${CUSTOM_LIMITS_PLAN} plan; this customer is on ${plan}`;
  throw new AppError("plan_required", message);
}

/** Merges changes into the custom limits. A null value removes a limit. Returns the merged limits, or null if none is left. */
function mergeLimits<Limits extends Readonly<Record<string, number>>>(
  customLimits: Partial<Limits> | null,
  changes: Readonly<Record<string, number | null | undefined>>,
  max: number,
): Partial<Limits> | null {
  const limits: Record<string, number> = { ...(customLimits as Record<string, number> | null) };
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    if (value === null) delete limits[name];
    else if (Number.isInteger(value) && value >= 0 && value <= max) limits[name] = value;
    else throw new RangeError(`${name} must be an integer from 0 to ${max}.`);
  }
  return Object.keys(limits).length === 0 ? null : (limits as Partial<Limits>);
}
