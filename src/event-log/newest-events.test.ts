import assert from "node:assert/strict";
import { test } from "node:test";
import { NewestEvents } from "./index.ts";

interface Entry {
  readonly id: number;
  readonly size: number;
}

const openNewest = () => new NewestEvents<Entry>({ countMax: 3, sizeMax: 100, sizeOf: ({ size }) => size });
const entriesOf = (ids: readonly number[], size: number): Entry[] => ids.map((id) => ({ id, size }));
const idsIn = (newest: NewestEvents<Entry>): number[] => [...newest.after(newest.floor)].map(({ id }) => id);

test("keeps the newest entries within the limits of their number and of their total size", () => {
  const newest = openNewest();
  newest.add(entriesOf([2, 4, 5, 7], 10), 8);
  assert.deepEqual([newest.floor, newest.through, idsIn(newest)], [2, 8, [4, 5, 7]]);
  newest.add(entriesOf([9], 85), 9);
  assert.deepEqual([newest.floor, newest.through, idsIn(newest)], [5, 9, [7, 9]]);
  newest.add(entriesOf([10], 101), 10);
  assert.deepEqual([newest.floor, newest.through, idsIn(newest)], [10, 10, []]);
});

test("keeps the newest entries after any number of batches", () => {
  const newest = openNewest();
  for (let id = 1; id <= 50; id++) {
    newest.add(entriesOf([id], 1), id);
    assert.deepEqual(
      idsIn(newest),
      [id - 2, id - 1, id].filter((each) => each > 0),
    );
  }
});
