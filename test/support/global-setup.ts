import { join } from "node:path";
import { temporaryFolder } from "./service-process.ts";
import { makeStoreTemplate } from "./store-template.ts";

/** Runs once before all test files of `npm test`. */
let folder: Awaited<ReturnType<typeof temporaryFolder>> | null = null;

export async function globalSetup(): Promise<void> {
  folder = await temporaryFolder();
  // About 200 processes load the same sources. The cache saves removing types and compiling in all but the first.
  process.env.NODE_COMPILE_CACHE ??= join(folder.path, "compiled");
  await makeStoreTemplate(folder.path);
}

export async function globalTeardown(): Promise<void> {
  await folder?.release();
}
