import { Kysely } from "kysely";
import type { Database } from "../../ports/database.ts";
import type { Tables } from "../../ports/tables.ts";
import { createSessionDialect } from "./dialect.ts";
import { storeUnavailable } from "./errors.ts";

/** No store at all, for an app that only describes itself: making one takes seconds, and nothing would be asked of it. */
export function createAbsentDatabase(): Database {
  const refuse = async () => {
    throw storeUnavailable("There is no store.");
  };
  return {
    kysely: new Kysely<Tables>({ dialect: createSessionDialect(refuse, async () => {}) }),
    query: refuse,
    transaction: refuse,
    close: async () => {},
  };
}
