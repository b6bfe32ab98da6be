import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { yesPrice } from "./market.ts";
import { fromMicros, midPrice, toMicros } from "./price.ts";

const EMPTY_QUOTE = { bid: null, ask: null, lastPrice: null, indicativePrice: null };

test("returns the mid price of a two-sided book, regardless of the last trade", () => {
  assert.equal(yesPrice({ bid: 0.4, ask: 0.44, lastPrice: 0.9, indicativePrice: 0.1 }), 0.42);
});

test("returns the mid price if the spread is at most 0.10", () => {
  assert.equal(yesPrice({ ...EMPTY_QUOTE, bid: 0.3, ask: 0.4, lastPrice: 0.9 }), 0.35);
  assert.equal(yesPrice({ ...EMPTY_QUOTE, bid: 0.3, ask: 0.400001, lastPrice: 0.35 }), 0.35);
});

test("a spread of exactly 0.10 returns the mid price at every price, without rounding errors", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 899_999 }), (bidMicros) => {
      const bid = fromMicros(bidMicros);
      const ask = fromMicros(bidMicros + 100_000);
      assert.equal(yesPrice({ ...EMPTY_QUOTE, bid, ask, lastPrice: 0.999999 }), midPrice(bid, ask));
    }),
  );
});

test("clamps the last trade to the range between bid and ask, or to the side that exists", () => {
  for (const [quote, price] of [
    [{ bid: 0.3, ask: 0.5, lastPrice: 0.9 }, 0.5],
    [{ bid: 0.3, ask: 0.5, lastPrice: 0.1 }, 0.3],
    [{ bid: 0.3, lastPrice: 0.1 }, 0.3],
    [{ ask: 0.5, lastPrice: 0.9 }, 0.5],
  ] as const) {
    assert.equal(yesPrice({ ...EMPTY_QUOTE, ...quote }), price);
  }
});

test("returns the last trade for a crossed or locked book", () => {
  assert.equal(yesPrice({ ...EMPTY_QUOTE, bid: 0.5, ask: 0.48, lastPrice: 0.7 }), 0.7);
  assert.equal(yesPrice({ ...EMPTY_QUOTE, bid: 0.5, ask: 0.5, lastPrice: 0.7 }), 0.7);
  assert.equal(yesPrice({ ...EMPTY_QUOTE, bid: 0.5, ask: 0.48 }), null);
});

test("for a one-sided or wide book, returns the last trade, else null, regardless of the indicative price", () => {
  for (const book of [{ bid: 0.4 }, { ask: 0.8 }, { bid: 0.001, ask: 0.999 }, { bid: 0.002, ask: 0.998 }]) {
    assert.equal(yesPrice({ ...EMPTY_QUOTE, ...book, lastPrice: 0.7, indicativePrice: 0.5 }), 0.7);
    assert.equal(yesPrice({ ...EMPTY_QUOTE, ...book, indicativePrice: 0.5 }), null);
  }
});

test("for a market without quotes, returns the last trade, else the indicative price, else null", () => {
  assert.equal(yesPrice({ ...EMPTY_QUOTE, lastPrice: 0.7, indicativePrice: 0.2 }), 0.7);
  assert.equal(yesPrice({ ...EMPTY_QUOTE, indicativePrice: 0.2 }), 0.2);
  assert.equal(yesPrice(EMPTY_QUOTE), null);
});

test("for any quote, returns a price within the book, else the last trade, else the price of a market without quotes", () => {
  const optionalPrice = fc.option(fc.integer({ min: 1, max: 999_999 }).map(fromMicros));
  fc.assert(
    fc.property(optionalPrice, optionalPrice, optionalPrice, optionalPrice, (bid, ask, lastPrice, indicativePrice) => {
      const displayedPrice = yesPrice({ bid, ask, lastPrice, indicativePrice });
      const isCrossedBook = bid !== null && ask !== null && bid >= ask;
      const hasMid = bid !== null && ask !== null && !isCrossedBook && toMicros(ask) - toMicros(bid) <= 100_000;
      if (hasMid) assert.equal(displayedPrice, midPrice(bid, ask));
      else if (lastPrice === null) assert.equal(displayedPrice, bid === null && ask === null ? indicativePrice : null);
      else if (isCrossedBook) assert.equal(displayedPrice, lastPrice);
      else {
        assert.ok(displayedPrice !== null && displayedPrice >= (bid ?? 0) && displayedPrice <= (ask ?? 1));
        const isInside = lastPrice >= (bid ?? 0) && lastPrice <= (ask ?? 1);
        assert.equal(displayedPrice === lastPrice, isInside);
      }
    }),
  );
});
