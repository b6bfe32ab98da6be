import assert from "node:assert/strict";
import { test } from "node:test";
import { countDrops, readFixture } from "./fixtures/support.ts";
import { parseBook } from "./parse-book.ts";
import { isOrderbook } from "./wire.ts";

function parseFixture(name: string) {
  const wire = readFixture(name);
  assert.ok(isOrderbook(wire));
  const { drop, dropped } = countDrops();
  return { ...parseBook(wire, drop), dropped };
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
  dropped: {},
};

test("orderbook-two-sided: both ladders are bids, so a NO bid at 0.55 is a YES ask at exactly 0.45", () => {
  assert.deepEqual(parseFixture("orderbook-two-sided"), twoSided);
});

test("orderbook-best-first: the order in which the venue sends levels does not matter", () => {
  assert.deepEqual(parseFixture("orderbook-best-first"), twoSided);
});

test("orderbook-one-sided: a side whose key is absent is empty", () => {
  assert.deepEqual(parseFixture("orderbook-one-sided"), { bids: [], asks: [{ price: 0.03, size: 4000 }], dropped: {} });
});

test("orderbook-null-sides: null sides are empty", () => {
  assert.deepEqual(parseFixture("orderbook-null-sides"), { bids: [], asks: [], dropped: {} });
});

test("orderbook-garbage-levels: each level that nobody can trade at is dropped and counted, the rest stays", () => {
  const { bids, asks, dropped } = parseFixture("orderbook-garbage-levels");
  assert.deepEqual(bids, [{ price: 0.4, size: 50 }]);
  assert.deepEqual(asks, []);
  assert.deepEqual(dropped, { bad_level: 7, price_out_of_range: 2 });
});
