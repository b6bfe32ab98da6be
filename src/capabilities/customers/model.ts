import type { Allowance, Plan, RateClass, Tier } from "../../domain/plan.ts";

/** active: may call. past_due: may call, and owes. canceled: every key of it is refused. */
export const CUSTOMER_STATUSES = ["active", "past_due", "canceled"] as const;

export type CustomerStatus = (typeof CUSTOMER_STATUSES)[number];

/** Who changes an account. `id` is never a secret: a key's id, a session's id, an operator's name on the machine. */
export interface Actor {
  readonly kind: "signup" | "key" | "session" | "operator";
  readonly id: string;
}

/** A key as it may be shown: never its text, which nobody has but its holder. */
export interface KeyView {
  readonly keyId: string;
  readonly name: string;
  /** The key's beginning, to tell keys apart. */
  readonly prefix: string;
  readonly createdAt: Date;
  /** To the minute; null where it was never used. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

export interface Account {
  readonly customerId: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly plan: Plan;
  readonly status: CustomerStatus;
  readonly createdAt: Date;
  /** What it may ask for: the plan's numbers, or its own in their place. */
  readonly allowance: Allowance;
  /** The numbers of its own only. */
  readonly own: {
    readonly quotas: Partial<Allowance["quotas"]>;
    readonly rateLimits: Partial<Allowance["rateLimits"]>;
  };
  /** Living ones first, newest first; at most `KEYS_SHOWN_MAX`. */
  readonly keys: readonly KeyView[];
}

/** One line of a list of customers. */
export type CustomerSummary = Pick<Account, "customerId" | "email" | "name" | "plan" | "status" | "createdAt"> & {
  readonly livingKeys: number;
};

/** A key just made: the only moment at which its text can be read. */
export interface IssuedKey extends KeyView {
  readonly apiKey: string;
}

export interface AuditEntry {
  readonly auditId: number;
  readonly occurredAt: Date;
  readonly actor: { readonly kind: string; readonly id: string };
  readonly action: string;
  readonly customerId: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Keys that a customer may have at the same time. */
export const ACTIVE_KEYS_MAX = 10;
/** Ended keys beyond this are no longer shown, nor kept. */
export const KEYS_SHOWN_MAX = 100;
export const KEY_NAME_LENGTH_MAX = 64;
export const CUSTOMER_NAME_LENGTH_MAX = 100;
/** Bounds of a customer's own numbers. */
export const QUOTA_MAX = 1_000_000_000;
export const RATE_LIMIT_MAX = 1_000_000;
/** A page, and one more to know whether there is another. */
export const LIST_LIMIT_MAX = 1_001;

/**
 * What can be asked of an account that exists. Each change and its line in the audit log become true together. A change
 * that a key asks for throws `unauthorized` where that key has ended, however lately and wherever.
 */
export interface Accounts {
  /** @throws AppError `customer_not_found` */
  account(customerId: string): Promise<Account>;
  /** By id, or by e-mail address in any spelling; null when there is none. */
  find(idOrEmail: string): Promise<Account | null>;
  /** By id, rising, behind `after`. */
  list(options: {
    readonly limit: number;
    readonly after?: string;
    readonly plan?: Plan;
    readonly status?: CustomerStatus;
  }): Promise<readonly CustomerSummary[]>;
  /**
   * Makes an account with its first key, whose name is `default`.
   *
   * @param input.email  in canonical form
   * @throws AppError `email_taken`
   */
  create(
    input: { readonly email: string; readonly name: string | null; readonly plan: Plan },
    actor: Actor,
  ): Promise<{ readonly customerId: string; readonly key: IssuedKey }>;
  /**
   * @throws AppError `customer_not_found`, `key_name_taken`, `key_limit_reached`; `rate_limited` at the 21st key that a
   *   customer makes or replaces within an hour
   */
  createKey(customerId: string, name: string, actor: Actor): Promise<IssuedKey>;
  /**
   * Ends a living key and makes another of the same name. Of several at once exactly one succeeds.
   *
   * @throws AppError `customer_not_found`; `key_not_found` where it does not live or is another customer's;
   *   `rate_limited` as `createKey`
   */
  rotateKey(customerId: string, keyId: string, actor: Actor): Promise<IssuedKey>;
  /** Ends a living key on every node. @throws AppError `customer_not_found`, `key_not_found` */
  revokeKey(customerId: string, keyId: string, actor: Actor): Promise<void>;
  /**
   * An account without address and key, on enterprise, for a caller whom a marketplace names: so that it can have numbers
   * of its own. Nothing where it is there.
   */
  admit(customerId: string, name: string | null, actor: Actor): Promise<void>;
  /** Away from enterprise the customer's own numbers end. @throws AppError `customer_not_found`; so do those below */
  setPlan(customerId: string, plan: Plan, actor: Actor): Promise<void>;
  /**
   * A number of its own for one tier, calls a month; null goes back to the plan's.
   *
   * @throws AppError `plan_required` away from enterprise; so does `setRateLimits`
   */
  setQuota(customerId: string, tier: Tier, limit: number | null, actor: Actor): Promise<void>;
  /** Numbers of its own, calls a minute; null goes back to the plan's. */
  setRateLimits(
    customerId: string,
    limits: Readonly<Partial<Record<RateClass, number | null>>>,
    actor: Actor,
  ): Promise<void>;
  /** Refuses every key of it from now on, and signs it out everywhere; the account stays. */
  disable(customerId: string, actor: Actor): Promise<void>;
  enable(customerId: string, actor: Actor): Promise<void>;
  /** Newest first, older than `before`; of one customer, or of all. */
  auditLog(options: {
    readonly customerId?: string;
    readonly before?: number;
    readonly limit: number;
  }): Promise<readonly AuditEntry[]>;
}

/** What a stranger sends to become a customer. */
export interface SignUpRequest {
  readonly email: string;
  readonly name: string | null;
  readonly turnstileToken: string;
  /** The caller's address, as far as it can be believed. */
  readonly address: string;
}

export type SignUpResult =
  | { readonly customerId: string; readonly requiresVerification: false; readonly apiKey: string }
  | { readonly customerId: string; readonly requiresVerification: true };

/** How strangers become customers. */
export interface SignUps {
  /**
   * Judged in this order: the address's form and whether it is a throw-away one (`InvalidRequestError`), how often the
   * caller's network address has tried (`rate_limited`), the bot check (`bot_check_failed`, `bot_check_unavailable`),
   * five sign-ups an hour (`rate_limited`), and only then the store: `email_taken`.
   *
   * With verification by e-mail the answer is the same whether a letter was sent or held back because the mailbox has had
   * enough of them; `mail_unavailable` when no more letters can be taken.
   *
   * @throws AppError also `signup_not_configured`
   */
  signUp(request: SignUpRequest): Promise<SignUpResult>;
  /** Uses a link's token up: makes the account and its first key. Null when it is unknown, used, replaced or expired. */
  verify(token: string): Promise<{ readonly customerId: string; readonly apiKey: string } | null>;
}

/** Everything that can be done with customers. */
export interface Customers extends Accounts, SignUps {
  /** Begins sending letters and tidying up. */
  start(): void;
  /** Tries once more to send what waits. */
  stop(): Promise<void>;
}
