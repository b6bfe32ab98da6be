import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextIteration } from "node:timers/promises";
import { currentCaller, runForCaller } from "./current-caller.ts";

test("the caller is known in all work that `runForCaller` starts, and nowhere else", async () => {
  const readLater = async (caller: string) => {
    const before = currentCaller();
    await nextIteration();
    return [caller, before, currentCaller()];
  };
  const callers = ["a", "b", "a"];
  const results = await Promise.all(callers.map((caller) => runForCaller(caller, () => readLater(caller))));
  assert.deepEqual(
    results,
    callers.map((caller) => [caller, caller, caller]),
  );
  assert.equal(
    runForCaller("a", () => runForCaller("b", () => currentCaller())),
    "b",
  );
  assert.throws(() =>
    runForCaller("a", () => {
      throw new Error("failed");
    }),
  );
  assert.equal(currentCaller(), null);
});

test("a caller is still known after thousands of others", () => {
  for (let number = 0; number < 3_000; number++) runForCaller(`caller ${number}`, () => null);
  assert.equal(
    runForCaller("caller 0", () => currentCaller()),
    "caller 0",
  );
});
