import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import type { StoreFiles } from "../../src/adapters/database/store-template/new-store.ts";

/** Creates an empty store in `folder` with `initdb`, which takes two seconds of CPU time, and returns its files. */
export async function initializeStore(folder: string): Promise<StoreFiles> {
  const engine = await PGlite.create({ dataDir: folder });
  await engine.close();
  return readStoreFiles(folder);
}

/** Returns the files of a store that no engine has open. */
export function readStoreFiles(folder: string): StoreFiles {
  // The databases of a new store are copies, which share one object, so that a serialized map contains it once.
  const contents = new Map<string, Uint8Array>();
  const readContent = (path: string) => {
    const content = readFileSync(path);
    const key = hash("sha256", content);
    const known = contents.get(key) ?? content;
    contents.set(key, known);
    return known;
  };
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    return [relative(folder, path), entry.isDirectory() ? null : readContent(path)] as const;
  });
  return new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
