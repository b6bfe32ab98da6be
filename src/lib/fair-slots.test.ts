import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FairSlots, QueueFullError, type Release } from "./fair-slots.ts";

/** Acquires a slot, and records the key when it is granted. */
function setUp(limits: ConstructorParameters<typeof FairSlots>[0]) {
  const slots = new FairSlots(limits);
  const granted: string[] = [];
  const releases: Release[] = [];
  const ask = async (key: string, signal?: AbortSignal) => {
    releases.push(await slots.acquire(key, signal));
    granted.push(key);
  };
  const releaseNext = async () => {
    releases.shift()?.();
    await Promise.resolve();
  };
  return { slots, granted, ask, releaseNext };
}

test("waiting keys take turns, and the callers of a key keep their order", async () => {
  const { granted, ask, releaseNext } = setUp({ slots: 1 });
  await ask("first");
  const waits = ["a", "a", "a", "b", "c", "b"].map((key) => ask(key));
  for (let index = 0; index < 6; index++) {
    await releaseNext();
    await new Promise(setImmediate);
  }
  await Promise.all(waits);
  assert.deepEqual(granted, ["first", "a", "b", "c", "a", "b", "a"]);
});

test("a key uses at most its share, and leaves the other slots to other keys", async () => {
  const { slots, granted, ask, releaseNext } = setUp({ slots: 4, perKey: 3 });
  const waits = ["a", "a", "a", "a"].map((key) => ask(key));
  await ask("b");
  assert.deepEqual(granted, ["a", "a", "a", "b"]);
  assert.equal(slots.tryAcquire("a"), null);
  await releaseNext();
  await Promise.all(waits);
  assert.deepEqual(granted, ["a", "a", "a", "b", "a"]);
});

test("the numbers of waiting callers are bounded, in total and per key", async () => {
  const { slots, ask } = setUp({ slots: 1, waiting: 3, waitingPerKey: 2 });
  await ask("a");
  ask("a");
  ask("a");
  await assert.rejects(slots.acquire("a"), QueueFullError);
  ask("b");
  await assert.rejects(slots.acquire("c"), QueueFullError);
});

test("a wait that is aborted frees its place, and the slot goes to the next caller", async () => {
  const { slots, granted, ask, releaseNext } = setUp({ slots: 1, waiting: 2 });
  await ask("a");
  const abort = new AbortController();
  const aborted = ask("b", abort.signal);
  const next = ask("c");
  abort.abort();
  await assert.rejects(aborted, { name: "AbortError" });
  await releaseNext();
  await next;
  assert.deepEqual(granted, ["a", "c"]);
  await releaseNext();
  assert.equal(slots.isIdle, true);
  await assert.rejects(slots.acquire("d", AbortSignal.abort()), { name: "AbortError" });
});

test("law: no more slots are used than there are, every caller gets one, and at the end none is used", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 60 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 5 }),
      async (keys, count, perKey) => {
        const slots = new FairSlots({ slots: count, perKey });
        const used = new Map<string, number>();
        const total = () => used.values().reduce((sum, value) => sum + value, 0);
        await Promise.all(
          keys.map((key) =>
            slots.run(key, async () => {
              used.set(key, (used.get(key) ?? 0) + 1);
              assert.ok(total() <= count && (used.get(key) ?? 0) <= perKey);
              await new Promise(setImmediate);
              used.set(key, (used.get(key) ?? 0) - 1);
            }),
          ),
        );
        assert.equal(slots.isIdle, true);
      },
    ),
  );
});
