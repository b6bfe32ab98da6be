import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { foldsByGroup, foldsBySource } from "./folds.ts";
import { groupPairs } from "./groups.ts";
import type { PairRow } from "./rows.ts";

/** Creates a labelled pair whose questions occur in no other pair. */
const row = (id: string, source?: string): PairRow => ({
  a: { venue: "first", id: `a${id}`, title: `First question ${id}` },
  b: { venue: "second", id: `b${id}`, title: `Second question ${id}` },
  same: true,
  relation: "equivalent",
  grain: "market",
  ...(source === undefined ? {} : { source_repo: source }),
});
const rowsOf = (source: string | undefined, count: number): PairRow[] =>
  Array.from({ length: count }, (_, index) => row(`${source}/${index}`, source));
const distinct = (folds: readonly string[]): number => new Set(folds).size;

describe("foldsBySource", () => {
  test("the pairs of a source are one fold, and two sources with 20 pairs are two folds", () => {
    const folds = foldsBySource([...rowsOf("x", 20), ...rowsOf("y", 20)]);
    assert.equal(distinct(folds.slice(0, 20)), 1);
    assert.equal(distinct(folds.slice(20)), 1);
    assert.equal(distinct(folds), 2);
  });

  test("a pair that names two sources joins both, also through other sources", () => {
    const sources = ["x", "y", "z", "w"].flatMap((source) => rowsOf(source, 20));
    assert.equal(distinct(foldsBySource([...sources, row("joins", "x and y")])), 3);
    assert.equal(distinct(foldsBySource([...sources, row("joins", "x and y"), row("too", "y and z")])), 2);
    assert.equal(distinct(foldsBySource([...sources, row("joins", "x and y and z and w")])), 1);
  });

  test("sources with fewer than 20 pairs are one fold together, and so are pairs without a source", () => {
    const folds = foldsBySource([...rowsOf("x", 20), ...rowsOf("y", 19), ...rowsOf("z", 1), ...rowsOf(undefined, 2)]);
    assert.equal(distinct(folds.slice(0, 20)), 1);
    assert.equal(distinct(folds.slice(20)), 1);
    assert.equal(distinct(folds), 2);
  });

  test("two small sources that one pair joins count as one source", () => {
    const folds = foldsBySource([...rowsOf("x", 10), ...rowsOf("y", 9), row("joins", "x and y"), ...rowsOf("z", 3)]);
    assert.equal(distinct(folds.slice(0, 20)), 1);
    assert.equal(distinct(folds), 2);
  });
});

describe("foldsByGroup", () => {
  const LETTERS = "abcdefghijklmnopqrstuvwxy".split("");

  test("the pairs of a group are in one fold, and more than ten groups are ten folds", () => {
    const rows = LETTERS.map((letter) => row(letter));
    const again = rows.map(({ b, ...pair }, index) => ({ ...pair, b: { ...b, id: `other${index}` } }));
    assert.equal(new Set(groupPairs([...rows, ...again])).size, LETTERS.length);
    const folds = foldsByGroup([...rows, ...again]);
    assert.equal(distinct(folds), 10);
    assert.deepEqual(folds.slice(LETTERS.length), folds.slice(0, LETTERS.length));
  });

  test("fewer than ten groups are one fold each", () =>
    assert.equal(distinct(foldsByGroup(LETTERS.slice(0, 7).map((letter) => row(letter)))), 7));
});
