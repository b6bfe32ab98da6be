import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { gzipSync } from "node:zlib";

export interface ProgramRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program on files of rows, in a folder that is deleted after the tests of the file. */
export function createProgramRunner(program: URL) {
  let folder = "";
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "program-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));
  return {
    pathOf: (name: string): string => join(folder, name),
    run: (...args: readonly string[]): Promise<ProgramRun> =>
      new Promise((resolve) => {
        execFile(process.execPath, [program.pathname, ...args], (error, stdout, stderr) =>
          resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
        );
      }),
    /** Writes one JSON object per line, gzipped if the name ends with `.gz`, and returns the path. */
    async fileWith(rows: readonly object[], name = "rows.jsonl"): Promise<string> {
      const path = join(folder, name);
      const text = rows.map((row) => JSON.stringify(row)).join("\n");
      await writeFile(path, name.endsWith(".gz") ? gzipSync(text) : text);
      return path;
    },
  };
}
