import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { run, temporaryFolder } from "./support/service-process.ts";

const REPORTER = new URL("failed-files-reporter.ts", import.meta.url).pathname;
/** The content of each file; all but `passes` fail. */
const FILES: Readonly<Record<string, string>> = {
  passes: 'test("passes", () => {});',
  "fails-inside": 'test("outer", (outer) => outer.test("inner", () => { throw new Error("wrong"); }));',
  ends: 'test("passes", () => {}); setImmediate(() => process.exit(3));',
  "does-not-parse": "this is no program",
  "calls-a-helper": 'import { failingTest } from "./helper.mjs"; failingTest();',
};
const HELPER =
  'import { test } from "node:test"; export const failingTest = () => test("x", () => { throw new Error("wrong"); });';

test("the list of failed test files names each file that must run again, once", async () => {
  const folder = await temporaryFolder();
  const paths = Object.keys(FILES).map((name) => join(folder.path, `${name}.test.mjs`));
  for (const [index, text] of Object.values(FILES).entries())
    await writeFile(paths[index] ?? "", `import { test } from "node:test";\n${text}\n`);
  await writeFile(join(folder.path, "helper.mjs"), HELPER);
  const group = join(folder.path, "group.test.mjs");
  await writeFile(
    group,
    `import { describe } from "node:test";
     for (const path of ${JSON.stringify(paths.slice(0, 2))}) describe(path, () => import(path));`,
  );
  const list = join(folder.path, "failed");
  const reporter = [`--test-reporter=${REPORTER}`, `--test-reporter-destination=${list}`];
  for (const [files, failing] of [
    [paths, paths.slice(1)],
    [[group], paths.slice(1, 2)],
  ] as const) {
    assert.equal(await run(process.execPath, ["--test", ...reporter, ...files]).ended, 1);
    const failedFiles = (await readFile(list, "utf8")).split("\n").filter((line) => line !== "");
    assert.deepEqual(failedFiles.sort(), [...failing].sort());
  }
  await folder.release();
});
