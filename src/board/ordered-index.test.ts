import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { OrderedIndex, type OrderedPosition } from "./ordered-index.ts";

/** Names whose order is not that of the rows. */
const nameOf = (row: number) => `${(row * 7) % 10}/${row}`;

function walked(rows: OrderedIndex, after: OrderedPosition | null = null, limit = Number.POSITIVE_INFINITY): number[] {
  const seen: number[] = [];
  rows.walk(after, (row) => {
    seen.push(row);
    return seen.length < limit;
  });
  return seen;
}

/** The order that is promised, by a plain sort. */
function sorted(values: ReadonlyMap<number, number | null>): number[] {
  const known = (row: number) => values.get(row) ?? Number.NEGATIVE_INFINITY;
  return [...values.keys()].sort((a, b) => {
    if (known(a) !== known(b)) return known(b) > known(a) ? 1 : -1;
    return nameOf(a) < nameOf(b) ? -1 : 1;
  });
}

test("larger values come first, unknown ones last, equal ones by name; 0 and -0 are equal", () => {
  const rows = new OrderedIndex(nameOf);
  const values: readonly (readonly [number, number | null])[] = [
    ...([
      [1, 5],
      [13, 5],
    ] as const),
    ...([
      [2, null],
      [3, 9],
    ] as const),
    ...([
      [6, -0],
      [7, 0],
    ] as const),
    [4, Number.NaN],
  ];
  for (const [row, value] of values) rows.set(row, value);
  // By name: 1 is "7/1" and 13 "1/13"; 6 is "2/6" and 7 "9/7"; 2 is "4/2" and 4 "8/4".
  assert.deepEqual(walked(rows), [3, 13, 1, 6, 7, 2, 4]);
  assert.deepEqual([rows.value(3), rows.value(2), rows.value(4), rows.value(99)], [9, null, null, null]);
});

test("a walk begins behind any place, whether a row stands there or not, and ends when told to", () => {
  const rows = new OrderedIndex(nameOf, 4);
  for (let row = 0; row < 50; row++) rows.set(row, row % 5 === 4 ? null : row % 5);
  const whole = walked(rows);
  whole.forEach((row, index) => {
    const place = { value: rows.value(row), name: nameOf(row) };
    assert.deepEqual(walked(rows, place), whole.slice(index + 1));
    assert.deepEqual(
      whole.filter((other) => rows.isBehind(other, place)),
      whole.slice(index + 1),
    );
    const gone = { value: rows.value(row), name: `${nameOf(row)}!` };
    assert.deepEqual(walked(rows, gone), whole.slice(index + 1));
  });
  assert.deepEqual(walked(rows, { value: 1e9, name: "" }), whole);
  assert.deepEqual(walked(rows, { value: null, name: "~" }), []);
  assert.deepEqual(walked(rows, null, 3), whole.slice(0, 3));
});

const change = fc.oneof(
  { weight: 8, arbitrary: fc.record({ row: fc.nat(60), value: fc.option(fc.integer({ min: -3, max: 3 })) }) },
  { weight: 3, arbitrary: fc.record({ row: fc.nat(60), value: fc.constant("delete" as const) }) },
  { weight: 1, arbitrary: fc.constant("look" as const) },
  { weight: 1, arbitrary: fc.constant("prepare" as const) },
);

test("after any series of changes the order is that of a plain sort, from any place on", () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 300, size: "max" }),
      fc.integer({ min: 2, max: 9 }),
      fc.option(fc.integer({ min: -4, max: 4 })),
      fc.nat(60),
      (changes, blockRowsMax, fromValue, fromRow) => {
        const rows = new OrderedIndex(nameOf, blockRowsMax);
        const values = new Map<number, number | null>();
        const byName = () => [...values.keys()].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
        for (const one of changes) {
          if (one === "look") assert.deepEqual(walked(rows), sorted(values));
          else if (one === "prepare") rows.prepare([...byName(), 10_000]);
          else if (one.value === "delete") {
            rows.delete(one.row);
            values.delete(one.row);
          } else {
            rows.set(one.row, one.value);
            values.set(one.row, one.value);
          }
        }
        const expected = sorted(values);
        assert.deepEqual(walked(rows), expected);
        for (const [row, value] of values) assert.equal(rows.value(row), value);
        assert.deepEqual(
          [...values.keys()].sort((a, b) => rows.compare(a, b)),
          expected,
        );
        const place = { value: fromValue, name: nameOf(fromRow) };
        const behind = expected.filter((row) => rows.isBehind(row, place));
        assert.deepEqual(walked(rows, place), behind);
      },
    ),
    { numRuns: 300 },
  );
});

test("a name that changes while its row is sorted is an error, not a wrong order", () => {
  const names = ["a", "b", "c"];
  const rows = new OrderedIndex((row) => names[row] ?? "");
  for (const row of [0, 1, 2]) rows.set(row, 1);
  walked(rows);
  names[0] = "z";
  assert.throws(() => rows.set(0, 2));
});
