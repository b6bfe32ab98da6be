import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { acquireDataDirLock, DataDirLockedError } from "./data-dir-lock.ts";

const LOCK_HOLDER_SCRIPT = fileURLToPath(
  new URL("../../../test/support/programs/take-data-dir-lock.ts", import.meta.url),
);
let directory: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "parallax-lock-"));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await rm(directory, { recursive: true, force: true });
});

/** Starts a process that tries to acquire the lock. Returns the process and its output line. */
async function startLockProcess(): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, [LOCK_HOLDER_SCRIPT, directory], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { child, line: String(line) };
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

test("a second process fails with one sentence that names the holder's process id and the directory", async () => {
  const { child, line } = await startLockProcess();
  assert.equal(line, "held");
  await assert.rejects(acquireDataDirLock(directory), (error: unknown) => {
    assert.ok(error instanceof DataDirLockedError);
    assert.equal(error.pid, child.pid);
    assert.ok(error.message.includes(directory) && error.message.includes(`pid ${child.pid}`));
    assert.ok(!error.message.includes("\n"));
    return true;
  });
});

test("a refused process does not change the directory", async () => {
  await startLockProcess();
  const filesBefore = await readdir(directory);
  await assert.rejects(acquireDataDirLock(directory), DataDirLockedError);
  assert.deepEqual(await readdir(directory), filesBefore);
});

test("the lock of a killed process can be acquired immediately, even if its process id is reused", async () => {
  const { child } = await startLockProcess();
  await kill(child);
  // The owner file contains the id of a live process, but only the system's lock is checked.
  await writeFile(join(directory, "lock-owner.json"), JSON.stringify({ pid: process.pid }));
  const lock = await acquireDataDirLock(directory);
  await lock.release();
});

test("a process stopped by SIGSTOP holds its lock", async () => {
  const { child } = await startLockProcess();
  child.kill("SIGSTOP");
  await assert.rejects(acquireDataDirLock(directory), DataDirLockedError);
});

test("if the holder is killed, exactly one of several simultaneous processes acquires the lock", async () => {
  const { child } = await startLockProcess();
  await kill(child);
  const lines = await Promise.all(Array.from({ length: 4 }, () => startLockProcess().then(({ line }) => line)));
  assert.equal(lines.filter((line) => line === "held").length, 1);
  assert.equal(lines.filter((line) => line.startsWith("refused The data directory")).length, 3);
});

test("one process cannot acquire a lock twice, but can acquire it after its release", async () => {
  const first = await acquireDataDirLock(directory);
  await assert.rejects(acquireDataDirLock(directory), DataDirLockedError);
  await first.release();
  await first.release();
  const second = await acquireDataDirLock(directory);
  await second.release();
});
