import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deserialize } from "node:v8";
import { zstdDecompressSync } from "node:zlib";

/** File of every store, with the major version of PostgreSQL. */
const VERSION_FILE = "PG_VERSION";

/** Contents by path in the folder of a store; null for a folder, which precedes its files. */
export type StoreFiles = ReadonlyMap<string, Uint8Array | null>;

/** `npm run store-template` writes this file; decision 27. */
export const TEMPLATE_FILE = new URL("./empty-store.zst", import.meta.url);

/** Returns the files of an empty store, as `initdb` creates them. */
export const readStoreTemplate = (): StoreFiles => deserialize(zstdDecompressSync(readFileSync(TEMPLATE_FILE)));

/**
 * Creates the files of an empty store in `folder`, an empty folder. Does nothing if it contains a store. If the process
 * is killed before the rename, the folder is empty or missing.
 *
 * @throws Error with code `ENOTEMPTY` if the folder contains something else
 */
export function createStoreFiles(folder: string): void {
  if (existsSync(join(folder, VERSION_FILE))) return;
  const newFolder = `${folder}.new`;
  rmSync(newFolder, { recursive: true, force: true });
  mkdirSync(newFolder, { mode: 0o700 });
  for (const [path, content] of readStoreTemplate()) {
    if (content === null) mkdirSync(join(newFolder, path), { mode: 0o700 });
    else writeFileSync(join(newFolder, path), content, { mode: 0o600 });
  }
  rmdirSync(folder);
  renameSync(newFolder, folder);
}
