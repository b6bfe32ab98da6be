import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseBook, parseBookFrame, parsePriceFrame } from "./parse-book.ts";
import { isBook, isBookFrame, isPriceFrame } from "./wire.ts";

const TIMES = { eventAt: null, receivedAt: 5 };

function fixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), "utf8"));
}

function counter() {
  const dropped: Record<string, number> = {};
  return {
    dropped,
    drop: (reason: string, count = 1) => {
      dropped[reason] = (dropped[reason] ?? 0) + count;
    },
  };
}

function read(name: string) {
  const json = fixture(name);
  assert.ok(isBook(json));
  const { dropped, drop } = counter();
  return { book: parseBook(json, TIMES, drop), dropped };
}

test("raw sizes are divided by a million and both sides are sorted best first", () => {
  const { book: parsed, dropped } = read("orderbook");
  assert.deepEqual(parsed, {
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
  assert.deepEqual(dropped, {});
});

test("an empty book has no levels and no last price", () => {
  assert.deepEqual(read("orderbook-empty").book, { bids: [], asks: [], lastPrice: null, ...TIMES });
});

test("a crossed book is dropped as a whole and counted, its last trade stays", () => {
  const { book: parsed, dropped } = read("orderbook-crossed");
  assert.deepEqual(parsed, { bids: [], asks: [], lastPrice: 0.44, ...TIMES });
  assert.deepEqual(dropped, { crossed_book: 1 });
});

test("levels without a price inside (0, 1) or a size are dropped one by one and counted", () => {
  const { book: parsed, dropped } = read("orderbook-garbage-levels");
  assert.deepEqual(parsed.bids, [{ price: 0.42, size: 2.5 }]);
  assert.deepEqual(parsed.asks, []);
  assert.equal(parsed.lastPrice, null);
  assert.deepEqual(dropped, { bad_book_level: 3, price_out_of_range: 3 });
});

test("a frame of the stream tells the best of both sides at its time, an empty side as null", () => {
  const json = fixture("stream-orderbook-update");
  assert.ok(isBookFrame(json));
  assert.deepEqual(parseBookFrame(json, 5, counter().drop), {
    bid: 0.43,
    ask: null,
    bidSize: 120.5,
    askSize: null,
    eventAt: Date.UTC(2026, 10, 21, 1, 2, 3, 123),
  });
});

for (const [name, indicativePrice, eventAt] of [
  ["stream-new-price-data", 0.22, Date.UTC(2026, 10, 21, 1, 2, 3)],
  ["stream-new-price-data-older-shape", 0.65, 1795222923000],
] as const) {
  test(`${name} gives the AMM's price and its time`, () => {
    const json = fixture(name);
    assert.ok(isPriceFrame(json));
    assert.deepEqual(parsePriceFrame(json, counter().drop), { indicativePrice, eventAt });
  });
}
