import {
  CUSTOM_QUOTA_MAX,
  CUSTOM_RATE_LIMIT_MAX,
  CUSTOMER_STATUSES,
  LIST_LIMIT_MAX,
} from "../../capabilities/accounts/customers/index.ts";

export const CUSTOMERS_USAGE = `Manage customers, their API keys and their limits.

  npx parallax customers <command> [options]

  list [--plan PLAN] [--status STATUS] [--limit N] [--after ID]
  show WHO
  create EMAIL [--name NAME] [--plan PLAN]     create an account and show its first key once
  set-plan WHO PLAN                            free, pro or enterprise
  set-quota WHO TIER N|plan                    calls per month of listing, insight, strategy or deep (enterprise only)
  set-rate-limit WHO CLASS N|plan              calls per minute, general or strategy (enterprise only)
  create-key WHO NAME                          create another key and show it once
  rotate WHO [KEY]                             revoke a key and show its replacement once
  revoke WHO KEY                               revoke a key
  disable WHO, enable WHO                      reject all keys of a customer, or accept them again
  delete WHO [--yes]                           erase an account and its keys; asks for confirmation without --yes
  audit [WHO] [--limit N] [--before ID]        show who changed what, newest first

  WHO      customer id, e-mail address, or marketplace:USER (set-* and disable also create the marketplace user)
  KEY      id or name of a key; optional if the customer has one active key
  N        set-quota: at most ${CUSTOM_QUOTA_MAX}; set-rate-limit: at most ${CUSTOM_RATE_LIMIT_MAX}; "plan" restores the plan's limit
  STATUS   ${CUSTOMER_STATUSES.join(", ")} (disable sets canceled, enable sets active)
  --limit  1 to ${LIST_LIMIT_MAX - 1}; if there are more results, the option for the next page is printed on standard error
  --json   print JSON
  --help   print this help

The command uses the configured database: DATABASE_URL, or the embedded database in PARALLAX_DATA_DIR. If a service is
running on the embedded database, the command is forwarded to it. Changes take effect within a second.

Exit codes: 0 success; 1 failure, with the reason on standard error; 2 invalid usage.
`;
