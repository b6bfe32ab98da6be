import { AppError } from "../../domain/errors.ts";
import type { Transaction } from "../../ports/database.ts";
import { isAnswer, storeUnavailable } from "./errors.ts";

/** One connection to the store, embedded or on a server. */
export interface SqlSession {
  run(text: string, parameters: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** Starts a transaction. Until `end`, every statement of this session belongs to the transaction. */
  begin(): Promise<void>;
  end(statement: "commit" | "rollback"): Promise<void>;
  /** Returns the connection to the pool, or discards it if it may still be in a transaction. */
  release(): Promise<void>;
}

const UNKNOWN_OUTCOME =
  "The store did not confirm the change, so it may or may not be stored. Send the request again, with the same Idempotency-Key if it had one.";

async function commit(session: SqlSession): Promise<void> {
  try {
    await session.end("commit");
  } catch (error) {
    throw error instanceof AppError && error.code === "store_unavailable" && !isAnswer(error)
      ? storeUnavailable(UNKNOWN_OUTCOME, error)
      : error;
  }
}

/** Implements `Database.transaction` on one session: commits if `work` resolves, rolls back if it throws. */
export async function runTransaction<Result>(
  openSession: () => Promise<SqlSession>,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const session = await openSession();
  let hasFailed = false;
  let hasEnded = false;
  const transaction: Transaction = {
    async query<Row extends object>(text: string, parameters: readonly unknown[] = []) {
      if (hasEnded) throw new Error("The transaction has ended.");
      try {
        return (await session.run(text, parameters)) as Row[];
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    },
  };
  try {
    await session.begin();
    try {
      const result = await work(transaction);
      // PostgreSQL reports success for the commit of a failed transaction, but rolls it back.
      if (hasFailed) throw new Error("A statement of this transaction failed, so it cannot be committed.");
      await commit(session);
      return result;
    } catch (error) {
      await session.end("rollback");
      throw error;
    }
  } finally {
    hasEnded = true;
    await session.release();
  }
}
