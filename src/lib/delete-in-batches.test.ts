import assert from "node:assert/strict";
import { test } from "node:test";
import { deleteInBatches } from "./delete-in-batches.ts";

test("deletes all rows, but at most the given number of batches", async () => {
  const deleteFrom = async (rows: number) => {
    let remaining = rows;
    const deleted = await deleteInBatches(10, 3, async () => {
      const count = Math.min(remaining, 10);
      remaining -= count;
      return count;
    });
    return { deleted, remaining };
  };
  assert.deepEqual(await deleteFrom(0), { deleted: 0, remaining: 0 });
  assert.deepEqual(await deleteFrom(25), { deleted: 25, remaining: 0 });
  assert.deepEqual(await deleteFrom(31), { deleted: 30, remaining: 1 });
});
