import assert from "node:assert/strict";
import { test } from "node:test";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { parseBook, parseBookFrame, parsePriceFrame, quoteOfBook } from "./parse-book.ts";
import { isBook, isBookFrame, isPriceFrame } from "./wire.ts";

const fixture = fixtureReader(import.meta.url);
const TIMES = { eventAt: null, receivedAt: 5 };

function parseFixture(name: string) {
  const json = fixture(name);
  assert.ok(isBook(json));
  const { drops, countDrop } = countDrops();
  return { book: parseBook(json, TIMES, countDrop), drops };
}

test("divides raw sizes by a million and sorts both sides best first", () => {
  const { book, drops } = parseFixture("book/two-sided");
  assert.deepEqual(book, {
    bids: [
      { price: 0.43, size: 120.5 },
      { price: 0.001, size: 900_000 },
    ],
    asks: [
      { price: 0.447, size: 75 },
      { price: 0.45, size: 1 },
    ],
    lastPrice: 0.431,
    ...TIMES,
  });
  assert.deepEqual(drops, {});
});

test("parses an empty book as no levels and no last price", () => {
  assert.deepEqual(parseFixture("book/empty").book, { bids: [], asks: [], lastPrice: null, ...TIMES });
});

test("drops and counts all levels of a crossed book but keeps its last price", () => {
  const { book, drops } = parseFixture("book/crossed");
  assert.deepEqual(book, { bids: [], asks: [], lastPrice: 0.44, ...TIMES });
  assert.deepEqual(drops, { crossed_book: 1 });
});

test("drops and counts each level without a size or a price in (0, 1)", () => {
  const { book, drops } = parseFixture("book/invalid-levels");
  assert.deepEqual(book.bids, [{ price: 0.42, size: 2.5 }]);
  assert.deepEqual(book.asks, []);
  assert.equal(book.lastPrice, null);
  assert.deepEqual(drops, { bad_book_level: 3, price_out_of_range: 3 });
});

test("reads the best bid and ask of a stream frame, null for an empty side, with the frame's time", () => {
  const json = fixture("stream/book");
  assert.ok(isBookFrame(json));
  assert.deepEqual(quoteOfBook(parseBookFrame(json, 5, countDrops().countDrop)), {
    bid: 0.43,
    ask: null,
    bidSize: 120.5,
    askSize: null,
    eventAt: Date.UTC(2026, 10, 21, 1, 2, 3, 123),
  });
});

test("a frame with orders only at the placeholder prices has no quotes and no sizes", () => {
  const frame = fixture("stream/book") as { orderbook: object };
  const level = (price: number) => ({ price, size: 2_000_000_000 });
  const json = { ...frame, orderbook: { ...frame.orderbook, bids: [level(0.001)], asks: [level(0.999)] } };
  assert.ok(isBookFrame(json));
  const { eventAt: _, ...quote } = quoteOfBook(parseBookFrame(json, 5, countDrops().countDrop));
  assert.deepEqual(quote, { bid: null, ask: null, bidSize: null, askSize: null });
});

for (const [name, indicativePrice, eventAt] of [
  ["stream/price", 0.22, Date.UTC(2026, 10, 21, 1, 2, 3)],
  ["stream/price-older-shape", 0.65, 1795222923000],
] as const) {
  test(`reads the AMM price and time of ${name}`, () => {
    const json = fixture(name);
    assert.ok(isPriceFrame(json));
    assert.deepEqual(parsePriceFrame(json, countDrops().countDrop), { indicativePrice, eventAt });
  });
}
