import { after } from "node:test";
import { temporaryFolder } from "./service-process.ts";

const folders: Awaited<ReturnType<typeof temporaryFolder>>[] = [];
after(() => Promise.all(folders.map((folder) => folder.release())));

/** Creates a folder that is removed after the last test of the file. */
export async function createTestFolder(): Promise<string> {
  const folder = await temporaryFolder();
  folders.push(folder);
  return folder.path;
}
