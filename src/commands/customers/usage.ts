import { CUSTOMER_STATUSES, LIST_LIMIT_MAX, QUOTA_MAX, RATE_LIMIT_MAX } from "../../capabilities/customers/index.ts";

/** What `customers --help` says. */
export const CUSTOMERS_USAGE = `Customers, their keys and what they may ask for, for operators.

  npx parallax customers <command> [options]

  list [--plan PLAN] [--status STATUS] [--limit N] [--after ID]
  show WHO
  create EMAIL [--name NAME] [--plan PLAN]     an account with its first key, shown once
  set-plan WHO PLAN                            free, pro or enterprise
  set-quota WHO TIER N|plan                    enterprise: calls a month of listing, insight, strategy or deep
  set-rate-limit WHO CLASS N|plan              enterprise: calls a minute, general or strategy
  create-key WHO NAME                          another key, shown once
  rotate WHO [KEY]                             ends a key, shows its successor once
  revoke WHO KEY                               ends a key
  disable WHO, enable WHO                      refuses every key of it, and takes that back
  audit [WHO] [--limit N] [--before ID]        who changed what, newest first

  WHO  a customer's id or e-mail address, or marketplace:USER, whom set-* and disable make known
  KEY  a key's id or name; not needed where one lives
  STATUS  ${CUSTOMER_STATUSES.join(", ")}; disable makes an account canceled, enable active
  --limit  1 to ${LIST_LIMIT_MAX - 1}; where there is more, "more:" and how to go on stand on the error output
  N of set-quota is at most ${QUOTA_MAX}, of set-rate-limit ${RATE_LIMIT_MAX}
  --json   the answer as JSON                 --help

The store is the one that the settings name (DATABASE_URL, or the embedded one in PARALLAX_DATA_DIR). While a service runs
on the embedded store, the command is handed to it. What changes counts within a second.

Exit codes: 0 done; 1 not done, for a reason that is told; 2 the command is not understood.
`;
