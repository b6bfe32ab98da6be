import { type Allowance, allowanceOf } from "../../domain/plan.ts";
import type { Database } from "../../ports/database.ts";

/** What an operator has said of a marketplace's user. */
export interface UserAccount {
  readonly isCanceled: boolean;
  /** The user's own numbers; null where it has none. */
  readonly own: Allowance | null;
}

export async function findUserAccount(database: Database, customerId: string): Promise<UserAccount> {
  const [row] = await database.query<{
    is_canceled: boolean;
    has_own: boolean;
    quotas: Partial<Allowance["quotas"]> | null;
    rate_limits: Partial<Allowance["rateLimits"]> | null;
  }>(
    `select status = 'canceled' as is_canceled, quotas, rate_limits,
       plan = 'enterprise' and (quotas is not null or rate_limits is not null) as has_own
     from customers where customer_id = $1`,
    [customerId],
    "request",
  );
  if (row === undefined) return { isCanceled: false, own: null };
  const { is_canceled: isCanceled, has_own: hasOwn, quotas, rate_limits: rateLimits } = row;
  return { isCanceled, own: hasOwn ? allowanceOf("enterprise", { quotas, rateLimits }) : null };
}
