import assert from "node:assert/strict";
import { test } from "node:test";
import { createSingleFlightCache } from "./single-flight-cache.ts";

/** Counts reads, each of which resolves when the test says so. */
function open(options: { entriesMax?: number } = {}) {
  const clock = { now: 0 };
  const reads: { id: string; resolve: (value: string) => void; reject: (error: Error) => void }[] = [];
  const share = createSingleFlightCache<string>({
    maxAgeMsOf: (value) => (value === "short" ? 10 : 100),
    entriesMax: 2,
    now: () => clock.now,
    ...options,
  });
  const read = (id: string) =>
    share(id, () => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      reads.push({ id, resolve, reject });
      return promise;
    });
  return { clock, reads, read };
}

test("concurrent callers share one read", async () => {
  const { reads, read } = open();
  const callers = [read("a"), read("a"), read("a")];
  assert.equal(reads.length, 1);
  reads[0]?.resolve("value");
  assert.deepEqual(await Promise.all(callers), ["value", "value", "value"]);
});

test("a result is reused until its maximum age, counted from the end of the read", async () => {
  const { clock, reads, read } = open();
  const first = read("a");
  clock.now = 500;
  reads[0]?.resolve("value");
  await first;
  clock.now = 599;
  assert.equal(await read("a"), "value");
  assert.equal(reads.length, 1);
  clock.now = 600;
  void read("a");
  assert.equal(reads.length, 2);
});

test("the age can depend on the result", async () => {
  const { clock, reads, read } = open();
  const first = read("a");
  reads[0]?.resolve("short");
  await first;
  clock.now = 10;
  void read("a");
  assert.equal(reads.length, 2);
});

test("a failed read fails all callers that share it, and the next call reads again", async () => {
  const { reads, read } = open();
  const callers = [read("a"), read("a")];
  reads[0]?.reject(new Error("away"));
  for (const caller of callers) await assert.rejects(caller, /away/);
  const next = read("a");
  reads[1]?.resolve("value");
  assert.equal(await next, "value");
});

test("each id has its own read, and the oldest result is dropped first", async () => {
  const { reads, read } = open();
  for (const id of ["a", "b", "c"]) {
    const reading = read(id);
    reads.at(-1)?.resolve(id);
    assert.equal(await reading, id);
  }
  await read("c");
  await read("b");
  assert.equal(reads.length, 3);
  void read("a");
  assert.equal(reads.length, 4);
});

test("the failure of a dropped read does not remove the read that replaced it", async () => {
  const { reads, read } = open({ entriesMax: 1 });
  const first = read("a");
  void read("b");
  const second = read("a");
  reads[0]?.reject(new Error("away"));
  await assert.rejects(first);
  assert.equal(read("a"), second);
});
