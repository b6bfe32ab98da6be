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

const CHILD = fileURLToPath(new URL("../../../test/support/take-data-dir-lock.ts", import.meta.url));
let directory: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "parallax-lock-"));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await rm(directory, { recursive: true, force: true });
});

/** Starts another process that tries to acquire the lock; returns its output line. */
async function startHolder(): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, [CHILD, directory], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { child, line: String(line) };
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

test("a second process is refused with one sentence that names the holder and the directory", async () => {
  const { child, line } = await startHolder();
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
  await startHolder();
  const before = await readdir(directory);
  await assert.rejects(acquireDataDirLock(directory), DataDirLockedError);
  assert.deepEqual(await readdir(directory), before);
});

test("the lock of a killed process is free immediately, even if its process id is in use again", async () => {
  const { child } = await startHolder();
  await kill(child);
  // The owner file names a live process, this one, but only the system's lock counts.
  await writeFile(join(directory, "lock-owner.json"), JSON.stringify({ pid: process.pid }));
  const lock = await acquireDataDirLock(directory);
  await lock.release();
});

test("a stopped process (SIGSTOP) keeps its lock", async () => {
  const { child } = await startHolder();
  child.kill("SIGSTOP");
  await assert.rejects(acquireDataDirLock(directory), DataDirLockedError);
});

test("exactly one of several simultaneous processes acquires the lock of a dead holder", async () => {
  const { child } = await startHolder();
  await kill(child);
  const lines = await Promise.all(Array.from({ length: 4 }, () => startHolder().then(({ line }) => line)));
  assert.equal(lines.filter((line) => line === "held").length, 1);
  assert.equal(lines.filter((line) => line.startsWith("refused The data directory")).length, 3);
});

test("a lock cannot be acquired twice in one process, but again after its release", async () => {
  const first = await acquireDataDirLock(directory);
  await assert.rejects(acquireDataDirLock(directory), DataDirLockedError);
  await first.release();
  await first.release();
  const second = await acquireDataDirLock(directory);
  await second.release();
});
