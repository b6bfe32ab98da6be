import type {
  presentAccount,
  presentAudit,
  presentIssuedKey,
  presentSummary,
} from "../../capabilities/customers/index.ts";

type Cell = string | number | null;

/** Rows in columns, as wide as their widest cell; a dash where something is unknown. */
function columns(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [header, ...rows.map((row) => row.map((cell) => plain(cell === null ? "-" : String(cell))))];
  const widths = header.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  const text = lines.map((line) =>
    line
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${text.join("\n")}\n`;
}

/** Names are their owners' words: none of them may steer the terminal. */
const plain = (text: string) => text.replace(/\p{C}/gu, "?");

export function tableOf(customers: readonly ReturnType<typeof presentSummary>[]): string {
  return columns(
    ["customer", "email", "name", "plan", "status", "keys", "created"],
    customers.map((row) => [
      ...[row.customer_id, row.email, row.name, row.plan, row.status, row.living_keys, row.created_at.slice(0, 10)],
    ]),
  );
}

export function accountText(account: ReturnType<typeof presentAccount>): string {
  const numbers = (entries: object) =>
    Object.entries(entries)
      .map(([name, value]) => `${name} ${value}${account.own.includes(name) ? " (own)" : ""}`)
      .join(", ");
  const { customer_id: customerId, email, name, plan, status, created_at: createdAt, keys } = account;
  const facts = columns(
    ["customer", customerId],
    [
      ...[
        ["email", email],
        ["name", name],
        ["plan", plan],
        ["status", status],
        ["created", createdAt],
      ],
      ["calls a month", numbers(account.quotas)],
      ["calls a minute", numbers(account.rate_limits)],
    ],
  );
  const list = columns(
    ["key", "name", "prefix", "created", "last used", "ended"],
    keys.map((key) => [key.key_id, key.name, key.prefix, key.created_at, key.last_used_at, key.revoked_at]),
  );
  return `${facts}\n${list}`;
}

export function issuedKeyText(key: ReturnType<typeof presentIssuedKey> & { readonly customer_id: string }): string {
  return columns(
    ["customer", key.customer_id],
    [
      ["key", key.key_id],
      ["name", key.name],
      ["api key", key.api_key],
    ],
  ).concat("\nThe API key is shown this once and stored nowhere.\n");
}

export function auditText(entries: readonly ReturnType<typeof presentAudit>[]): string {
  return columns(
    ["when", "who", "what", "customer", "details"],
    entries.map((entry) => [
      ...[entry.occurred_at, `${entry.actor.kind}:${entry.actor.id}`, entry.action, entry.customer_id],
      JSON.stringify(entry.details),
    ]),
  );
}
