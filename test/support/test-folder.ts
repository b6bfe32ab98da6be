import { atFileEnd } from "./file-end.ts";
import { temporaryFolder } from "./service-process.ts";

/** Creates a folder that is removed after the last test of the file. */
export async function createTestFolder(): Promise<string> {
  const folder = await temporaryFolder();
  atFileEnd(folder.release);
  return folder.path;
}
