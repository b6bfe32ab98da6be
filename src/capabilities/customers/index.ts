/** Customers: how strangers become some, their keys, what operators set, and the log of it all. */
export { createAccounts } from "./accounts.ts";
export { type AttemptRule, takeAttempt } from "./attempts.ts";
export { invalidEmail, parseDomain, parseEmail } from "./email-address.ts";
export { linkLetter } from "./emails.ts";
export { createMailQueue } from "./mail-queue.ts";
export type { Account, Accounts, Actor, Customers, IssuedKey, KeyView } from "./model.ts";
export {
  CUSTOMER_NAME_LENGTH_MAX,
  CUSTOMER_STATUSES,
  KEY_NAME_LENGTH_MAX,
  LIST_LIMIT_MAX,
  LIVING_KEYS_MAX,
  QUOTA_MAX,
  RATE_LIMIT_MAX,
} from "./model.ts";
export { isPlainName } from "./plain-text.ts";
export { presentAccount, presentAudit, presentIssuedKey, presentSummary } from "./present.ts";
export { insertAudit } from "./queries.ts";
export { customerRoutes } from "./routes.ts";
export { createCustomers } from "./service.ts";
export { LETTER_RULES, type Letters, NETWORK_RULES, type SignUpSettings, tooManyLetters } from "./sign-ups.ts";
export { createTurnstile, dummyBotCheck, TURNSTILE_ACTION, TURNSTILE_DUMMY_TOKEN } from "./turnstile.ts";
