import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { splitWords, TextIndex } from "./text-index.ts";

const search = (index: TextIndex, query: string) => new Set(index.find(query).toArray());

test("`splitWords` returns lower-case words without accents and punctuation, and numbers with decimals", () => {
  assert.deepEqual(splitWords("S. Núñez, 3.5% — ÅRHUS?"), ["s", "nunez", "3.5", "arhus"]);
  assert.deepEqual(splitWords("$96,000 by 2026-12-31"), ["96000", "by", "2026", "12", "31"]);
  assert.deepEqual(splitWords("!?… "), []);
});

test("finds a number with or without digit group commas and by prefix", () => {
  const index = new TextIndex();
  index.set(1, "Jobs added — Above 125,000");
  for (const query of ["125000", "125,000", "$125,000", "125,0", "above 1250"])
    assert.deepEqual(search(index, query), new Set([1]), query);
  assert.deepEqual(search(index, "125"), new Set([1]));
  assert.deepEqual(search(index, "000"), new Set());
});

const word = fc.constantFrom(..."fed fedora feds rate rates ratio 3.5 3 Núñez nunezia in x".split(" "));
const text = fc.array(word, { maxLength: 5 }).map((list) => list.join(" "));

/** Reference implementation: scans all texts. */
function scan(texts: ReadonlyMap<number, string>, query: string): Set<number> {
  const queryWords = splitWords(query);
  const last = queryWords.pop();
  if (last === undefined) return new Set();
  const matches = (textWords: readonly string[]) =>
    queryWords.every((queryWord) => textWords.includes(queryWord)) &&
    textWords.some((candidate) => candidate === last || (last.length >= 3 && candidate.startsWith(last)));
  return new Set([...texts].filter(([, content]) => matches(splitWords(content))).map(([row]) => row));
}

test("after any sequence of changes, `find` returns the same rows as a scan of all texts", () => {
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
      for (const query of queries) assert.deepEqual([...search(index, query)].sort(), [...scan(texts, query)].sort());
    }),
  );
});

test("`findEach` returns the rows of each query word, which may be a prefix, rarest word first", () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), text, (texts, query) => {
      const index = new TextIndex();
      const byRow = new Map(texts.map((content, row) => [row, content]));
      for (const [row, content] of byRow) index.set(row, content);
      const rowsOfWords = index.findEach(query).map((rows) => rows.toArray());
      const expected = [...new Set(splitWords(query))].map((queryWord) => [...scan(byRow, queryWord)]);
      const bySize = (a: number[], b: number[]) => a.length - b.length;
      assert.deepEqual(rowsOfWords, expected.sort(bySize));
    }),
  );
});

test("`rank` returns each row that shares a word with the query, and the query's own text is the most similar", () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 12 }), fc.nat(), (texts, pick) => {
      const index = new TextIndex();
      index.set(99, "a deleted row");
      for (const [row, content] of texts.entries()) index.set(row, content);
      index.delete(99);
      const query = texts[pick % texts.length] ?? "";
      const words = new Set(splitWords(query));
      const ranked = index.rank(query);
      const expected = texts.flatMap((content, row) =>
        splitWords(content).some((word) => words.has(word)) ? [row] : [],
      );
      assert.deepEqual(ranked.map(({ row }) => row).sort(), expected.sort());
      for (const { row, similarity } of ranked) {
        assert.ok(similarity > 0 && similarity <= 1);
        const isEqual = [...new Set(splitWords(texts[row] ?? ""))].sort().join() === [...words].sort().join();
        assert.equal(similarity === 1, isEqual);
      }
    }),
  );
});

test("a rare word that is shared counts more than a frequent one", () => {
  const index = new TextIndex();
  for (const [row, content] of [
    "will the fed cut",
    "will the bank hold",
    "will the fed hold",
    "will it rain",
  ].entries())
    index.set(row, content);
  const [best] = index.rank("will rain come").sort((a, b) => b.similarity - a.similarity);
  assert.equal(best?.row, 3);
});

test("the ASCII fast path and the Unicode path return the same words", () => {
  const ascii = fc.string({ unit: fc.constantFrom(..."aZ09.,;-$%é ") });
  fc.assert(
    fc.property(ascii, (content) => {
      // The appended non-ASCII letter selects the Unicode path.
      assert.deepEqual(splitWords(`${content} \u00e9`), [...splitWords(content), "e"]);
    }),
  );
});
