import assert from "node:assert/strict";
import { test } from "node:test";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { parseBook } from "./parse-book.ts";
import { isOrderbook } from "./wire.ts";

const readFixture = fixtureReader(import.meta.url);

function parseFixture(name: string) {
  const wire = readFixture(name);
  assert.ok(isOrderbook(wire));
  const { countDrop, drops } = countDrops();
  return { ...parseBook(wire, countDrop), drops };
}

const twoSided = {
  bids: [
    { price: 0.42, size: 120 },
    { price: 0.4, size: 50 },
  ],
  asks: [
    { price: 0.45, size: 75.5 },
    { price: 0.5, size: 10 },
  ],
  drops: {},
};

test("converts a NO bid at 0.55 to a YES ask at exactly 0.45", () => {
  assert.deepEqual(parseFixture("book/two-sided"), twoSided);
});

test("sorts levels independently of the order in which the venue sends them", () => {
  assert.deepEqual(parseFixture("book/best-first"), twoSided);
});

test("returns an empty side if its key is absent", () => {
  assert.deepEqual(parseFixture("book/one-sided"), { bids: [], asks: [{ price: 0.03, size: 4000 }], drops: {} });
});

test("returns empty sides if both sides are null", () => {
  assert.deepEqual(parseFixture("book/null-sides"), { bids: [], asks: [], drops: {} });
});

test("drops and counts invalid levels and keeps valid levels", () => {
  const { bids, asks, drops } = parseFixture("book/garbage-levels");
  assert.deepEqual(bids, [{ price: 0.4, size: 50 }]);
  assert.deepEqual(asks, []);
  assert.deepEqual(drops, { bad_level: 7, price_out_of_range: 2 });
});
