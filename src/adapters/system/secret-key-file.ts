import { chmod, link, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { UserFacingError } from "../../lib/user-facing-error.ts";
import type { Random } from "../../ports/random.ts";

export class SecretKeyError extends UserFacingError {
  override name = "SecretKeyError";
}

const FILE_NAME = "secret-key";
const KEY_BYTES = 32;
const OWNER_ONLY = 0o600;
const KEY_PATTERN = /^[A-Za-z0-9+/]{43}=\s*$/;

/**
 * Reads the secret key from the file `secret-key` in the data directory, or creates the file with a random key.
 * Processes that start at the same time get the same key. Only the owner may read the file.
 *
 * @param dataDir  an existing directory
 * @throws SecretKeyError if the file has other contents
 */
export async function loadSecretKey(dataDir: string, random: Random): Promise<Uint8Array> {
  const path = join(dataDir, FILE_NAME);
  const key = (await readKey(path)) ?? (await createKey(path, random));
  await chmod(path, OWNER_ONLY);
  return key;
}

async function readKey(path: string): Promise<Uint8Array | null> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return null;
  if (KEY_PATTERN.test(text)) return Buffer.from(text, "base64");
  throw new SecretKeyError(
    `${path} does not contain a key (base64 of ${KEY_BYTES} bytes). Restore it from a backup; without it, stored webhook secrets cannot be read`,
  );
}

async function createKey(path: string, random: Random): Promise<Uint8Array> {
  const temporaryPath = `${path}.${Buffer.from(random.bytes(8)).toString("hex")}.new`;
  const text = `${Buffer.from(random.bytes(KEY_BYTES)).toString("base64")}\n`;
  try {
    await writeFile(temporaryPath, text, { mode: OWNER_ONLY, flag: "wx", flush: true });
    // `link` fails if another process has created the file. A rename would replace the key of that process.
    await link(temporaryPath, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(temporaryPath, { force: true });
  }
  const key = await readKey(path);
  if (key === null) throw new Error(`${path} was deleted`);
  return key;
}
