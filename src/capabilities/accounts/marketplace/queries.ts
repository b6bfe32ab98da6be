import { type Allowance, allowanceOf } from "../../../domain/plan.ts";
import type { Database } from "../../../ports/database.ts";

/** Settings that an operator has made for a marketplace user. */
export interface MarketplaceUserSettings {
  readonly isCanceled: boolean;
  /** The allowance with the user's custom limits; null without custom limits. */
  readonly customAllowance: Allowance | null;
}

const NO_SETTINGS: MarketplaceUserSettings = { isCanceled: false, customAllowance: null };

/** Returns the settings of marketplace users in one query, in the order of `customerIds`. */
export async function findMarketplaceUserSettings(
  database: Database,
  customerIds: readonly string[],
): Promise<readonly MarketplaceUserSettings[]> {
  const rows = await database.query<
    Parameters<typeof allowanceOf>[1] & { customerId: string; isCanceled: boolean; hasCustomLimits: boolean }
  >(
    `select customer_id as "customerId", status = 'canceled' as "isCanceled", quotas, rate_limits as "rateLimits",
       plan = 'enterprise' and (quotas is not null or rate_limits is not null) as "hasCustomLimits"
     from customers where customer_id = any($1::text[])`,
    [customerIds],
    "request",
  );
  const accounts = new Map(
    rows.map(({ customerId, isCanceled, hasCustomLimits, ...custom }) => [
      customerId,
      { isCanceled, customAllowance: hasCustomLimits ? allowanceOf("enterprise", custom) : null },
    ]),
  );
  return customerIds.map((customerId) => accounts.get(customerId) ?? NO_SETTINGS);
}
