import assert from "node:assert/strict";
import { chmod, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/support/service-process.ts";
import { recordingLog } from "../../../test/support/test-app.ts";
import { ensurePrivateDir } from "./private-dir.ts";

const readMode = async (path: string) => (await stat(path)).mode & 0o7777;

test("creates a directory with mode 0700, and removes and logs the other permissions of an existing one", async () => {
  const folder = await temporaryFolder();
  const path = join(folder.path, "data", "store");
  const { log, lines } = recordingLog();
  await ensurePrivateDir(path, log);
  assert.equal(await readMode(path), 0o700);
  assert.equal(lines.length, 0);
  for (const mode of [0o755, 0o770, 0o701, 0o777]) {
    await chmod(path, mode);
    await ensurePrivateDir(path, log);
    assert.equal(await readMode(path), 0o700, mode.toString(8));
  }
  assert.equal(lines.length, 4);
  assert.match(JSON.stringify(lines[0]), /permissions are now 0700/);
  await ensurePrivateDir(path, log);
  assert.equal(lines.length, 4);
  await folder.release();
});

test("a directory with the sticky bit keeps its permissions, and a warning is logged", async () => {
  const folder = await temporaryFolder();
  const path = join(folder.path, "shared");
  await mkdir(path);
  await chmod(path, 0o1777);
  const { log, lines } = recordingLog();
  await ensurePrivateDir(path, log);
  assert.equal(await readMode(path), 0o1777);
  assert.match(lines.map(({ message }) => message).join(), /accessible to other users and its permissions cannot/);
  await folder.release();
});
