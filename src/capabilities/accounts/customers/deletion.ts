import { AppError } from "../../../domain/errors.ts";
import type { Transaction } from "../../../ports/database.ts";
import { deleteActivity } from "../activity/index.ts";
import { endSessions } from "../sessions/index.ts";
import type { CustomerData } from "./customer-data.ts";
import type { Actor } from "./model.ts";
import { deleteEmailChange, insertAudit, lockCustomer } from "./queries.ts";

const DELETED_ACTION = "customer.deleted";

/**
 * Deletes a customer with its e-mail address, name, keys, sessions, usage and requests, and the data that other modules
 * store (`customerData`). Returns the e-mail address. The audit log and the calls per month remain under the customer
 * id. If the audit log shows that the customer was already deleted, nothing is deleted and the address is null.
 *
 * @throws AppError `customer_not_found`
 */
export async function deleteAccount(
  transaction: Transaction,
  {
    customerId,
    actor,
    customerData,
  }: { readonly customerId: string; readonly actor: Actor; readonly customerData: readonly CustomerData[] },
  now: number,
): Promise<{ readonly email: string | null }> {
  // Runs before the customer is locked, because e-mail requests lock these rows in the same order.
  await transaction.query(
    `delete from attempts
     where split_part(subject, ':', 2) = (select email from customers where customer_id = $1)`,
    [customerId],
  );
  const row = await lockCustomer(transaction, customerId);
  if (row === null) {
    if (await wasDeleted(transaction, customerId)) return { email: null };
    throw new AppError("customer_not_found", "There is no such customer");
  }
  const { email } = row;
  const sessions = await endSessions(transaction, customerId);
  await deleteEmailChange(transaction, customerId);
  await transaction.query("delete from pending_signups where email = $1", [email]);
  await deleteActivity(transaction, customerId);
  for (const data of customerData) await data.deleteOf(transaction, customerId);
  const keys = await transaction.query("delete from api_keys where customer_id = $1 returning key_id", [customerId]);
  // Key names may contain personal data, because users choose them.
  await transaction.query("update audit_log set details = details - 'name' where customer_id = $1", [customerId]);
  await transaction.query("delete from customers where customer_id = $1", [customerId]);
  const details = { keys: keys.length, sessions };
  await insertAudit(transaction, { actor, action: DELETED_ACTION, customerId, details, now });
  return { email };
}

async function wasDeleted(transaction: Transaction, customerId: string): Promise<boolean> {
  const rows = await transaction.query("select 1 from audit_log where customer_id = $1 and action = $2 limit 1", [
    customerId,
    DELETED_ACTION,
  ]);
  return rows.length > 0;
}
