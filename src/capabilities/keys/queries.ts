import type { Plan } from "../../domain/plan.ts";
import type { Database } from "../../ports/database.ts";
import type { NewKey } from "./key-format.ts";

/** Who a key speaks for. */
export interface KeyOwner {
  readonly customerId: string;
  readonly plan: Plan;
  readonly keyId: string;
}

/** The living key with this hash, of a customer that may call; null when there is none. */
export async function findKeyOwner(database: Database, hash: Uint8Array): Promise<KeyOwner | null> {
  const [row] = await database.query<{ key_id: string; customer_id: string; plan: Plan }>(
    `select api_keys.key_id, api_keys.customer_id, api_keys.plan from api_keys
     join customers using (customer_id)
     where key_hash = $1 and revoked_at is null and customers.status <> 'canceled'`,
    [hash],
  );
  return row === undefined ? null : { customerId: row.customer_id, plan: row.plan, keyId: row.key_id };
}

/** Makes the customer where it is missing, ends the key it had, and gives it this one; all or nothing. */
export async function replaceKey(
  database: Database,
  customer: { readonly customerId: string; readonly email: string | null; readonly plan: Plan },
  key: NewKey & { readonly keyId: string; readonly name: string },
  now: number,
): Promise<void> {
  const at = new Date(now);
  await database.kysely.transaction().execute(async (trx) => {
    await trx
      .insertInto("customers")
      .values({
        customer_id: customer.customerId,
        email: customer.email,
        plan: customer.plan,
        status: "active",
        created_at: at,
      })
      .onConflict((conflict) => conflict.column("customer_id").doUpdateSet({ plan: customer.plan }))
      .execute();
    await trx
      .updateTable("api_keys")
      .set({ revoked_at: at })
      .where("customer_id", "=", customer.customerId)
      .where("revoked_at", "is", null)
      .execute();
    await trx
      .insertInto("api_keys")
      .values({
        key_hash: key.hash,
        key_id: key.keyId,
        customer_id: customer.customerId,
        plan: key.plan,
        prefix: key.prefix,
        name: key.name,
        created_at: at,
      })
      .execute();
  });
}
