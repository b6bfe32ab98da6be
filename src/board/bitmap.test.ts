import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Bitmap } from "./bitmap.ts";

function rowsOf(set: Bitmap): number[] {
  const rows: number[] = [];
  set.forEach((row) => {
    rows.push(row);
  });
  return rows;
}

const ascending = (rows: Iterable<number>) => [...rows].sort((a, b) => a - b);

/** Adds or deletes `count` rows. A few changes convert the set from a list to bits or back. */
const change = fc.record({
  isAdd: fc.boolean(),
  from: fc.nat(2_000),
  step: fc.integer({ min: 1, max: 3 }),
  count: fc.oneof(fc.nat(5), fc.nat(3_000)),
});
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;
const changes = fc.array(change, { maxLength: 8 });

function setOf(list: readonly Change[]): { set: Bitmap; model: Set<number> } {
  const set = new Bitmap();
  const model = new Set<number>();
  for (const { isAdd, from, step, count } of list) {
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
    fc.property(changes, fc.nat(12_000), (list, row) => {
      const { set, model } = setOf(list);
      assert.deepEqual(rowsOf(set), ascending(model));
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
  assert.deepEqual(
    rowsOf(set),
    Array.from({ length: 100 }, (_, row) => row * 3),
  );
});

test("computes unions and intersections without changing the input sets", () => {
  fc.assert(
    fc.property(fc.array(changes, { minLength: 1, maxLength: 3 }), (lists) => {
      const all = lists.map(setOf);
      const union = new Bitmap();
      for (const { set } of all) union.addAll(set);
      assert.deepEqual(rowsOf(union), ascending(new Set(all.flatMap(({ model }) => [...model]))));
      assert.equal(union.size, rowsOf(union).length);
      const common = Bitmap.intersection(all.map(({ set }) => set));
      const [first, ...others] = all.map(({ model }) => model);
      assert.deepEqual(
        rowsOf(common),
        ascending([...(first ?? [])].filter((row) => others.every((set) => set.has(row)))),
      );
      assert.equal(common.size, rowsOf(common).length);
      for (const { set, model } of all) assert.deepEqual(rowsOf(set), ascending(model));
    }),
  );
  assert.equal(Bitmap.intersection([]).size, 0);
});

test("`map` replaces each row by its target and omits rows with a negative target", () => {
  fc.assert(
    fc.property(changes, fc.integer({ min: 1, max: 5_000 }), (list, distinct) => {
      const { set, model } = setOf(list);
      const target = Int32Array.from({ length: 9_500 }, (_, row) => (row % 4 === 0 ? -1 : row % distinct));
      const expected = new Set([...model].map((row) => target[row] ?? -1).filter((number) => number >= 0));
      assert.deepEqual(rowsOf(set.map(target)), ascending(expected));
    }),
  );
});
