import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Bitmap } from "./bitmap.ts";

const sortAscending = (rows: Iterable<number>) => [...rows].sort((a, b) => a - b);

/** Adds or deletes `count` rows. A few changes convert the set from a list to bits or back. */
const changeArbitrary = fc.record({
  isAdd: fc.boolean(),
  from: fc.nat(2_000),
  step: fc.integer({ min: 1, max: 3 }),
  count: fc.oneof(fc.nat(5), fc.nat(3_000)),
});
type Change = typeof changeArbitrary extends fc.Arbitrary<infer Value> ? Value : never;
const changesArbitrary = fc.array(changeArbitrary, { maxLength: 8 });

function applyChanges(changeList: readonly Change[]): { set: Bitmap; model: Set<number> } {
  const set = new Bitmap();
  const model = new Set<number>();
  for (const { isAdd, from, step, count } of changeList) {
    for (let index = 0; index < count; index++) {
      const row = from + ((index * step * 7_919) % 9_000);
      if (isAdd) {
        set.add(row);
        model.add(row);
      } else {
        set.delete(row);
        model.delete(row);
      }
    }
  }
  return { set, model };
}

test("a bitmap contains the added rows without the deleted ones, in ascending order", () => {
  fc.assert(
    fc.property(changesArbitrary, fc.nat(12_000), (changeList, row) => {
      const { set, model } = applyChanges(changeList);
      assert.deepEqual(set.toArray(), sortAscending(model));
      assert.equal(set.size, model.size);
      assert.equal(set.has(row), model.has(row));
    }),
  );
});

test("a bitmap is stored as bits above the size bound and as a list after it shrinks", () => {
  const set = new Bitmap();
  for (let row = 0; row < 5_000; row++) set.add(row * 3);
  assert.equal(set.isSparse, false);
  for (let row = 100; row < 5_000; row++) set.delete(row * 3);
  assert.equal(set.isSparse, true);
  const remainingRows = Array.from({ length: 100 }, (_, row) => row * 3);
  assert.deepEqual(set.toArray(), remainingRows);
});

test("computes unions and intersections without changing the input sets", () => {
  fc.assert(
    fc.property(fc.array(changesArbitrary, { minLength: 1, maxLength: 3 }), (changeLists) => {
      const bitmapsWithModels = changeLists.map(applyChanges);
      const union = new Bitmap();
      for (const { set } of bitmapsWithModels) union.addAll(set);
      assert.deepEqual(union.toArray(), sortAscending(new Set(bitmapsWithModels.flatMap(({ model }) => [...model]))));
      assert.equal(union.size, union.toArray().length);
      const intersection = Bitmap.intersection(bitmapsWithModels.map(({ set }) => set));
      const [firstModel, ...otherModels] = bitmapsWithModels.map(({ model }) => model);
      const expectedRows = [...(firstModel ?? [])].filter((row) => otherModels.every((set) => set.has(row)));
      assert.deepEqual(intersection.toArray(), sortAscending(expectedRows));
      assert.equal(intersection.size, intersection.toArray().length);
      for (const { set, model } of bitmapsWithModels) assert.deepEqual(set.toArray(), sortAscending(model));
    }),
  );
  assert.equal(Bitmap.intersection([]).size, 0);
});

test("`map` replaces each row by its target and omits rows with a negative target", () => {
  fc.assert(
    fc.property(changesArbitrary, fc.integer({ min: 1, max: 5_000 }), (changeList, targetCount) => {
      const { set, model } = applyChanges(changeList);
      const target = Int32Array.from({ length: 9_500 }, (_, row) => (row % 4 === 0 ? -1 : row % targetCount));
      const expected = new Set([...model].map((row) => target[row] ?? -1).filter((number) => number >= 0));
      assert.deepEqual(set.map(target).toArray(), sortAscending(expected));
    }),
  );
});
