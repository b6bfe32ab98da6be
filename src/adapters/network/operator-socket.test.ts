import assert from "node:assert/strict";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { recordingLog } from "../../../test/support/test-app.ts";
import { createTestFolder } from "../../../test/support/test-folder.ts";
import {
  listenOnOperatorSocket,
  type OperatorFailure,
  OperatorSocketError,
  requestOverOperatorSocket,
} from "./operator-socket.ts";

const SOCKET_FILE = "operator.sock";

async function createTestSocket() {
  const dataDir = await createTestFolder();
  const { log, lines } = recordingLog();
  const listen = (handle: (request: unknown) => Promise<unknown>, waitMs?: number) =>
    listenOnOperatorSocket(dataDir, handle, log, waitMs);
  return { dataDir, lines, listen, clock: new FakeClock() };
}

const echo = async (request: unknown) => ({ echo: request });
const isFailure = (failure: OperatorFailure) => (error: unknown) =>
  error instanceof OperatorSocketError && error.failure === failure;

/** Sends a text and returns all data received until the connection closes. */
async function exchange(path: string, text: string): Promise<string> {
  const socket = createConnection(path);
  socket.write(text);
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  await new Promise((resolve) => socket.once("close", resolve));
  return received;
}

test("responds over a socket that only its owner can open, and creates no other file", async () => {
  const { dataDir, listen, clock } = await createTestSocket();
  const stopListening = await listen(echo);
  assert.deepEqual(await requestOverOperatorSocket(dataDir, { argv: ["list"] }, clock), { echo: { argv: ["list"] } });
  assert.equal((await stat(join(dataDir, SOCKET_FILE))).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(dataDir), [SOCKET_FILE]);
  await stopListening();
  assert.deepEqual(await readdir(dataDir), []);
});

test("replaces the socket of a killed process", async () => {
  const { dataDir, listen, clock } = await createTestSocket();
  await writeFile(join(dataDir, SOCKET_FILE), "");
  const stopListening = await listen(echo);
  assert.deepEqual(await requestOverOperatorSocket(dataDir, 1, clock), { echo: 1 });
  await stopListening();
});

test("logs a warning and continues if the socket cannot be created", async () => {
  const deepSocket = await createTestSocket();
  const deepFolder = join(deepSocket.dataDir, "x".repeat(90));
  await mkdir(deepFolder);
  await (await listenOnOperatorSocket(deepFolder, echo, recordingLog().log))();
  const { dataDir, lines, listen } = await createTestSocket();
  await mkdir(join(dataDir, SOCKET_FILE));
  await writeFile(join(dataDir, SOCKET_FILE, "blocking"), "");
  const stopListening = await listen(echo);
  await stopListening();
  assert.equal(lines[0]?.level, "warn");
  assert.deepEqual([await readdir(dataDir), await readdir(deepFolder)], [[SOCKET_FILE], []]);
});

test("a failing command, an oversized line and invalid JSON return a failure, and the next command succeeds", async () => {
  const { dataDir, listen, lines, clock } = await createTestSocket();
  const stopListening = await listen(async (request) => {
    if (request === "fail") throw new Error("command failed");
    return request;
  });
  await assert.rejects(requestOverOperatorSocket(dataDir, "fail", clock), isFailure("failed"));
  for (const text of ["{\n", `"${"x".repeat(16 * 1024 * 1024)}"\n`])
    assert.equal(await exchange(join(dataDir, SOCKET_FILE), text), '{"failure":"failed"}\n');
  assert.equal(lines.filter(({ level }) => level === "warn").length, 3);
  assert.equal(await requestOverOperatorSocket(dataDir, "next", clock), "next");
  await stopListening();
});

test("closes idle connections, and reports `silent` for a command that the shutdown interrupts", async () => {
  const { dataDir, listen, clock } = await createTestSocket();
  const requested = Promise.withResolvers<void>();
  const stopListening = await listen((request) => {
    if (request === "wait") requested.resolve();
    return new Promise(() => {});
  }, 20);
  assert.equal(await exchange(join(dataDir, SOCKET_FILE), ""), '{"failure":"failed"}\n');
  const interrupted = assert.rejects(requestOverOperatorSocket(dataDir, "wait", clock), isFailure("silent"));
  await requested.promise;
  await stopListening();
  await interrupted;
});

test("a request is retried for five seconds until the service listens", async () => {
  const { dataDir, listen, clock } = await createTestSocket();
  await assert.rejects(clock.until(requestOverOperatorSocket(dataDir, 1, clock)), isFailure("absent"));
  assert.equal(clock.monotonic(), 4_800);
  const response = requestOverOperatorSocket(dataDir, 2, clock);
  while (clock.nextInMs === null) await clock.settle();
  const stopListening = await listen(echo);
  await clock.advance(200);
  assert.deepEqual(await response, { echo: 2 });
  await stopListening();
});
