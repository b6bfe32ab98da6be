import type { Database, Transaction } from "../../../ports/database.ts";

/** Customer data that another area stores. */
export interface CustomerData {
  /** Deletes or anonymises the rows of a deleted customer, within the transaction of the deletion. */
  deleteOf(transaction: Transaction, customerId: string): Promise<void>;
  /**
   * Deletes rows after their retention. Idempotent.
   *
   * @param now         Unix milliseconds
   * @param shouldStop  ends the run after the current batch
   */
  deleteExpired?(database: Pick<Database, "query">, now: number, shouldStop: () => boolean): Promise<void>;
}
