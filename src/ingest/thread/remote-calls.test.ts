import assert from "node:assert/strict";
import { test } from "node:test";
import { runForCaller } from "../../lib/current-caller.ts";
import type { ToIngestThread } from "./messages.ts";
import { createRemoteCalls } from "./remote-calls.ts";

function openCalls() {
  const posted: ToIngestThread[] = [];
  const calls = createRemoteCalls((message) => posted.push(message) > 0);
  return { posted, calls };
}

test("a call names the caller for whom it runs, and settles with its own reply", async () => {
  const { posted, calls } = openCalls();
  const first = runForCaller("customer", () => calls.call("lookUp", ["alpha", "a"]));
  const second = calls.call("lookUp", ["alpha", "b"]);
  assert.deepEqual(posted, [
    { kind: "call", id: 0, caller: "customer", method: "lookUp", parameters: ["alpha", "a"] },
    { kind: "call", id: 1, caller: null, method: "lookUp", parameters: ["alpha", "b"] },
  ]);
  calls.settle({ kind: "result", id: 1, value: false });
  calls.settle({ kind: "result", id: 0, value: true });
  assert.deepEqual(await Promise.all([first, second]), [true, false]);
});

test("an aborted call rejects with the reason of its signal and is aborted in the thread, but not after its reply", async () => {
  const { posted, calls } = openCalls();
  const range = { fromMs: 0, toMs: 1, intervalMs: 1 };
  const abort = new AbortController();
  const read = () => calls.call("getHistory", [{ venue: "alpha", marketId: "m" }, range], abort.signal);
  const [answered, aborted] = [read(), read()];
  calls.settle({ kind: "result", id: 0, value: [] });
  assert.deepEqual(await answered, []);
  abort.abort(new RangeError("mine"));
  await assert.rejects(aborted, RangeError);
  await assert.rejects(read(), RangeError);
  assert.deepEqual(
    posted.map(({ kind }) => kind),
    ["call", "call", "abort"],
  );
  assert.deepEqual(posted.at(-1), { kind: "abort", id: 1 });
});
