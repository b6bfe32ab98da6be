import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import type { Random } from "../../ports/random.ts";
import { type SecretBox, SecretSealError } from "../../ports/secret-box.ts";

const ALGORITHM = "aes-256-gcm";
const VERSION = "v1";
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_CHARACTERS = 8;
const SEALED_PATTERN = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/;

/**
 * Creates a `SecretBox` with AES-256-GCM. The sealed text is `v1.<key id>.<base64url of IV, tag and ciphertext>`. The
 * owner is authenticated, so a sealed secret cannot be opened in another row.
 *
 * @param keys  32 bytes each. The first key encrypts; every key can decrypt, so that keys can be rotated
 * @throws Error if there is no key, or a key has another length
 */
export function createSecretBox(keys: readonly Uint8Array[], random: Random): SecretBox {
  const [current] = keys;
  if (current === undefined || keys.some((key) => key.length !== KEY_BYTES))
    throw new Error(`A secret key must have ${KEY_BYTES} bytes`);
  const keysById = new Map(keys.map((key) => [secretKeyId(key), key]));
  const currentId = secretKeyId(current);
  return {
    seal(secret, owner) {
      const iv = random.bytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, current, iv, { authTagLength: TAG_BYTES });
      cipher.setAAD(authenticatedData(currentId, owner));
      const ciphertext = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      const sealed = Buffer.concat([iv, cipher.getAuthTag(), ciphertext]);
      return `${VERSION}.${currentId}.${sealed.toString("base64url")}`;
    },
    open(sealed, owner) {
      const [, keyId = "", text = ""] = SEALED_PATTERN.exec(sealed) ?? [];
      const bytes = Buffer.from(text, "base64url");
      // Several base64url texts decode to the same bytes. Only the text that `seal` returns is accepted.
      if (bytes.length < IV_BYTES + TAG_BYTES || bytes.toString("base64url") !== text)
        throw new SecretSealError("This text is not a sealed secret.");
      const key = keysById.get(keyId);
      if (key === undefined)
        throw new SecretSealError(`The secret was sealed with another key (${keyId}; this node has ${currentId}).`);
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(authenticatedData(keyId, owner));
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      try {
        const secret = [decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()];
        return Buffer.concat(secret).toString("utf8");
      } catch {
        throw new SecretSealError("The sealed secret belongs to another owner or was changed.");
      }
    },
  };
}

/** Returns an id of a key that does not reveal the key. */
export const secretKeyId = (key: Uint8Array): string =>
  createHash("sha256").update("parallax secret key id\0").update(key).digest("hex").slice(0, KEY_ID_CHARACTERS);

const authenticatedData = (keyId: string, owner: string): Buffer => Buffer.from(`${VERSION}.${keyId}.${owner}`, "utf8");
