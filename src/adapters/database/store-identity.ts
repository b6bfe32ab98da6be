import { UserFacingError } from "../../lib/user-facing-error.ts";
import type { Database } from "../../ports/database.ts";

/** The kind of data in a store; written once, when the store is new. */
export interface StoreIdentity {
  readonly data: "sandbox" | "live";
  /** Seed of the simulated world; null for live data. */
  readonly seed: number | null;
  /** Start of the simulated world in Unix milliseconds, stored so that a restart continues it; null for live data. */
  readonly genesisAt: number | null;
}

export class StoreIdentityError extends UserFacingError {
  override readonly name = "StoreIdentityError";
}

const META_KEYS = ["data", "seed", "genesis_at"] as const;

const toNumber = (text: string | undefined): number | null => {
  const value = text === undefined || text === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
};

async function readIdentity(database: Database): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<{ key: string; value: string }>(
    "select key, value from meta where key = any($1::text[])",
    [META_KEYS],
  );
  return new Map(rows.map((row) => [row.key, row.value]));
}

/**
 * Writes the identity if the store is new; otherwise compares the stored identity with `expected`. Returns the stored
 * identity, whose `genesisAt` was set by the first start. Throws `StoreIdentityError` if the store has another kind of
 * data or another sandbox seed.
 */
export async function ensureStoreIdentity(database: Database, expected: StoreIdentity): Promise<StoreIdentity> {
  const values = [expected.data, expected.seed?.toString() ?? "", expected.genesisAt?.toString() ?? ""];
  let stored = await readIdentity(database);
  if (!stored.has("data")) {
    // One statement for all three values, because two nodes may start simultaneously.
    await database.query(
      `insert into meta (key, value)
       select entry.key, entry.value from unnest($1::text[], $2::text[]) as entry (key, value)
       where not exists (select 1 from meta where key = 'data')
       order by entry.key
       on conflict (key) do nothing`,
      [META_KEYS, values],
    );
    stored = await readIdentity(database);
  }
  const data = stored.get("data");
  if (data !== "sandbox" && data !== "live")
    throw new StoreIdentityError(`The store has an unknown kind of data: ${data}.`);
  const seed = toNumber(stored.get("seed"));
  if (data !== expected.data) {
    throw new StoreIdentityError(
      `This store holds ${data} data and cannot be opened in ${expected.data} mode: choose another data directory or database.`,
    );
  }
  if (data === "sandbox" && seed !== expected.seed) {
    throw new StoreIdentityError(
      `This store holds the sandbox world of seed ${seed} and cannot be opened with seed ${expected.seed}: choose another data directory or database.`,
    );
  }
  return { data, seed, genesisAt: toNumber(stored.get("genesis_at")) };
}
