import type { Allowance, Plan, Tier } from "../../../domain/plan.ts";
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
export const CUSTOM_QUOTA_MAX = 1_000_000_000;
/** Maximum custom rate limit, in calls per minute. */
export const CUSTOM_RATE_LIMIT_MAX = 1_000_000;
/** Maximum page size of 1,000, plus one row to detect whether another page exists. */
export const LIST_LIMIT_MAX = 1_001;

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

/** How long the link to confirm a new e-mail address is valid. */
export const EMAIL_CHANGE_LINK_MS = HOUR_MS;
