import { join } from "node:path";
import { temporaryFolder } from "./service-process.ts";
import { makeStoreTemplate } from "./store-template.ts";

/** Folder of the compile cache and of the store template, shared by all test files of one `npm test`. */
let folder: Awaited<ReturnType<typeof temporaryFolder>> | null = null;

export async function globalSetup(): Promise<void> {
  folder = await temporaryFolder();
  // About 200 processes load the same sources. With the cache only the first one removes types and compiles.
  process.env.NODE_COMPILE_CACHE ??= join(folder.path, "compiled");
  await makeStoreTemplate(folder.path);
}

export async function globalTeardown(): Promise<void> {
  await folder?.release();
}
