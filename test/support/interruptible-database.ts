import { AppError } from "../../src/domain/errors.ts";
import type { Database, Transaction } from "../../src/ports/database.ts";

/** A database that fails while `state.isUp` is false; `state.before` runs before each statement. */
export function interruptible(real: Database) {
  const state = { isUp: true, before: () => {} };
  const whenUp = ({ query }: Transaction): Transaction["query"] =>
    function queryWhenUp<Row extends object>(text: string, parameters?: readonly unknown[]) {
      state.before();
      return state.isUp ? query<Row>(text, parameters) : Promise.reject(new AppError("store_unavailable", "down"));
    };
  const database: Database = {
    query: whenUp(real),
    transaction: (run) => real.transaction((transaction) => run({ query: whenUp(transaction) })),
    close: async () => {},
  };
  return { state, database };
}
