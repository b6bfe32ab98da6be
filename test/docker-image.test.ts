import assert from "node:assert/strict";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { run, temporaryFolder } from "./support/service-process.ts";

const PROJECT = new URL("..", import.meta.url).pathname;
const readLines = async (name: string) => (await readFile(join(PROJECT, name), "utf8")).split("\n");

test("the files that the Dockerfile copies are enough to build the app, and .dockerignore includes them", async () => {
  const paths = (await readLines("Dockerfile")).flatMap((line) => {
    const words = /^COPY (.*)$/.exec(line)?.[1]?.split(" ") ?? [];
    return words.slice(0, -1);
  });
  const ignoreLines = await readLines(".dockerignore");
  for (const path of paths) assert.ok(ignoreLines.includes(`!${path}`), path);
  const folder = await temporaryFolder();
  for (const path of paths) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await cp(join(PROJECT, path), join(folder.path, path), { recursive: true });
  }
  await symlink(join(PROJECT, "node_modules"), join(folder.path, "node_modules"));
  const program = run(process.execPath, [join(folder.path, "bin/parallax.mjs"), "openapi"]);
  assert.equal(await program.ended, 0, program.output());
  await folder.release();
});
