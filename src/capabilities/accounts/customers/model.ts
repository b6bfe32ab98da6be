import type { Allowance, Plan, RateClass, Tier } from "../../../domain/plan.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import type { MailOut } from "../../../ports/mail-out.ts";
import type { AreaPorts } from "../../area-ports.ts";

/** Ports of the customer and account services. */
export type CustomerPorts = Pick<AreaPorts, "database" | "clock" | "random" | "log">;

/** Sends e-mails with links to the service. */
export interface EmailDelivery {
  readonly mail: MailOut;
  /** Public base URL of the service, without a trailing slash. */
  readonly publicUrl: string;
}

/** `active` and `past_due` (payment overdue) customers have API access. All keys of `canceled` customers are rejected. */
export const CUSTOMER_STATUSES = ["active", "past_due", "canceled"] as const;

export type CustomerStatus = (typeof CUSTOMER_STATUSES)[number];

/** The author of a change. `id` is not secret: the id of a key, session or customer, or an operator's user name. */
export interface Actor {
  readonly kind: "signup" | "key" | "session" | "operator";
  readonly id: string;
}

/** An API key without its secret text. */
export interface KeyView {
  readonly keyId: string;
  readonly name: string;
  /** The first characters of the key, for display. */
  readonly prefix: string;
  readonly createdAt: Date;
  /** Updated about once a minute; null if never used. */
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
  /** The effective limits: the plan's limits, overridden by custom limits. */
  readonly allowance: Allowance;
  /** Only the limits set for this customer. */
  readonly customLimits: {
    readonly quotas: Partial<Allowance["quotas"]>;
    readonly rateLimits: Partial<Allowance["rateLimits"]>;
  };
  /** Active keys first, then newest first; at most `LISTED_KEYS_MAX`. */
  readonly keys: readonly KeyView[];
}

/** One row of a customer list. */
export type CustomerSummary = Pick<Account, "customerId" | "email" | "name" | "plan" | "status" | "createdAt"> & {
  readonly activeKeyCount: number;
};

/** A new key. Its full text is available only here. */
export interface IssuedKey extends KeyView {
  readonly apiKey: string;
}

/** Usage of the current calendar month (UTC): calls and quotas by tier, and the first day of the next month. */
export interface MonthlyUsage {
  readonly usage: Readonly<Record<Tier, number>>;
  readonly quotas: Readonly<Record<Tier, number>>;
  readonly resetsOn: string;
}

export type ReadUsage = (customer: Readonly<{ customerId: string; allowance: Allowance }>) => Promise<MonthlyUsage>;

export interface AuditEntry {
  readonly auditId: number;
  readonly occurredAt: Date;
  readonly actor: { readonly kind: string; readonly id: string };
  readonly action: string;
  readonly customerId: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Maximum number of active keys per customer. */
export const ACTIVE_KEYS_MAX = 10;
/** Maximum number of listed keys per customer; older revoked keys are deleted. */
export const LISTED_KEYS_MAX = 100;
export const KEY_NAME_LENGTH_MAX = 64;
export const CUSTOMER_NAME_LENGTH_MAX = 100;
/** Maximum custom quota, in calls per month. */
export const QUOTA_MAX = 1_000_000_000;
/** Maximum custom rate limit, in calls per minute. */
export const RATE_LIMIT_MAX = 1_000_000;
/** Maximum page size of 1,000, plus one row to detect whether another page exists. */
export const LIST_LIMIT_MAX = 1_001;

/**
 * Operations on existing accounts. Each change and its audit log entry are written in one transaction. A change
 * requested with a key throws `unauthorized` if that key has been revoked, even if this node has not yet been notified.
 */
export interface Accounts {
  /** @throws AppError `customer_not_found` */
  account(customerId: string): Promise<Account>;
  /** Finds an account by id, or by e-mail address in any spelling; null if there is none. */
  find(idOrEmail: string): Promise<Account | null>;
  /** Lists customers ordered by id, starting after the id `after`. */
  list(options: {
    readonly limit: number;
    readonly after?: string;
    readonly plan?: Plan;
    readonly status?: CustomerStatus;
  }): Promise<readonly CustomerSummary[]>;
  /**
   * Creates an account with a first key named `default`.
   *
   * @param input.email  in canonical form
   * @throws AppError `email_taken`
   */
  create(
    input: { readonly email: string; readonly name: string | null; readonly plan: Plan },
    actor: Actor,
  ): Promise<{ readonly customerId: string; readonly key: IssuedKey }>;
  /**
   * @throws AppError `customer_not_found`, `key_name_taken`, `key_limit_reached`; `rate_limited` if the customer has created
   *   or replaced 20 keys within the last hour
   */
  createKey(customerId: string, name: string, actor: Actor): Promise<IssuedKey>;
  /**
   * Revokes an active key and creates another with the same name. If called concurrently, exactly one call succeeds.
   *
   * @throws AppError `customer_not_found`; `key_not_found` if the key is not active or belongs to another customer;
   *   `rate_limited` as for `createKey`
   */
  rotateKey(customerId: string, keyId: string, actor: Actor): Promise<IssuedKey>;
  /** Revokes an active key on every node. @throws AppError `customer_not_found`, `key_not_found` */
  revokeKey(customerId: string, keyId: string, actor: Actor): Promise<void>;
  /**
   * Creates an account for a marketplace user, without e-mail address and key and on the enterprise plan, so that it
   * can have custom limits. Does nothing if the account exists.
   */
  ensureMarketplaceAccount(customerId: string, name: string | null, actor: Actor): Promise<void>;
  /** Changing from enterprise to another plan removes custom limits. @throws AppError `customer_not_found` */
  setPlan(customerId: string, plan: Plan, actor: Actor): Promise<void>;
  /**
   * Sets a custom quota for one tier, in calls per month; null restores the plan's quota.
   *
   * @throws AppError `customer_not_found`; `plan_required` if the customer is not on enterprise
   */
  setQuota(customerId: string, tier: Tier, limit: number | null, actor: Actor): Promise<void>;
  /** Sets custom limits in calls per minute; null restores the plan's limit. @throws as `setQuota` */
  setRateLimits(
    customerId: string,
    limits: Readonly<Partial<Record<RateClass, number | null>>>,
    actor: Actor,
  ): Promise<void>;
  /**
   * Rejects all keys of the customer and ends all its sessions. The account is not deleted. @throws AppError
   * `customer_not_found`
   */
  disable(customerId: string, actor: Actor): Promise<void>;
  /** @throws AppError `customer_not_found` */
  enable(customerId: string, actor: Actor): Promise<void>;
  /**
   * Erases the account: its keys stop working on every node, and its sessions end. The e-mail address can sign up again.
   * Does nothing if the account was already deleted. Returns the e-mail address that the account had.
   *
   * @throws AppError `customer_not_found`
   */
  delete(customerId: string, actor: Actor): Promise<{ readonly email: string | null }>;
  /** Lists audit entries of one customer or of all, newest first, with ids below `before`. */
  auditLog(options: {
    readonly customerId?: string;
    readonly before?: number;
    readonly limit: number;
  }): Promise<readonly AuditEntry[]>;
}

/** A sign-up by an anonymous caller. */
export interface SignUpRequest {
  readonly email: string;
  readonly name: string | null;
  readonly turnstileToken: string;
  /** The caller's IP address. */
  readonly address: string;
}

export type SignUpResult =
  | { readonly customerId: string; readonly requiresVerification: false; readonly apiKey: string }
  | { readonly customerId: string; readonly requiresVerification: true };

/** Sign-up with or without e-mail verification. */
export interface SignUps {
  /**
   * Creates an account, or starts e-mail verification. Checks in this order: the e-mail address and whether it is
   * disposable (`InvalidRequestError`), attempts per network address (`rate_limited`), the bot check
   * (`bot_check_failed`, `bot_check_unavailable`), five sign-ups per hour (`rate_limited`), and then the database
   * (`email_taken`).
   *
   * With e-mail verification, the result does not reveal whether the e-mail was suppressed by the rate limit;
   * `mail_unavailable` if the mail queue is full.
   *
   * @throws AppError also `signup_not_configured`
   */
  signUp(request: SignUpRequest): Promise<SignUpResult>;
  /**
   * Consumes a link's token and creates the account with its first key. Returns null if the token is unknown, used,
   * replaced or expired.
   */
  verify(token: string): Promise<{ readonly customerId: string; readonly apiKey: string } | null>;
  /**
   * Sends the verification e-mail of a pending sign-up again, with a new link that replaces the previous one. The result
   * does not reveal whether there is a pending sign-up, or whether the e-mail was suppressed by the rate limit.
   *
   * @param address  the caller's IP address
   * @throws InvalidRequestError for an invalid e-mail address; AppError `rate_limited`, `mail_unavailable`
   */
  resend(email: string, address: string): Promise<void>;
}

/** How long the link to confirm a new e-mail address is valid. */
export const EMAIL_CHANGE_MS = HOUR_MS;

/** The session that confirms a change. */
interface ChangingSession {
  readonly customerId: string;
  readonly sessionId: string;
}

/** Changes of the e-mail address of an account. */
export interface EmailChanges {
  /**
   * Sends a link to the new address. The result does not reveal whether another account has the address: its owner gets
   * an e-mail without a link.
   *
   * @returns the link's token if the page displays it, because there is no mail server; null for an address that another
   *   account has
   * @throws InvalidRequestError for an invalid, disposable or unchanged address; AppError `rate_limited`, `mail_unavailable`
   */
  request(customerId: string, email: string): Promise<{ readonly displayedToken: string | null }>;
  /** Returns the change that awaits confirmation; null if there is none or its link has expired. */
  find(customerId: string): Promise<{ readonly email: string; readonly expiresAt: Date } | null>;
  cancel(customerId: string): Promise<void>;
  /**
   * Consumes a link, sets the e-mail address, ends the customer's other sessions and invalidates its sign-in link. Notifies
   * the old address. Returns null if the link is unknown, used, replaced, expired or of another customer, or if another
   * account has the address.
   *
   * @throws AppError `mail_unavailable`
   */
  confirm(session: ChangingSession, token: string): Promise<{ readonly email: string } | null>;
}

/** All operations on customers. */
export interface Customers extends Accounts, SignUps {
  readonly emailChanges: EmailChanges;
  /** Starts the periodic deletion of expired records. */
  start(): void;
  /** Tries once more to send the queued e-mails, and stops the deletion. */
  stop(): Promise<void>;
}
