import { temporaryFolder } from "./service-process.ts";
import { makeStoreTemplate } from "./store-template.ts";

/** What `npm test` does once, before any file. */
let folder: Awaited<ReturnType<typeof temporaryFolder>> | null = null;

export async function globalSetup(): Promise<void> {
  folder = await temporaryFolder();
  await makeStoreTemplate(folder.path);
}

export async function globalTeardown(): Promise<void> {
  await folder?.release();
}
