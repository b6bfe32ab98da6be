import { AppError, rateLimited } from "../../domain/errors.ts";
import { type Allowance, CUSTOM_LIMITS_PLAN, type Plan } from "../../domain/plan.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database, Transaction } from "../../ports/database.ts";
import type { Random } from "../../ports/random.ts";
import { createKey as drawKey, insertKey, randomBase32 } from "../keys/index.ts";
import { endSessions } from "../sessions/index.ts";
import { type AttemptRule, takeAttempt } from "./attempts.ts";
import { parseEmail } from "./email-address.ts";
import {
  ACTIVE_KEYS_MAX,
  type Accounts,
  type Actor,
  type IssuedKey,
  KEY_NAME_LENGTH_MAX,
  LIST_LIMIT_MAX,
  QUOTA_MAX,
  RATE_LIMIT_MAX,
} from "./model.ts";
import { isPlainName } from "./plain-text.ts";
import {
  type CustomerRow,
  countActiveKeys,
  deleteUnshownKeys,
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

/** 130 random bits. */
const ID_LENGTH = 26;
const FIRST_KEY_NAME = "default";
/** Keys that a customer makes or replaces, so that nobody fills the store with them; an operator is free. */
const NEW_KEY_RULES: readonly AttemptRule[] = [{ limit: 20, windowMs: 3_600_000 }];

export interface AccountTools {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  /** Called after a commit that changes what some key opens, so that every node looks anew. */
  readonly onKeysChanged: () => void;
}

export const newCustomerId = (random: Random) => `cus-${randomBase32(random, ID_LENGTH)}`;

/** Draws a key and stores its hash; the customer must be there. */
async function issueKey(
  transaction: Transaction,
  { random, clock }: Pick<AccountTools, "random" | "clock">,
  owner: { readonly customerId: string; readonly plan: Plan },
  name: string,
): Promise<IssuedKey> {
  const made = drawKey(random, owner.plan);
  const keyId = `key-${randomBase32(random, ID_LENGTH)}`;
  const now = clock.now();
  await insertKey(transaction, { ...made, keyId, customerId: owner.customerId, name }, now);
  const { prefix, key: apiKey } = made;
  return { apiKey, keyId, name, prefix, createdAt: new Date(now), lastUsedAt: null, revokedAt: null };
}

/**
 * An account with its first key, as part of a transaction.
 *
 * @throws AppError `email_taken`
 */
export async function openAccount(
  transaction: Transaction,
  tools: Pick<AccountTools, "random" | "clock">,
  input: {
    readonly customerId: string;
    readonly email: string;
    readonly name: string | null;
    readonly plan: Plan;
    readonly actor: Actor;
  },
): Promise<IssuedKey> {
  const now = tools.clock.now();
  if (!(await insertCustomer(transaction, { ...input, now })))
    throw new AppError("email_taken", "An account with this e-mail address exists");
  const key = await issueKey(transaction, tools, input, FIRST_KEY_NAME);
  const details = { plan: input.plan, key_id: key.keyId };
  const { actor, customerId } = input;
  await insertAudit(transaction, { actor, action: "customer.created", customerId, details, now });
  return key;
}

export function createAccounts(tools: AccountTools): Accounts {
  const { database, clock, random, onKeysChanged } = tools;

  const changed = async <Result>(run: (transaction: Transaction) => Promise<Result>): Promise<Result> => {
    const result = await database.transaction(run);
    onKeysChanged();
    return result;
  };

  /** The customer, kept from changing. A key that asks may have ended since it was let in, here or on another node. */
  const locked = async (transaction: Transaction, customerId: string, actor: Actor): Promise<CustomerRow> => {
    const row = await lockCustomer(transaction, customerId);
    if (row === null) throw customerNotFound();
    const mayAsk =
      actor.kind !== "key" || (row.status !== "canceled" && (await lockActiveKey(transaction, customerId, actor.id)));
    if (!mayAsk) throw new AppError("unauthorized", "Invalid or expired API key");
    return row;
  };

  const end = async (transaction: Transaction, customerId: string, keyId: string) => {
    const ended = await revokeKey(transaction, customerId, keyId, clock.now());
    if (ended === null) throw new AppError("key_not_found", "There is no such living key");
    return ended;
  };

  /** Another key of a locked customer. What is no longer shown goes with it. */
  const issue = async (
    transaction: Transaction,
    { customer_id: customerId, plan }: CustomerRow,
    name: string,
    actor: Actor,
  ): Promise<IssuedKey> => {
    if (actor.kind !== "operator") {
      const waitMs = await takeAttempt(transaction, `keys:${customerId}`, NEW_KEY_RULES, clock.now());
      if (waitMs > 0) throw rateLimited("Too many new keys", waitMs);
    }
    const key = await issueKey(transaction, tools, { customerId, plan }, name);
    await deleteUnshownKeys(transaction, customerId);
    return key;
  };

  /** One change of an operator's: before and after go to the audit log. */
  const change = (
    customerId: string,
    actor: Actor,
    action: string,
    patch: (row: CustomerRow) => Partial<CustomerRow>,
    /** What ends with it. */
    also: (transaction: Transaction, customerId: string) => Promise<unknown> = async () => {},
  ): Promise<void> =>
    changed(async (transaction) => {
      const row = await locked(transaction, customerId, actor);
      const after = patch(row);
      await updateCustomer(transaction, { ...row, ...after });
      await also(transaction, customerId);
      const before = Object.fromEntries(Object.keys(after).map((name) => [name, row[name]]));
      await insertAudit(transaction, { actor, action, customerId, details: { before, after }, now: clock.now() });
    });

  return {
    async account(customerId) {
      const account = await selectAccount(database, { customerId });
      if (account === null) throw customerNotFound();
      return account;
    },
    async find(idOrEmail) {
      const email = idOrEmail.includes("@") ? parseEmail(idOrEmail) : null;
      if (idOrEmail.includes("@")) return email === null ? null : selectAccount(database, { email: email.address });
      return selectAccount(database, { customerId: idOrEmail });
    },
    list({ limit, after = "", plan = null, status = null }) {
      return selectCustomers(database, { limit: withinList(limit), after, plan, status });
    },
    async create({ email, name, plan }, actor) {
      const customerId = newCustomerId(random);
      const key = await database.transaction((transaction) =>
        openAccount(transaction, tools, { customerId, email, name, plan, actor }),
      );
      return { customerId, key };
    },
    createKey: (customerId, name, actor) =>
      database.transaction(async (transaction) => {
        assertKeyName(name);
        // Locked, so that two who are at once at the limit are not both let through.
        const customer = await locked(transaction, customerId, actor);
        const living = await countActiveKeys(transaction, customerId, name);
        if (living.ofThatName > 0)
          throw new AppError("key_name_taken", "A living key has this name: choose another, or rotate that one");
        if (living.all >= ACTIVE_KEYS_MAX)
          throw new AppError("key_limit_reached", `At most ${ACTIVE_KEYS_MAX} keys live at once: revoke one first`);
        const key = await issue(transaction, customer, name, actor);
        const details = { key_id: key.keyId, name };
        await insertAudit(transaction, { actor, action: "key.created", customerId, details, now: clock.now() });
        return key;
      }),
    rotateKey: (customerId, keyId, actor) =>
      changed(async (transaction) => {
        const customer = await locked(transaction, customerId, actor);
        const ended = await end(transaction, customerId, keyId);
        const key = await issue(transaction, customer, ended.name, actor);
        const details = { key_id: keyId, next_key_id: key.keyId, name: key.name };
        await insertAudit(transaction, { actor, action: "key.rotated", customerId, details, now: clock.now() });
        return key;
      }),
    revokeKey: (customerId, keyId, actor) =>
      changed(async (transaction) => {
        await locked(transaction, customerId, actor);
        const ended = await end(transaction, customerId, keyId);
        const details = { key_id: keyId, name: ended.name };
        await insertAudit(transaction, { actor, action: "key.revoked", customerId, details, now: clock.now() });
      }),
    admit: (customerId, name, actor) =>
      database.transaction(async (transaction) => {
        const now = clock.now();
        const plan = CUSTOM_LIMITS_PLAN;
        if (!(await insertCustomer(transaction, { customerId, email: null, name, plan, now }))) return;
        await insertAudit(transaction, { actor, action: "customer.created", customerId, details: { plan }, now });
      }),
    setPlan: (customerId, plan, actor) =>
      change(customerId, actor, "customer.plan_set", ({ plan: former, quotas, rate_limits }) => {
        const stays = plan === CUSTOM_LIMITS_PLAN && former === plan;
        return stays || (quotas ?? rate_limits) === null ? { plan } : { plan, quotas: null, rate_limits: null };
      }),
    setQuota: (customerId, tier, limit, actor) =>
      change(customerId, actor, "customer.quota_set", (row) => {
        assertOwnNumbersHold(row);
        return { quotas: withNumbers<Allowance["quotas"]>(row.quotas, { [tier]: limit }, QUOTA_MAX) };
      }),
    setRateLimits: (customerId, limits, actor) =>
      change(customerId, actor, "customer.rate_limits_set", (row) => {
        assertOwnNumbersHold(row);
        return { rate_limits: withNumbers<Allowance["rateLimits"]>(row.rate_limits, limits, RATE_LIMIT_MAX) };
      }),
    disable: (customerId, actor) =>
      change(customerId, actor, "customer.disabled", () => ({ status: "canceled" }), endSessions),
    enable: (customerId, actor) => change(customerId, actor, "customer.enabled", () => ({ status: "active" })),
    auditLog: ({ customerId = null, before = null, limit }) =>
      selectAudit(database, { customerId, before, limit: withinList(limit) }),
  };
}

/** The account's id belongs to nobody. */
const customerNotFound = () => new AppError("customer_not_found", "There is no such customer");

const withinList = (limit: number): number => {
  if (!Number.isInteger(limit) || limit < 1 || limit > LIST_LIMIT_MAX)
    throw new RangeError(`limit is 1 to ${LIST_LIMIT_MAX}`);
  return limit;
};

function assertKeyName(name: string): void {
  if (!isPlainName(name, KEY_NAME_LENGTH_MAX))
    throw new RangeError(`the name of a key is 1 to ${KEY_NAME_LENGTH_MAX} plain characters without blanks around it`);
}

function assertOwnNumbersHold({ plan }: CustomerRow): void {
  if (plan === CUSTOM_LIMITS_PLAN) return;
  const message = `Numbers of its own hold on the plan ${CUSTOM_LIMITS_PLAN} only, and this customer's is ${plan}`;
  throw new AppError("plan_required", message);
}

/** Own numbers with some set and, where null, taken away; null where none are left. */
function withNumbers<Numbers extends Readonly<Record<string, number>>>(
  own: Partial<Numbers> | null,
  change: Readonly<Record<string, number | null | undefined>>,
  max: number,
): Partial<Numbers> | null {
  const numbers: Record<string, number> = { ...(own as Record<string, number> | null) };
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) continue;
    if (value === null) delete numbers[name];
    else if (Number.isInteger(value) && value >= 0 && value <= max) numbers[name] = value;
    else throw new RangeError(`${name} is a whole number from 0 to ${max}`);
  }
  return Object.keys(numbers).length === 0 ? null : (numbers as Partial<Numbers>);
}
