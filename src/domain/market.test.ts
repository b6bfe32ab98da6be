import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { yesPrice } from "./market.ts";
import { fromMicros, midPrice, toMicros } from "./price.ts";

const EMPTY = { bid: null, ask: null, lastPrice: null, indicativePrice: null };

test("returns the mid of a two-sided book, regardless of the last trade", () => {
  assert.equal(yesPrice({ bid: 0.4, ask: 0.44, lastPrice: 0.9, indicativePrice: 0.1 }), 0.42);
});

test("uses the mid up to a spread of exactly 0.10", () => {
  assert.equal(yesPrice({ ...EMPTY, bid: 0.3, ask: 0.4, lastPrice: 0.9 }), 0.35);
  assert.equal(yesPrice({ ...EMPTY, bid: 0.3, ask: 0.400001, lastPrice: 0.9 }), 0.9);
});

test("applies the spread limit exactly at every price, without rounding errors", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 899_999 }), (bidMicros) => {
      const bid = fromMicros(bidMicros);
      const ask = fromMicros(bidMicros + 100_000);
      assert.equal(yesPrice({ ...EMPTY, bid, ask, lastPrice: 0.999999 }), midPrice(bid, ask));
    }),
  );
});

test("returns the last trade for a crossed or locked book", () => {
  assert.equal(yesPrice({ ...EMPTY, bid: 0.5, ask: 0.48, lastPrice: 0.7 }), 0.7);
  assert.equal(yesPrice({ ...EMPTY, bid: 0.5, ask: 0.5, lastPrice: 0.7 }), 0.7);
  assert.equal(yesPrice({ ...EMPTY, bid: 0.5, ask: 0.48 }), null);
});

test("returns the last trade, the indicative price or null for a one-sided book, in this order", () => {
  assert.equal(yesPrice({ ...EMPTY, bid: 0.4, lastPrice: 0.7, indicativePrice: 0.2 }), 0.7);
  assert.equal(yesPrice({ ...EMPTY, ask: 0.4, indicativePrice: 0.2 }), 0.2);
  assert.equal(yesPrice({ ...EMPTY, bid: 0.4 }), null);
  assert.equal(yesPrice(EMPTY), null);
});

test("always returns a mid within the book, the last trade, the indicative price or null", () => {
  const price = fc.option(fc.integer({ min: 1, max: 999_999 }).map(fromMicros));
  fc.assert(
    fc.property(price, price, price, price, (bid, ask, lastPrice, indicativePrice) => {
      const displayed = yesPrice({ bid, ask, lastPrice, indicativePrice });
      const isMid =
        bid !== null && ask !== null && bid < ask && toMicros(ask) - toMicros(bid) <= 100_000 && displayed !== null;
      if (isMid) assert.ok(displayed >= bid && displayed <= ask);
      else assert.equal(displayed, lastPrice ?? indicativePrice);
    }),
  );
});
