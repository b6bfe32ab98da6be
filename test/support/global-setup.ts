import { join } from "node:path";
import { temporaryFolder } from "./service-process.ts";
import { makeStoreTemplate } from "./store-template.ts";

/** Compiled code of all test processes, and of the services they start, for this `npm test` and later ones. */
const COMPILED_FOLDER = join(import.meta.dirname, "../../node_modules/.cache/parallax-tests");

/** Folder of the store template, shared by all test files of one `npm test`. */
let folder: Awaited<ReturnType<typeof temporaryFolder>> | null = null;

export async function globalSetup(): Promise<void> {
  folder = await temporaryFolder();
  // About 200 processes load the same sources. With the cache only the first one removes types and compiles.
  process.env.NODE_COMPILE_CACHE ??= COMPILED_FOLDER;
  await makeStoreTemplate(folder.path);
}

export async function globalTeardown(): Promise<void> {
  await folder?.release();
}
