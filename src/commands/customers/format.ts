import type {
  presentAccount,
  presentAudit,
  presentIssuedKey,
  presentSummary,
} from "../../capabilities/accounts/customers/index.ts";
import { formatColumns, replaceControlCharacters } from "../operator/format.ts";

export function formatCustomerTable(customers: readonly ReturnType<typeof presentSummary>[]): string {
  return formatColumns(
    ["customer", "email", "name", "plan", "status", "keys", "created"],
    customers.map((row) => [
      row.customer_id,
      row.email,
      row.name,
      row.plan,
      row.status,
      row.living_keys,
      row.created_at.slice(0, 10),
    ]),
  );
}

export function formatAccount(account: ReturnType<typeof presentAccount>): string {
  const formatLimits = (limits: object) =>
    Object.entries(limits)
      .map(([name, value]) => `${name} ${value}${account.own.includes(name) ? " (custom)" : ""}`)
      .join(", ");
  const { customer_id: customerId, email, name, plan, status, created_at: createdAt, keys } = account;
  const summary = formatColumns(
    ["customer", customerId],
    [
      ["email", email],
      ["name", name],
      ["plan", plan],
      ["status", status],
      ["created", createdAt],
      ["calls per month", formatLimits(account.quotas)],
      ["calls per minute", formatLimits(account.rate_limits)],
    ],
  );
  const keyTable = formatColumns(
    ["key", "name", "prefix", "created", "last used", "revoked"],
    keys.map((key) => [key.key_id, key.name, key.prefix, key.created_at, key.last_used_at, key.revoked_at]),
  );
  return `${summary}\n${keyTable}`;
}

/** Formats an account with the calls and quotas of this month. */
export function formatAccountWithUsage(
  account: ReturnType<typeof presentAccount> & {
    readonly usage: Readonly<Record<string, number>>;
    readonly resets_on: string;
  },
): string {
  const quotas: Readonly<Record<string, number>> = account.quotas;
  const rows = Object.entries(account.usage).map(([tier, used]) => {
    const quota = quotas[tier] ?? 0;
    return [tier, used, quota, Math.max(0, quota - used)];
  });
  const usageTable = formatColumns(["this month", "used", "quota", "left"], rows);
  return `${formatAccount(account)}\n${usageTable}\nQuotas reset on ${account.resets_on} at 00:00 UTC.\n`;
}

export function formatIssuedKey(key: ReturnType<typeof presentIssuedKey> & { readonly customer_id: string }): string {
  return formatColumns(
    ["customer", key.customer_id],
    [
      ["key", key.key_id],
      ["name", key.name],
      ["api key", key.api_key],
    ],
  ).concat("\nCopy the API key now: it is not stored and cannot be shown again.\n");
}

export const formatDeletion = (customerId: string): string =>
  `Deleted ${replaceControlCharacters(customerId)}. Its API keys no longer work. The calls per month and the audit log are kept under this id.\n`;

export function formatAudit(entries: readonly ReturnType<typeof presentAudit>[]): string {
  return formatColumns(
    ["time", "actor", "action", "customer", "details"],
    entries.map((entry) => [
      entry.occurred_at,
      `${entry.actor.kind}:${entry.actor.id}`,
      entry.action,
      entry.customer_id,
      JSON.stringify(entry.details),
    ]),
  );
}
