import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { run, temporaryFolder } from "./support/service-process.ts";

const PROJECT = new URL("..", import.meta.url).pathname;
/** The reporters of `npm test` that write to its output. */
const REPORTERS: readonly string[] = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8"))
  .scripts.test.split(" ")
  .filter((argument: string) => argument.startsWith("--test-reporter"))
  .slice(0, 4);

test("`npm test` ends with the number of skipped tests by reason and the command that runs them", async () => {
  const folder = await temporaryFolder();
  const file = join(folder.path, "skips.test.mjs");
  const reasons = ["TEST_DATABASE_URL is not set", "TEST_DATABASE_URL is not set", "TEST_REDIS_URL is not set"];
  const lines = [...reasons, "/usr/bin/chromium does not exist", "only for root"].map(
    (reason) => `test("a test", { skip: ${JSON.stringify(reason)} }, () => {});`,
  );
  await writeFile(file, `import { test } from "node:test";\n${lines.join("\n")}\ntest("runs", () => {});\n`);
  const program = run(process.execPath, ["--test", ...REPORTERS, file]);
  assert.equal(await program.ended, 0, program.output());
  const summary = program.output().slice(program.output().indexOf("Skipped tests:"));
  for (const line of ["Skipped tests: 5", "  2 × TEST_DATABASE_URL is not set", "  1 × only for root"])
    assert.ok(summary.includes(`${line}\n`), program.output());
  assert.match(summary, /^ {2}TEST_DATABASE_URL=\S+ TEST_REDIS_URL=\S+ TEST_CHROMIUM=\S+ npm test$/m);
  assert.match(program.output(), /^ℹ pass 1$/m);

  await writeFile(file, 'import { test } from "node:test";\ntest("runs", () => {});\n');
  const complete = run(process.execPath, ["--test", ...REPORTERS, file]);
  assert.equal(await complete.ended, 0);
  assert.doesNotMatch(complete.output(), /Skipped tests/);
  await folder.release();
});
