import assert from "node:assert/strict";
import { test } from "node:test";
import { hashText } from "./text-hash.ts";

test("the first half is the published FNV-1a hash", () => {
  // Values of the reference implementation for "" and "a".
  assert.equal(hashText("").split("-")[0], String(0x811c9dc5));
  assert.equal(hashText("a").split("-")[0], String(0xe40c292c));
});

test("100,000 similar texts have different hashes", () => {
  const hashes = new Set(Array.from({ length: 100_000 }, (_, number) => hashText(`The price is above ${number}.`)));
  assert.equal(hashes.size, 100_000);
});
