import { UserFacingError } from "../../lib/user-facing-error.ts";
import type { Database } from "../../ports/database.ts";

/** The store's secrets are sealed with a key that this process does not have. */
export class SecretKeyMismatchError extends UserFacingError {
  override readonly name = "SecretKeyMismatchError";
}

const META_KEY = "secret_key_id";

/**
 * Stores the id of the key that seals secrets, if the store has none, otherwise compares it. If it is the second key of
 * this process, the first one replaces it.
 *
 * @param keyIds  ids of the keys of this process; the first one seals
 * @param options.isKeyLost  replaces the id of the store by the first one
 * @throws SecretKeyMismatchError if the store has the id of another key
 */
export async function ensureSecretKeyId(
  database: Database,
  keyIds: readonly [string, ...string[]],
  { isKeyLost }: { readonly isKeyLost: boolean },
): Promise<void> {
  const [currentId] = keyIds;
  const [known] = await database.query<{ value: string }>(`select value from meta where key = '${META_KEY}'`);
  // No write, because a store must open even if the disk is full.
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
