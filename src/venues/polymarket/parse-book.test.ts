import assert from "node:assert/strict";
import { test } from "node:test";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { parseBook } from "./parse-book.ts";
import { isBook } from "./wire.ts";

const readFixture = fixtureReader(import.meta.url);
const RECEIVED_AT = Date.UTC(2026, 10, 21);

function readBook(name: string) {
  const row = readFixture(name);
  assert.ok(isBook(row));
  const { drops, countDrop } = countDrops();
  return { book: parseBook(row, RECEIVED_AT, countDrop), drops };
}

test("sorts the best levels first and reads the time in milliseconds", () => {
  const { book, drops } = readBook("book/two-sided");
  assert.deepEqual(book, {
    bids: [
      { price: 0.43, size: 120.5 },
      { price: 0.41, size: 500 },
    ],
    asks: [
      { price: 0.44, size: 75 },
      { price: 0.47, size: 300 },
    ],
    lastPrice: 0.43,
    eventAt: 1795229999123,
    receivedAt: RECEIVED_AT,
  });
  assert.deepEqual(drops, {});
});

test("returns empty sides for empty or null sides, and null for an empty last price", () => {
  const { book, drops } = readBook("book/empty");
  assert.deepEqual([book.bids, book.asks, book.lastPrice], [[], [], null]);
  assert.deepEqual(drops, {});
});

test("empties a crossed book and counts it", () => {
  const { book, drops } = readBook("book/crossed");
  assert.deepEqual([book.bids, book.asks], [[], []]);
  assert.deepEqual(drops, { crossed_book: 1 });
});

test("drops and counts invalid levels and keeps the others", () => {
  const { book, drops } = readBook("book/garbage-levels");
  assert.deepEqual(book.bids, [{ price: 0.41, size: 500 }]);
  assert.deepEqual(book.asks, [{ price: 0.44, size: 75 }]);
  assert.deepEqual([book.lastPrice, book.eventAt], [null, null]);
  assert.deepEqual(drops, { price_out_of_range: 4, bad_row: 3 });
});

test("reads a last price of 0.5 as unknown, because the venue sends it for a market without trades", () => {
  const row = { ...Object(readFixture("book/two-sided")), last_trade_price: "0.500" };
  assert.ok(isBook(row));
  assert.equal(parseBook(row, RECEIVED_AT, countDrops().countDrop).lastPrice, null);
});

test("reads the last price as unknown if the best prices show that it is that of the NO token", () => {
  const lastPriceOf = (bid: string, ask: string, last_trade_price: string) => {
    const levelsOf = (price: string) => (price === "" ? [] : [{ price, size: "5" }]);
    const row = {
      ...Object(readFixture("book/empty")),
      bids: levelsOf(bid),
      asks: levelsOf(ask),
      last_trade_price,
    };
    assert.ok(isBook(row));
    return parseBook(row, RECEIVED_AT, countDrops().countDrop).lastPrice;
  };
  assert.equal(lastPriceOf("0.95", "0.96", "0.040"), null);
  assert.equal(lastPriceOf("0.95", "", "0.040"), null);
  assert.equal(lastPriceOf("0.95", "0.96", "0.94"), 0.94);
  // Both tokens may have traded at this price.
  assert.equal(lastPriceOf("0.005", "0.995", "0.152"), 0.152);
  assert.equal(lastPriceOf("", "", "0.152"), 0.152);
  assert.equal(lastPriceOf("0.45", "0.55", "0.42"), 0.42);
});

test("keeps the best 10,000 levels of a side, and counts the others", () => {
  const row = readFixture("book/empty");
  assert.ok(isBook(row));
  const { drops, countDrop } = countDrops();
  const bids = Array.from({ length: 10_003 }, (_, index) => ({ price: String((index + 1) / 100_000), size: "1" }));
  const book = parseBook({ ...row, bids }, RECEIVED_AT, countDrop);
  assert.deepEqual([book.bids.length, book.bids[0]?.price, book.bids.at(-1)?.price], [10_000, 0.10003, 0.00004]);
  assert.deepEqual(drops, { book_too_deep: 3 });
});
