import { UserFacingError } from "../../lib/user-facing-error.ts";
import type { Database } from "../../ports/database.ts";

/** What a store was made for; written once, when it is new. */
export interface StoreIdentity {
  readonly data: "sandbox" | "live";
  /** Seed of the simulated world; null for live data. */
  readonly seed: number | null;
  /** Unix milliseconds of the simulated world's beginning, kept so that a restart continues the same world; null for live data. */
  readonly genesisAt: number | null;
}

/** The store holds data of another kind. The message is one sentence made to be shown. */
export class StoreIdentityError extends UserFacingError {
  override readonly name = "StoreMixedError";
}

const META_KEYS = ["data", "seed", "genesis_at"] as const;

const toNumber = (text: string | undefined): number | null => {
  const value = text === undefined || text === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
};

/**
 * Makes a new store this mode's own, or checks that it already is, and gives back what it was made with: on every later
 * start the stored `genesisAt` counts, whatever is passed. Data is never mixed: a store made in the other mode, or with
 * another seed of the sandbox, is refused with `StoreMixedError`.
 */
export async function ensureStoreIdentity(database: Database, wanted: StoreIdentity): Promise<StoreIdentity> {
  const values = [wanted.data, wanted.seed?.toString() ?? "", wanted.genesisAt?.toString() ?? ""];
  // One statement for all three: two nodes that start together must not store a half of each.
  await database.query(
    `insert into meta (key, value)
     select entry.key, entry.value from unnest($1::text[], $2::text[]) as entry (key, value)
     where not exists (select 1 from meta where key = 'data')
     order by entry.key
     on conflict (key) do nothing`,
    [META_KEYS, values],
  );
  const rows = await database.query<{ key: string; value: string }>(
    "select key, value from meta where key = any($1::text[])",
    [META_KEYS],
  );
  const stored = new Map(rows.map((row) => [row.key, row.value]));
  const data = stored.get("data");
  if (data !== "sandbox" && data !== "live")
    throw new StoreIdentityError(`The store does not say what its data is: ${data}.`);
  const seed = toNumber(stored.get("seed"));
  if (data !== wanted.data) {
    throw new StoreIdentityError(
      `This store holds ${data} data and cannot be opened in ${wanted.data} mode: choose another data directory or database.`,
    );
  }
  if (data === "sandbox" && seed !== wanted.seed) {
    throw new StoreIdentityError(
      `This store holds the sandbox world of seed ${seed} and cannot be opened with seed ${wanted.seed}: choose another data directory or database.`,
    );
  }
  return { data, seed, genesisAt: toNumber(stored.get("genesis_at")) };
}
