import type { Transaction } from "../../../ports/database.ts";

const LOCK_ID = "4713380642198337521";

/** Waits until no other node logs price shifts, and excludes the others until the end of the transaction. */
export async function lockPriceShifts(transaction: Transaction): Promise<void> {
  await transaction.query(`select pg_advisory_xact_lock(${LOCK_ID})`);
}
