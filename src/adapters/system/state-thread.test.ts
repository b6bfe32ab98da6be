import assert from "node:assert/strict";
import { after, test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import type { CounterRequest } from "../../../test/support/threads/state-thread-module.ts";
import { openStateThread } from "./state-thread.ts";

const MODULE = new URL("../../../test/support/threads/state-thread-module.ts", import.meta.url);
const threads: { close(): Promise<void> }[] = [];
after(() => Promise.all(threads.map((thread) => thread.close())));

function open(memoryMibMax = 256) {
  const clock = new FakeClock();
  const thread = openStateThread<CounterRequest, number>(MODULE, { memoryMibMax }, clock);
  threads.push(thread);
  return { thread, clock, add: (value: number) => thread.request({ kind: "add", value }) };
}

test("the thread keeps its state from request to request", async () => {
  const { add, clock } = open();
  assert.equal(await add(2), 2);
  assert.equal(await add(3), 5);
  assert.equal(clock.pending, 0, "no timer is left");
});

test("each thread has its own state", async () => {
  const [first, second] = [open(), open()];
  await first.add(2);
  assert.equal(await second.add(3), 3);
});

test("a request that throws or ends the thread fails, and so does each later one", async () => {
  for (const kind of ["throw", "exit"] as const) {
    const { thread, add } = open();
    await assert.rejects(thread.request({ kind }), /the request failed|code 3/);
    await assert.rejects(add(1), /the request failed|code 3/);
  }
});

test("a request without a response fails after 60 seconds", async () => {
  const { thread, clock } = open();
  const endless = assert.rejects(thread.request({ kind: "loop" }), /longer than 60000 ms/);
  await clock.advance(60_000);
  await endless;
});

test("a thread that exceeds its memory limit ends, and the process does not", async () => {
  const { thread } = open(16);
  await assert.rejects(thread.request({ kind: "allocate" }), { code: "ERR_WORKER_OUT_OF_MEMORY" });
});

test("closing the thread rejects its current request and later requests", async () => {
  const { thread, add } = open();
  const endless = assert.rejects(thread.request({ kind: "loop" }), /was closed/);
  await thread.close();
  await endless;
  await assert.rejects(add(1), /was closed/);
});

test("a second request before the response of the first is rejected", async () => {
  const { add } = open();
  const first = add(1);
  await assert.rejects(add(1), /no response yet/);
  assert.equal(await first, 1);
});

test("a request that cannot be copied to the thread fails at once, and the next one succeeds", async () => {
  const { thread, clock, add } = open();
  await add(2);
  const request = { kind: "add", value: () => 1 } as unknown as CounterRequest;
  await assert.rejects(thread.request(request), { name: "DataCloneError" });
  assert.equal(clock.pending, 0, "no timer is left");
  assert.equal(await add(3), 5);
});
