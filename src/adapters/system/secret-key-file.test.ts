import assert from "node:assert/strict";
import { chmod, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createTestFolder } from "../../../test/support/test-folder.ts";
import { loadSecretKey, SecretKeyError } from "./secret-key-file.ts";
import { systemRandom } from "./system-random.ts";

test("creates a key once, and all processes that start at the same time read the same one", async () => {
  const folder = await createTestFolder();
  const keys = await Promise.all(Array.from({ length: 8 }, () => loadSecretKey(folder, systemRandom)));
  keys.push(await loadSecretKey(folder, systemRandom));
  assert.equal(new Set(keys.map((key) => Buffer.from(key).toString("base64"))).size, 1);
  assert.equal(keys[0]?.length, 32);
  assert.deepEqual(await readdir(folder), ["secret-key"]);
  const path = join(folder, "secret-key");
  assert.equal(await readFile(path, "utf8"), `${Buffer.from(keys[0] ?? []).toString("base64")}\n`);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  await chmod(path, 0o644);
  await loadSecretKey(folder, systemRandom);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test("a file with other contents is an error and is not changed", async () => {
  const folder = await createTestFolder();
  const path = join(folder, "secret-key");
  for (const text of ["", "short", Buffer.alloc(31).toString("base64"), Buffer.alloc(33).toString("base64")]) {
    await writeFile(path, text);
    await assert.rejects(loadSecretKey(folder, systemRandom), SecretKeyError);
    assert.equal(await readFile(path, "utf8"), text);
  }
});
