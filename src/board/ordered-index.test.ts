import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { OrderedIndex, type OrderedPosition } from "./ordered-index.ts";

/** Returns ids that sort in a different order than their rows. */
const idOf = (row: number) => `${(row * 7) % 10}/${row}`;

function collectRows(
  index: OrderedIndex,
  after: OrderedPosition | null = null,
  limit = Number.POSITIVE_INFINITY,
  isReversed = false,
): number[] {
  const visitedRows: number[] = [];
  const visit = (row: number) => {
    visitedRows.push(row);
    return visitedRows.length < limit;
  };
  index.walk(after, visit, isReversed);
  return visitedRows;
}
const collectReverse = (index: OrderedIndex, after: OrderedPosition | null = null): number[] =>
  collectRows(index, after, Number.POSITIVE_INFINITY, true);

/** Reference implementation: sorts all rows. */
function sortRows(values: ReadonlyMap<number, number | null>): number[] {
  const rankOf = (row: number) => values.get(row) ?? Number.NEGATIVE_INFINITY;
  return [...values.keys()].sort((a, b) => {
    if (rankOf(a) !== rankOf(b)) return rankOf(b) > rankOf(a) ? 1 : -1;
    return idOf(a) < idOf(b) ? -1 : 1;
  });
}

test("sorts larger values first, unknown values last and equal values by id; `0` and `-0` are equal", () => {
  const index = new OrderedIndex(idOf);
  const values: readonly (readonly [number, number | null])[] = [
    [1, 5],
    [13, 5],
    [2, null],
    [3, 9],
    [6, -0],
    [7, 0],
    [4, Number.NaN],
  ];
  for (const [row, value] of values) index.set(row, value);
  // By id: 1 is "7/1" and 13 "1/13"; 6 is "2/6" and 7 "9/7"; 2 is "4/2" and 4 "8/4".
  assert.deepEqual(collectRows(index), [3, 13, 1, 6, 7, 2, 4]);
  assert.deepEqual([index.value(3), index.value(2), index.value(4), index.value(99)], [9, null, null, null]);
});

test("a walk starts after any position, with or without a row there, and stops if the visitor returns false", () => {
  const index = new OrderedIndex(idOf, 4);
  for (let row = 0; row < 50; row++) index.set(row, row % 5 === 4 ? null : row % 5);
  const sortedRows = collectRows(index);
  sortedRows.forEach((row, rank) => {
    const laterRows = sortedRows.slice(rank + 1);
    const position = { value: index.value(row), id: idOf(row) };
    assert.deepEqual(collectRows(index, position), laterRows);
    const rowsAfterPosition = sortedRows.filter((other) => index.isAfter(other, position));
    assert.deepEqual(rowsAfterPosition, laterRows);
    const unoccupiedPosition = { value: index.value(row), id: `${idOf(row)}!` };
    assert.deepEqual(collectRows(index, unoccupiedPosition), laterRows);
  });
  assert.deepEqual(collectRows(index, { value: 1e9, id: "" }), sortedRows);
  assert.deepEqual(collectRows(index, { value: null, id: "~" }), []);
  assert.deepEqual(collectRows(index, null, 3), sortedRows.slice(0, 3));
});

const changeArbitrary = fc.oneof(
  { weight: 8, arbitrary: fc.record({ row: fc.nat(60), value: fc.option(fc.integer({ min: -3, max: 3 })) }) },
  { weight: 3, arbitrary: fc.record({ row: fc.nat(60), value: fc.constant("delete" as const) }) },
  { weight: 1, arbitrary: fc.constant("walk" as const) },
  { weight: 1, arbitrary: fc.constant("prepare" as const) },
);

test("after any sequence of changes, a walk from any position, in both orders, matches a sorted array", () => {
  fc.assert(
    fc.property(
      fc.array(changeArbitrary, { maxLength: 300, size: "max" }),
      fc.integer({ min: 2, max: 9 }),
      fc.option(fc.integer({ min: -4, max: 4 })),
      fc.nat(60),
      (changes, blockRowsMax, fromValue, fromRow) => {
        const index = new OrderedIndex(idOf, blockRowsMax);
        const values = new Map<number, number | null>();
        const sortRowsById = () => [...values.keys()].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
        for (const change of changes) {
          if (change === "walk") assert.deepEqual(collectRows(index), sortRows(values));
          else if (change === "prepare") index.prepare([...sortRowsById(), 10_000]);
          else if (change.value === "delete") {
            index.delete(change.row);
            values.delete(change.row);
          } else {
            index.set(change.row, change.value);
            values.set(change.row, change.value);
          }
        }
        const expected = sortRows(values);
        assert.deepEqual(collectRows(index), expected);
        for (const [row, value] of values) assert.equal(index.value(row), value);
        const comparedRows = [...values.keys()].sort((a, b) => index.compare(a, b));
        assert.deepEqual(comparedRows, expected);
        const position = { value: fromValue, id: idOf(fromRow) };
        const expectedAfter = expected.filter((row) => index.isAfter(row, position));
        assert.deepEqual(collectRows(index, position), expectedAfter);
        const isKnown = (row: number) => values.get(row) !== null;
        const backwards = expected.toReversed();
        const reversed = [...backwards.filter(isKnown), ...backwards.filter((row) => !isKnown(row))];
        assert.deepEqual(collectReverse(index), reversed);
        assert.deepEqual(
          [...values.keys()].sort((a, b) => index.compare(a, b, true)),
          reversed,
        );
        const reversedAfter = reversed.filter((row) => index.isAfter(row, position, true));
        assert.deepEqual(collectReverse(index, position), reversedAfter);
        assert.deepEqual(reversed.slice(reversed.length - reversedAfter.length), reversedAfter);
      },
    ),
    { numRuns: 300 },
  );
});

test("the index throws if the id of an indexed row changes", () => {
  const ids = ["a", "b", "c"];
  const index = new OrderedIndex((row) => ids[row] ?? "");
  for (const row of [0, 1, 2]) index.set(row, 1);
  collectRows(index);
  ids[0] = "z";
  assert.throws(() => index.set(0, 2));
});
