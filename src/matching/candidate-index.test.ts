import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { CandidateIndex, type SearchTerm } from "./candidate-index.ts";

const terms = (...texts: string[]): SearchTerm[] => texts.map((text) => ({ text, weight: 1 }));
const ASKING = 30_000;
const FIND = { row: ASKING, limit: 10, shareMin: 0 };

/** Creates an index that contains the row whose candidates are searched; the row belongs to venue 0. */
function createIndex(asking: readonly SearchTerm[] = []): CandidateIndex {
  const index = new CandidateIndex();
  index.set(ASKING, 0, asking);
  return index;
}

describe("CandidateIndex", () => {
  test("finds the rows of other venues that share terms, largest weight first", () => {
    const index = createIndex(terms("norway", "win"));
    index.set(0, 0, terms("norway", "win"));
    index.set(1, 1, terms("norway", "lose"));
    index.set(2, 2, terms("norway", "win"));
    index.set(3, 1, terms("sweden"));
    assert.deepEqual(index.find(terms("norway", "win"), FIND), [2, 1]);
    assert.deepEqual(index.find(terms("norway", "win"), { ...FIND, row: 2 }), [0, ASKING, 1]);
    assert.deepEqual(index.find(terms("norway", "win"), { ...FIND, shareMin: 0.6 }), [2]);
    assert.deepEqual(index.find(terms("norway", "win"), { ...FIND, limit: 1 }), [2]);
    assert.deepEqual(index.find(terms("denmark"), FIND), []);
  });

  test("the share of a long and a short row is the same in both directions", () => {
    const short = terms("norway", "win");
    const long = terms("norway", "eurovision", "song", "contest", "2026", "winner");
    for (const [asking, other] of [
      [short, long],
      [long, short],
    ] as const) {
      const index = createIndex(asking);
      index.set(1, 1, other);
      assert.deepEqual(index.find(asking, { ...FIND, shareMin: 0.25 }), [1]);
      assert.deepEqual(index.find(asking, { ...FIND, shareMin: 0.26 }), []);
    }
  });

  test("a replaced row is found by its new terms only, and a deleted row by none", () => {
    const index = createIndex();
    index.set(5, 1, terms("norway"));
    index.set(5, 1, terms("sweden"));
    assert.deepEqual(index.find(terms("norway"), FIND), []);
    assert.deepEqual(index.find(terms("sweden"), FIND), [5]);
    index.delete(5);
    index.delete(5);
    assert.deepEqual(index.find(terms("sweden"), FIND), []);
  });

  test("reads a bounded number of rows, the rarest terms first", () => {
    const index = createIndex();
    for (let row = 0; row < 20_000; row++) index.set(row, 1, terms("common", ...(row === 17_777 ? ["rare"] : [])));
    assert.deepEqual(index.find(terms("common", "rare"), { ...FIND, limit: 1 }), [17_777]);
    // A long list is read if there is no rarer term.
    assert.equal(index.find(terms("common"), { ...FIND, limit: 3 }).length, 3);
  });

  test("for any rows, the result equals that of comparing with every row", () => {
    const word = fc.constantFrom("a", "b", "c", "d", "e");
    const row = fc.record({ venue: fc.integer({ min: 0, max: 2 }), words: fc.uniqueArray(word) });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 30 }), fc.uniqueArray(word), (rows, query) => {
        const index = createIndex();
        for (const [number, { venue, words }] of rows.entries()) index.set(number, venue, terms(...words));
        const expected = rows
          .map(({ venue, words }, number) => ({
            number,
            venue,
            score: query.filter((text) => words.includes(text)).length,
          }))
          .filter(({ venue, score }) => venue !== 0 && score > 0)
          .sort((a, b) => b.score - a.score || a.number - b.number)
          .slice(0, 10)
          .map(({ number }) => number);
        assert.deepEqual(index.find(terms(...query), FIND), expected);
      }),
    );
  });
});
