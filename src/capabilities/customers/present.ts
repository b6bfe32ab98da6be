import { TIERS, type Tier } from "../../domain/plan.ts";
import type { Account, AuditEntry, CustomerSummary, IssuedKey, KeyView } from "./model.ts";

/** A key as JSON shows it. */
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

/** Numbers by tier, with the tiers' names in lower case. */
export function byTier(numbers: Readonly<Record<Tier, number>>) {
  const entries = TIERS.map((tier) => [tier.toLowerCase(), numbers[tier]]);
  return Object.fromEntries(entries) as Record<Lowercase<Tier>, number>;
}

export function presentSummary({ customerId, email, name, plan, status, createdAt, livingKeys }: CustomerSummary) {
  return {
    ...{ customer_id: customerId, email, name, plan, status },
    created_at: createdAt.toISOString(),
    living_keys: livingKeys,
  };
}

export function presentAccount({ customerId, email, name, plan, status, createdAt, allowance, own, keys }: Account) {
  return {
    ...{ customer_id: customerId, email, name, plan, status },
    created_at: createdAt.toISOString(),
    quotas: byTier(allowance.quotas),
    rate_limits: allowance.rateLimits,
    /** Which of these numbers are the customer's own. */
    own: [...Object.keys(own.quotas).map((tier) => tier.toLowerCase()), ...Object.keys(own.rateLimits)],
    keys: keys.map(presentKey),
  };
}

export function presentAudit({ auditId, occurredAt, actor, action, customerId, details }: AuditEntry) {
  return {
    audit_id: auditId,
    occurred_at: occurredAt.toISOString(),
    ...{ actor, action, customer_id: customerId, details },
  };
}
