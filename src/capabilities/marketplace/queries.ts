import { type Allowance, allowanceOf } from "../../domain/plan.ts";
import type { Database } from "../../ports/database.ts";

/** The numbers that an operator gave this customer; null where it has none of its own. */
export async function findOwnAllowance(database: Database, customerId: string): Promise<Allowance | null> {
  const [row] = await database.query<{
    quotas: Partial<Allowance["quotas"]> | null;
    rate_limits: Partial<Allowance["rateLimits"]> | null;
  }>(
    `select quotas, rate_limits from customers
     where customer_id = $1 and plan = 'enterprise' and status <> 'canceled'
       and (quotas is not null or rate_limits is not null)`,
    [customerId],
  );
  if (row === undefined) return null;
  return allowanceOf("enterprise", { quotas: row.quotas, rateLimits: row.rate_limits });
}
