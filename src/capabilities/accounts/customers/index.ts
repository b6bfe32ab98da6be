/** Customers: sign-up, accounts, API keys, operator changes and the audit log. */
export { type Accounts, createAccounts } from "./accounts.ts";
export { type AttemptRule, takeAttempt } from "./attempts.ts";
export type { CustomerData } from "./customer-data.ts";
export { parseDomain, parseEmail, requireEmail } from "./email-address.ts";
export { createLinkEmail, formatMinute, maskEmail } from "./emails.ts";
export { createMailQueue } from "./mail-queue.ts";
export {
  ACTIVE_KEYS_MAX,
  type Account,
  type Actor,
  CUSTOM_QUOTA_MAX,
  CUSTOM_RATE_LIMIT_MAX,
  CUSTOMER_NAME_LENGTH_MAX,
  CUSTOMER_STATUSES,
  type CustomerPorts,
  EMAIL_CHANGE_LINK_MS,
  type EmailDelivery,
  type IssuedKey,
  KEY_NAME_LENGTH_MAX,
  type KeyView,
  LIST_LIMIT_MAX,
  type MonthlyUsage,
  type ReadUsage,
} from "./model.ts";
export { isPlainName } from "./plain-text.ts";
export { presentAccount, presentAudit, presentIssuedKey, presentSummary, toTierCounts } from "./present.ts";
export { insertAudit, lockCustomerRow } from "./queries.ts";
export { customerRoutes } from "./routes.ts";
export { type Customers, createCustomers } from "./service.ts";
export { ADDRESS_RULES, EMAIL_RULES, type SignUpSettings } from "./sign-ups.ts";
export { createTurnstile, dummyBotCheck, TURNSTILE_ACTION, TURNSTILE_DUMMY_TOKEN } from "./turnstile.ts";
