import assert from "node:assert/strict";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { temporaryFolder } from "../../../test/support/service-process.ts";
import { recordingLog } from "../../../test/support/test-app.ts";
import {
  askOperatorSocket,
  listenOnOperatorSocket,
  type OperatorFailure,
  OperatorSocketError,
} from "./operator-socket.ts";

const FILE = "operator.sock";
let root: { path: string; release(): Promise<void> };
before(async () => {
  root = await temporaryFolder();
});
after(() => root.release());

let folders = 0;
async function bench() {
  folders += 1;
  const dataDir = join(root.path, String(folders));
  await mkdir(dataDir);
  const { log, lines } = recordingLog();
  const listen = (answer: (request: unknown) => Promise<unknown>, waitMs?: number) =>
    listenOnOperatorSocket(dataDir, answer, log, waitMs);
  return { dataDir, lines, listen, clock: new FakeClock() };
}

const echo = async (request: unknown) => ({ echo: request });
const failedAs = (failure: OperatorFailure) => (error: unknown) =>
  error instanceof OperatorSocketError && error.failure === failure;

/** What the socket says to a text, until it ends. */
async function say(path: string, text: string): Promise<string> {
  const socket = createConnection(path);
  socket.write(text);
  let told = "";
  socket.on("data", (chunk) => {
    told += chunk;
  });
  await new Promise((resolve) => socket.once("close", resolve));
  return told;
}

test("a command is answered on a socket that its owner alone may open, and nothing else is left in the folder", async () => {
  const { dataDir, listen, clock } = await bench();
  const end = await listen(echo);
  assert.deepEqual(await askOperatorSocket(dataDir, { argv: ["list"] }, clock), { echo: { argv: ["list"] } });
  assert.equal((await stat(join(dataDir, FILE))).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(dataDir), [FILE]);
  await end();
  assert.deepEqual(await readdir(dataDir), []);
});

test("a socket that a killed process left behind is replaced", async () => {
  const { dataDir, listen, clock } = await bench();
  await writeFile(join(dataDir, FILE), "");
  const end = await listen(echo);
  assert.deepEqual(await askOperatorSocket(dataDir, 1, clock), { echo: 1 });
  await end();
});

test("where there can be no socket the service goes on without, and says so", async () => {
  const long = await bench();
  const deep = join(long.dataDir, "x".repeat(90));
  await mkdir(deep);
  await (await listenOnOperatorSocket(deep, echo, recordingLog().log))();
  const { dataDir, lines, listen } = await bench();
  await mkdir(join(dataDir, FILE));
  await writeFile(join(dataDir, FILE, "in the way"), "");
  const end = await listen(echo);
  await end();
  assert.equal(lines[0]?.level, "warn");
  assert.deepEqual([await readdir(dataDir), await readdir(deep)], [[FILE], []]);
});

test("a command that fails inside, an over-long line and one that is no JSON are told so, and the next is answered", async () => {
  const { dataDir, listen, lines, clock } = await bench();
  const end = await listen(async (request) => {
    if (request === "fail") throw new Error("inside");
    return request;
  });
  await assert.rejects(askOperatorSocket(dataDir, "fail", clock), failedAs("failed"));
  for (const text of ["{\n", `"${"x".repeat(70_000)}"\n`])
    assert.equal(await say(join(dataDir, FILE), text), '{"failure":"failed"}\n');
  assert.equal(lines.filter(({ level }) => level === "warn").length, 3);
  assert.equal(await askOperatorSocket(dataDir, "next", clock), "next");
  await end();
});

test("a silent peer is let go, and a command under way when the service ends is told from one that failed", async () => {
  const { dataDir, listen, clock } = await bench();
  const isAsked = Promise.withResolvers<void>();
  const end = await listen((request) => {
    if (request === "hang") isAsked.resolve();
    return new Promise(() => {});
  }, 20);
  assert.equal(await say(join(dataDir, FILE), ""), '{"failure":"failed"}\n');
  const hanging = assert.rejects(askOperatorSocket(dataDir, "hang", clock), failedAs("silent"));
  await isAsked.promise;
  await end();
  await hanging;
});

test("who asks while the service starts is answered once it listens, and told after five seconds where it does not", async () => {
  const { dataDir, listen, clock } = await bench();
  await assert.rejects(clock.until(askOperatorSocket(dataDir, 1, clock)), failedAs("absent"));
  assert.equal(clock.monotonic(), 4_800);
  const asking = askOperatorSocket(dataDir, 2, clock);
  while (clock.nextInMs === null) await clock.settle();
  const end = await listen(echo);
  await clock.advance(200);
  assert.deepEqual(await asking, { echo: 2 });
  await end();
});
