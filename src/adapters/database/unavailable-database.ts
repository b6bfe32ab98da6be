import type { Database } from "../../ports/database.ts";
import { storeUnavailable } from "./errors.ts";

/**
 * A database that rejects every statement, for an app that only generates its OpenAPI description. Opening a store
 * takes seconds.
 */
export function createUnavailableDatabase(): Database {
  const refuse = async () => {
    throw storeUnavailable("There is no store.");
  };
  return { query: refuse, transaction: refuse, close: async () => {} };
}
