import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FairSemaphore, QueueFullError, type Release } from "./fair-semaphore.ts";

/** Acquires a slot, and records the key when it is granted. */
function setUp(limits: ConstructorParameters<typeof FairSemaphore>[0]) {
  const slots = new FairSemaphore(limits);
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

test("with a credit, a key that asks for less than its share gets every second slot, up to its credit", async () => {
  const { granted, ask, releaseNext } = setUp({ slots: 1, credit: 3 });
  await ask("first");
  for (let index = 0; index < 60; index++) void ask(index % 2 === 0 ? "a" : "b");
  const grantMore = async (count: number) => {
    const before = granted.length;
    for (let index = 0; index < count; index++) {
      await releaseNext();
      await new Promise(setImmediate);
    }
    return granted.slice(before).join("");
  };
  assert.equal(await grantMore(10), "ababababab");
  for (let index = 0; index < 6; index++) void ask("c");
  assert.match(await grantMore(6), /^c.c.c.$/, "its credit");
  assert.equal(count(await grantMore(9), "c"), 3, "then it takes turns");
  await grantMore(6);
  void ask("c");
  assert.match(await grantMore(2), /c/, "after some turns of others, it has a credit again");
});

test("with a credit, many new keys at most double the wait of a key that always waits", async () => {
  const { granted, ask, releaseNext } = setUp({ slots: 1, credit: 50 });
  await ask("first");
  for (let index = 0; index < 200; index++) void ask("a");
  for (let key = 0; key < 5; key++) for (let index = 0; index < 60; index++) void ask(`new-${key}`);
  for (let index = 0; index < 120; index++) {
    await releaseNext();
    await new Promise(setImmediate);
  }
  const indexes = granted.flatMap((key, index) => (key === "a" ? [index] : []));
  const gaps = indexes.slice(1).map((index, position) => index - (indexes[position] ?? 0));
  assert.ok(Math.max(...gaps) <= 2 * 6, String(gaps));
});

const count = (text: string, letter: string): number => text.split(letter).length - 1;

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

test("a release examines only the keys at their limit and the next key, however many keys wait", async (t) => {
  const { slots, granted, ask, releaseNext } = setUp({ slots: 4, perKey: 2 });
  // Both keys use two slots and wait for a third one, so they come before the others.
  for (const key of ["a", "b", "a", "b", "a", "b"]) void ask(key);
  for (let index = 0; index < 5_000; index++) void ask(`key-${index}`);
  await new Promise(setImmediate);
  const iterator: { next: () => unknown } = Object.getPrototypeOf(new Map().keys());
  const { mock } = t.mock.method(iterator, "next");
  await releaseNext();
  const visited = mock.callCount();
  slots.tryAcquire("c");
  const visitedByTry = mock.callCount() - visited;
  mock.restore();
  await new Promise(setImmediate);
  assert.deepEqual(granted.slice(4), ["a"]);
  assert.ok(visited >= 1 && visited <= 3, `${visited} visits`);
  assert.equal(visitedByTry, 0);
});

/** Visits all waiting callers at each step: the first of the first key that may use another slot gets it. */
function grantInTurn({ slots, perKey }: { readonly slots: number; readonly perKey: number }) {
  const used = new Map<string, number>();
  const turns: { readonly key: string; readonly callers: number[] }[] = [];
  const granted: number[] = [];
  const grantFree = () => {
    for (;;) {
      const total = used.values().reduce((sum, count) => sum + count, 0);
      const index = turns.findIndex(({ key }) => total < slots && (used.get(key) ?? 0) < perKey);
      const [turn] = index < 0 ? [] : turns.splice(index, 1);
      if (turn === undefined) return;
      used.set(turn.key, (used.get(turn.key) ?? 0) + 1);
      granted.push(...turn.callers.splice(0, 1));
      if (turn.callers.length > 0) turns.push(turn);
    }
  };
  return {
    granted,
    ask(key: string, caller: number) {
      const turn = turns.find((each) => each.key === key);
      if (turn === undefined) turns.push({ key, callers: [caller] });
      else turn.callers.push(caller);
      grantFree();
    },
    release(key: string) {
      used.set(key, (used.get(key) ?? 0) - 1);
      grantFree();
    },
    abort(caller: number) {
      for (const { callers } of turns) if (callers.includes(caller)) callers.splice(callers.indexOf(caller), 1);
      const empty = turns.findIndex(({ callers }) => callers.length === 0);
      if (empty >= 0) turns.splice(empty, 1);
    },
  };
}

test("law: the grants are those of an implementation that visits all waiting callers", async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("ask" as const), key: fc.constantFrom("a", "b", "c", "d", "e") }),
    fc.record({ kind: fc.constant("try" as const), key: fc.constantFrom("a", "b", "c", "d", "e") }),
    fc.record({ kind: fc.constantFrom("release" as const, "abort" as const), index: fc.nat() }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 80, size: "max" }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 5 }),
      async (steps, count, perKey) => {
        const limits = { slots: count, perKey };
        const slots = new FairSemaphore(limits);
        const simple = grantInTurn(limits);
        const granted: number[] = [];
        const held: { readonly key: string; readonly release: Release }[] = [];
        const waiting = new Map<number, AbortController>();
        for (const [caller, each] of steps.entries()) {
          if (each.kind === "ask") {
            const abort = new AbortController();
            waiting.set(caller, abort);
            const onGrant = (release: Release) => {
              waiting.delete(caller);
              granted.push(caller);
              held.push({ key: each.key, release });
            };
            slots.acquire(each.key, abort.signal).then(onGrant, () => {});
            simple.ask(each.key, caller);
          } else if (each.kind === "try") {
            const release = slots.tryAcquire(each.key);
            simple.ask(each.key, caller);
            if (release === null) simple.abort(caller);
            else {
              granted.push(caller);
              held.push({ key: each.key, release });
            }
          } else if (each.kind === "release" && held.length > 0) {
            const [freed] = held.splice(each.index % held.length, 1);
            freed?.release();
            simple.release(freed?.key ?? "");
          } else if (each.kind === "abort" && waiting.size > 0) {
            const [ended = 0, abort] = [...waiting][each.index % waiting.size] ?? [];
            waiting.delete(ended);
            abort?.abort();
            simple.abort(ended);
          }
          await new Promise(setImmediate);
          assert.deepEqual(granted, simple.granted);
        }
      },
    ),
  );
});

test("law: no more slots are used than there are, every caller gets one, and at the end none is used", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 60 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 5 }),
      async (keys, count, perKey) => {
        const slots = new FairSemaphore({ slots: count, perKey });
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
