import { join } from "node:path";
import { temporaryFolder } from "./service-process.ts";
import { makeStoreTemplate } from "./store-template.ts";

/** Runs once before all test files of `npm test`. */
let folder: Awaited<ReturnType<typeof temporaryFolder>> | null = null;

export async function globalSetup(): Promise<void> {
  folder = await temporaryFolder();
  // Some two hundred programs load the same sources: what one has stripped of types and compiled, the next takes over.
  process.env.NODE_COMPILE_CACHE ??= join(folder.path, "compiled");
  await makeStoreTemplate(folder.path);
}

export async function globalTeardown(): Promise<void> {
  await folder?.release();
}
