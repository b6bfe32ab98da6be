import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { run } from "./support/service-process.ts";
import { createTestFolder } from "./support/test-folder.ts";

const PROJECT = new URL("..", import.meta.url).pathname;
const PRINT_VARIABLE =
  'data:text/javascript,process.on("exit",()=>console.log(JSON.stringify({folder:process.env.NODE_COMPILE_CACHE})))';

/** Runs `--version` and returns the folder of compiled code that threads and child processes use. */
async function readFolder(env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const program = run(
    process.execPath,
    ["--import", PRINT_VARIABLE, join(PROJECT, "bin/parallax.mjs"), "--version"],
    env,
  );
  assert.equal(await program.ended, 0, program.output());
  return /"folder":"([^"]*)"/.exec(program.output())?.[1];
}

test("threads and the simulated venues use the folder of compiled code of the main thread", async () => {
  assert.equal(await readFolder({ NODE_COMPILE_CACHE: "" }), join(PROJECT, "node_modules/.cache/parallax"));
  const folder = await createTestFolder();
  assert.equal(await readFolder({ NODE_COMPILE_CACHE: folder }), folder);
  assert.equal(await readFolder({ NODE_COMPILE_CACHE: "", NODE_DISABLE_COMPILE_CACHE: "1" }), "");
});

test("the image is built with the Node options of the start, so that the compile cache is valid", async () => {
  const text = await readFile(join(PROJECT, "Dockerfile"), "utf8");
  const built = /^RUN node (.*) bin\/parallax\.mjs openapi/m.exec(text)?.[1];
  const started = /^CMD \["node", (.*), "bin\/parallax\.mjs", "serve"\]$/m.exec(text)?.[1];
  assert.ok(built !== undefined);
  assert.deepEqual(built.split(" "), JSON.parse(`[${started}]`));
});
