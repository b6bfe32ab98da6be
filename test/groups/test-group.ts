import { globSync } from "node:fs";
import { join } from "node:path";
import { before, describe } from "node:test";
// The hooks of these modules must belong to the process. A test file that loads them first would make them its own.
import { clearOpenedDatabases } from "../support/databases.ts";
import { loadTestFile } from "../support/file-end.ts";
import "../support/venues/ingest-harness.ts";
import "../support/venues/stored-ingest.ts";

const PROJECT = join(import.meta.dirname, "../..");

/**
 * Runs all test files below the folders in this process, one after the other, each in a suite with the file's path as
 * its name. A process of its own for each file costs more than most files' tests, because each compiles the same sources
 * and opens the same stores.
 */
export function runTestGroup(folders: readonly string[]): void {
  const files = globSync(
    folders.map((folder) => `${folder}/**/*.test.ts`),
    { cwd: PROJECT },
  ).sort();
  for (const file of files) {
    const path = join(PROJECT, file);
    describe(path, async () => {
      before(clearOpenedDatabases);
      await loadTestFile(path);
    });
  }
}
