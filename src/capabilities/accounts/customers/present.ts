import { TIERS, type Tier } from "../../../domain/plan.ts";
import type { Account, AuditEntry, CustomerSummary, IssuedKey, KeyView } from "./model.ts";

export function presentKey({ keyId, name, prefix, createdAt, lastUsedAt, revokedAt }: KeyView) {
  return {
    key_id: keyId,
    name,
    prefix,
    created_at: createdAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
    revoked_at: revokedAt?.toISOString() ?? null,
  };
}

export const presentIssuedKey = (key: IssuedKey) => ({ ...presentKey(key), api_key: key.apiKey });

/** Converts the keys of `values` to lower-case tier names. */
export function toTierCounts(values: Readonly<Record<Tier, number>>) {
  const entries = TIERS.map((tier) => [tier.toLowerCase(), values[tier]]);
  return Object.fromEntries(entries) as Record<Lowercase<Tier>, number>;
}

const presentCustomer = ({ customerId, email, name, plan, status, createdAt }: Account | CustomerSummary) => ({
  customer_id: customerId,
  email,
  name,
  plan,
  status,
  created_at: createdAt.toISOString(),
});

export const presentSummary = (summary: CustomerSummary) => ({
  ...presentCustomer(summary),
  living_keys: summary.activeKeyCount,
});

export function presentAccount(account: Account) {
  const { allowance, customLimits, keys } = account;
  const { quotas, rateLimits } = customLimits;
  return {
    ...presentCustomer(account),
    quotas: toTierCounts(allowance.quotas),
    rate_limits: allowance.rateLimits,
    /** The names of the limits set for this customer. */
    own: [...Object.keys(quotas).map((tier) => tier.toLowerCase()), ...Object.keys(rateLimits)],
    keys: keys.map(presentKey),
  };
}

export function presentAudit({ auditId, occurredAt, actor, action, customerId, details }: AuditEntry) {
  return {
    audit_id: auditId,
    occurred_at: occurredAt.toISOString(),
    actor,
    action,
    customer_id: customerId,
    details,
  };
}
