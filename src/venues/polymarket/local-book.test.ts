import assert from "node:assert/strict";
import { test } from "node:test";
import { LocalBook } from "./local-book.ts";

const LEVELS = 10_000;
const levels = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ price: (index + 1) / 1_000_000, size: 1 }));

test("a side has at most 10,000 levels, and a snapshot with more leaves the book incomplete", () => {
  const book = new LocalBook();
  book.replace(levels(LEVELS), levels(LEVELS));
  assert.equal(book.isComplete, true);
  book.replace(levels(LEVELS + 1), []);
  assert.equal(book.isComplete, false);
  book.replace([], levels(LEVELS + 1));
  assert.equal(book.isComplete, false);
});

test("a changed level above the limit makes the book incomplete, and a known level may still change", () => {
  const book = new LocalBook();
  book.replace(levels(LEVELS), []);
  book.set("BUY", { price: 1 / 1_000_000, size: 2 });
  assert.equal(book.isComplete, true);
  book.set("BUY", { price: 0.5, size: 1 });
  assert.equal(book.isComplete, false);
});
