import type { Database } from "../../ports/database.ts";
import { storeUnavailable } from "./errors.ts";

/** A database without a store, for an app that only generates its own description; opening a real one takes seconds. */
export function createAbsentDatabase(): Database {
  const refuse = async () => {
    throw storeUnavailable("There is no store.");
  };
  return { query: refuse, transaction: refuse, close: async () => {} };
}
