import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { TextIndex, words } from "./text-index.ts";

test("words are lower case, without accents or punctuation, and numbers stay whole", () => {
  assert.deepEqual(words("S. Núñez, 3.5% — ÅRHUS?"), ["s", "nunez", "3.5", "arhus"]);
  assert.deepEqual(words("$96,000 by 2026-12-31"), ["96000", "by", "2026", "12", "31"]);
  assert.deepEqual(words("!?… "), []);
});

test("every word must be there, the last one only as a beginning", () => {
  const index = new TextIndex();
  index.set(1, "Will the Fed cut rates in December?");
  index.set(2, "Will the Fed hold in December?");
  assert.deepEqual(index.search("fed december"), new Set([1, 2]));
  assert.deepEqual(index.search("fed rat"), new Set([1]));
  assert.deepEqual(index.search("rat fed"), new Set());
});

test("a beginning shorter than three letters is looked up as a whole word", () => {
  const index = new TextIndex();
  index.set(1, "Inflation in May");
  assert.deepEqual(index.search("in"), new Set([1]));
  assert.deepEqual(index.search("ma"), new Set());
  assert.deepEqual(index.search("may"), new Set([1]));
});

test("a word typed again does not turn a finished word into an unfinished one", () => {
  const index = new TextIndex();
  index.set(1, "Fed ratification");
  index.set(2, "Fed rat");
  assert.deepEqual(index.search("fed rat fed"), new Set([2]));
});

test("a number is found with or without its digit groups, also while it is being typed", () => {
  const index = new TextIndex();
  index.set(1, "Jobs added — Above 125,000");
  for (const query of ["125000", "125,000", "$125,000", "125,0", "above 1250"])
    assert.deepEqual(index.search(query), new Set([1]), query);
  assert.deepEqual(index.search("125"), new Set([1]));
  assert.deepEqual(index.search("000"), new Set());
});

test("a query without words finds nothing", () => {
  const index = new TextIndex();
  index.set(1, "Anything");
  for (const query of ["", "  ", "?!", "\0"]) assert.deepEqual(index.search(query), new Set());
});

test("a replaced or deleted text is found no more", () => {
  const index = new TextIndex();
  index.set(1, "old words");
  index.set(1, "new words");
  assert.deepEqual(index.search("old"), new Set());
  assert.deepEqual(index.search("new"), new Set([1]));
  index.delete(1);
  assert.deepEqual(index.search("words"), new Set());
});

const word = fc.constantFrom(
  "fed",
  "fedora",
  "feds",
  "rate",
  "rates",
  "ratio",
  "3.5",
  "3",
  "Núñez",
  "nunezia",
  "in",
  "x",
);
const text = fc.array(word, { maxLength: 5 }).map((list) => list.join(" "));

/** What the index promises, said as a scan over all texts. */
function scan(texts: ReadonlyMap<number, string>, query: string): Set<number> {
  const wanted = words(query);
  const last = wanted.pop();
  if (last === undefined) return new Set();
  const fits = (has: readonly string[]) =>
    wanted.every((whole) => has.includes(whole)) &&
    has.some((candidate) => candidate === last || (last.length >= 3 && candidate.startsWith(last)));
  return new Set([...texts].filter(([, content]) => fits(words(content))).map(([row]) => row));
}

test("a search finds what a scan of all texts finds, after any series of changes", () => {
  const change = fc.record({ row: fc.nat(6), text: fc.option(text) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 25 }), fc.array(text, { maxLength: 4 }), (changes, queries) => {
      const index = new TextIndex();
      const texts = new Map<number, string>();
      for (const { row, text: content } of changes) {
        if (content === null) {
          index.delete(row);
          texts.delete(row);
        } else {
          index.set(row, content);
          texts.set(row, content);
        }
      }
      for (const query of queries) assert.deepEqual([...index.search(query)].sort(), [...scan(texts, query)].sort());
    }),
  );
});

test("each word of a query has the rows whose text has it or a longer word that it begins, fewest first", () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), text, (texts, query) => {
      const index = new TextIndex();
      const byRow = new Map(texts.map((content, row) => [row, content]));
      for (const [row, content] of byRow) index.set(row, content);
      const found = index.findEach(query).map((rows) => {
        const list: number[] = [];
        rows.forEach((row) => {
          list.push(row);
        });
        return list;
      });
      const expected = [...new Set(words(query))].map((one) => [...scan(byRow, one)]);
      const bySize = (a: number[], b: number[]) => a.length - b.length;
      assert.deepEqual(found, expected.sort(bySize));
    }),
  );
});

test("words without accents and signs are the same whichever way they are read", () => {
  const ascii = fc.string({ unit: fc.constantFrom(..."aZ09.,;-$%é ") });
  fc.assert(
    fc.property(ascii, (content) => {
      // The last letter, and nothing else, asks for Unicode's tables.
      assert.deepEqual(words(`${content} \u00e9`), [...words(content), "e"]);
    }),
  );
});
