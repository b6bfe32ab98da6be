import { ensureSecretKeyId } from "../adapters/database/secret-key-id.ts";
import { createSecretBox, secretKeyId } from "../adapters/system/secret-box.ts";
import { loadSecretKey } from "../adapters/system/secret-key-file.ts";
import { systemRandom } from "../adapters/system/system-random.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../ports/database.ts";
import type { SecretBox } from "../ports/secret-box.ts";

/**
 * Opens the secret box with the configured keys, or with the key of the data directory if none is configured.
 *
 * @throws SecretKeyMismatchError if the store's secrets are sealed with another key
 */
export async function openSecretBox(
  { secretKeys, isSecretKeyLost, dataDir }: Pick<Config, "secretKeys" | "isSecretKeyLost" | "dataDir">,
  database: Database,
): Promise<SecretBox> {
  const [current = await loadSecretKey(dataDir, systemRandom), ...others] = secretKeys;
  const box = createSecretBox([current, ...others], systemRandom);
  const ids = [secretKeyId(current), ...others.map(secretKeyId)] as const;
  await ensureSecretKeyId(database, ids, { isKeyLost: isSecretKeyLost });
  return box;
}
