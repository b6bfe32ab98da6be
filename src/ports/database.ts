import type { Kysely } from "kysely";
import type { Tables } from "./tables.ts";

/** The store in one SQL dialect (PostgreSQL's), whether it is embedded or a server. */
export interface Database {
  readonly kysely: Kysely<Tables>;
  /**
   * A hot-path statement as text. Parameters are scalars or arrays (`$1::int8[]` with UNNEST). Timestamps come back as
   * `Date`, int8 as number. Throws `AppError("store_unavailable")` when the store cannot be reached or takes no writes.
   */
  query<Row extends Record<string, unknown>>(text: string, parameters?: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}
