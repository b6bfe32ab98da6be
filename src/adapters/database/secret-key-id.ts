import { UserFacingError } from "../../lib/user-facing-error.ts";
import type { Database } from "../../ports/database.ts";

/** Thrown if the secrets in the store are encrypted with a key that this process does not have. */
export class SecretKeyMismatchError extends UserFacingError {
  override readonly name = "SecretKeyMismatchError";
}

const META_KEY = "secret_key_id";

/**
 * Stores the id of the current secret key in a new store. Otherwise compares the stored id with the keys of this
 * process. If the stored id is the id of the second key, it is replaced by the id of the first key.
 *
 * @param keyIds  ids of the keys of this process; secrets are encrypted with the first key
 * @param options.isKeyLost  true replaces the stored id by the id of the first key, whichever key the stored id has
 * @throws SecretKeyMismatchError if the store has the id of another key
 */
export async function ensureSecretKeyId(
  database: Database,
  keyIds: readonly [string, ...string[]],
  { isKeyLost }: { readonly isKeyLost: boolean },
): Promise<void> {
  const [currentId] = keyIds;
  const [known] = await database.query<{ value: string }>(`select value from meta where key = '${META_KEY}'`);
  // Writes nothing if the id is current, because a store must open even if the disk is full.
  if (known?.value === currentId) return;
  // Of two processes that start at the same time with different keys, one must fail.
  const [row] = await database.query<{ value: string }>(
    `insert into meta as stored (key, value) values ('${META_KEY}', $1)
     on conflict (key) do update
       set value = case when $3 or stored.value = any($2::text[]) then excluded.value else stored.value end
     returning value`,
    [currentId, keyIds, isKeyLost],
  );
  if (row?.value === currentId) return;
  throw new SecretKeyMismatchError(
    `The secrets in this store are sealed with the key ${row?.value}, and this process has the key ${currentId}. Set PARALLAX_SECRET_KEY to the key of the other processes (without the setting, the file secret-key in their data directory), or restore that file from a backup. If the key is lost, start once with PARALLAX_SECRET_KEY_LOST=1: webhooks with its secrets must then be registered again.`,
  );
}
