import { type Allowance, allowanceOf } from "../../domain/plan.ts";
import type { Database } from "../../ports/database.ts";

/** An operator's settings for a marketplace user. */
export interface UserAccount {
  readonly isCanceled: boolean;
  /** The allowance with the user's custom limits; null without custom limits. */
  readonly customAllowance: Allowance | null;
}

export async function findUserAccount(database: Database, customerId: string): Promise<UserAccount> {
  const [row] = await database.query<{
    is_canceled: boolean;
    has_custom_limits: boolean;
    quotas: Partial<Allowance["quotas"]> | null;
    rate_limits: Partial<Allowance["rateLimits"]> | null;
  }>(
    `select status = 'canceled' as is_canceled, quotas, rate_limits,
       plan = 'enterprise' and (quotas is not null or rate_limits is not null) as has_custom_limits
     from customers where customer_id = $1`,
    [customerId],
    "request",
  );
  if (row === undefined) return { isCanceled: false, customAllowance: null };
  const { is_canceled: isCanceled, has_custom_limits: hasCustomLimits, quotas, rate_limits: rateLimits } = row;
  const customAllowance = hasCustomLimits ? allowanceOf("enterprise", { quotas, rateLimits }) : null;
  return { isCanceled, customAllowance };
}
