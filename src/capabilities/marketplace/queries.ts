import { type Allowance, allowanceOf } from "../../domain/plan.ts";
import type { Database } from "../../ports/database.ts";

/** An operator's settings for a marketplace user. */
export interface UserAccount {
  readonly isCanceled: boolean;
  /** The allowance with the user's custom limits; null without custom limits. */
  readonly customAllowance: Allowance | null;
}

export async function findUserAccount(database: Database, customerId: string): Promise<UserAccount> {
  const [row] = await database.query<
    Parameters<typeof allowanceOf>[1] & { isCanceled: boolean; hasCustomLimits: boolean }
  >(
    `select status = 'canceled' as "isCanceled", quotas, rate_limits as "rateLimits",
       plan = 'enterprise' and (quotas is not null or rate_limits is not null) as "hasCustomLimits"
     from customers where customer_id = $1`,
    [customerId],
    "request",
  );
  if (row === undefined) return { isCanceled: false, customAllowance: null };
  return { isCanceled: row.isCanceled, customAllowance: row.hasCustomLimits ? allowanceOf("enterprise", row) : null };
}
