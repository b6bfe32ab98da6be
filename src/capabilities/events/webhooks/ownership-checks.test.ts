import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { createOwnershipChecks } from "./ownership-checks.ts";

/** Creates ownership checks whose reads the test ends. */
function openChecks() {
  const clock = new FakeClock();
  const reads: { readonly ids: readonly string[]; end(error?: Error): void }[] = [];
  const ownershipChecks = createOwnershipChecks({
    clock,
    read: (ids) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) =>
          error === undefined
            ? resolve(new Map(ids.filter((id) => id !== "gone").map((id) => [id, 7])))
            : reject(error);
        reads.push({ ids, end });
      }),
  });
  return { clock, reads, ownershipChecks };
}

test("an ownership check is valid until 50 ms after the start of its read, and is null for an undeliverable webhook", async () => {
  const { clock, reads, ownershipChecks } = openChecks();
  const [check, none] = [ownershipChecks.request("a"), ownershipChecks.request("gone")];
  await clock.advance(30);
  reads[0]?.end();
  assert.deepEqual([await check, await none], [{ revision: 7, until: 50 }, null]);
});

test("requests during a read share the next read, which begins when the current read ends", async () => {
  const { clock, reads, ownershipChecks } = openChecks();
  void ownershipChecks.request("a");
  await clock.settle();
  const later = ["b", "c", "b"].map((id) => ownershipChecks.request(id));
  await clock.advance(20);
  assert.equal(reads.length, 1);
  reads[0]?.end();
  await clock.settle();
  reads[1]?.end();
  assert.deepEqual(
    (await Promise.all(later)).map((check) => check?.until),
    [70, 70, 70],
  );
  assert.deepEqual(
    reads.map(({ ids }) => ids),
    [["a"], ["b", "c"]],
  );
});

test("a failed read rejects the requests that share that read, and no later requests", async () => {
  const { clock, reads, ownershipChecks } = openChecks();
  const failing = ownershipChecks.request("a");
  await clock.settle();
  const next = ownershipChecks.request("b");
  reads[0]?.end(new Error("down"));
  await assert.rejects(failing, /down/);
  await clock.settle();
  reads[1]?.end();
  assert.equal((await next)?.revision, 7);
});
