import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { yesPrice } from "./market.ts";
import { fromMicros, midPrice, toMicros } from "./price.ts";

const nothing = { bid: null, ask: null, lastPrice: null, indicativePrice: null };

test("a two-sided book gives its mid, whatever the last trade was", () => {
  assert.equal(yesPrice({ bid: 0.4, ask: 0.44, lastPrice: 0.9, indicativePrice: 0.1 }), 0.42);
});

test("a spread of exactly 0.10 still counts as two-sided, one micro more does not", () => {
  assert.equal(yesPrice({ ...nothing, bid: 0.3, ask: 0.4, lastPrice: 0.9 }), 0.35);
  assert.equal(yesPrice({ ...nothing, bid: 0.3, ask: 0.400001, lastPrice: 0.9 }), 0.9);
});

test("the limit of the spread holds at every price, free of binary rounding", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 899_999 }), (bidMicros) => {
      const bid = fromMicros(bidMicros);
      const ask = fromMicros(bidMicros + 100_000);
      assert.equal(yesPrice({ ...nothing, bid, ask, lastPrice: 0.999999 }), midPrice(bid, ask));
    }),
  );
});

test("a crossed or locked book is not two-sided: the last trade stands in", () => {
  assert.equal(yesPrice({ ...nothing, bid: 0.5, ask: 0.48, lastPrice: 0.7 }), 0.7);
  assert.equal(yesPrice({ ...nothing, bid: 0.5, ask: 0.5, lastPrice: 0.7 }), 0.7);
  assert.equal(yesPrice({ ...nothing, bid: 0.5, ask: 0.48 }), null);
});

test("a one-sided book gives the last trade, then the venue's indication, then nothing", () => {
  assert.equal(yesPrice({ ...nothing, bid: 0.4, lastPrice: 0.7, indicativePrice: 0.2 }), 0.7);
  assert.equal(yesPrice({ ...nothing, ask: 0.4, indicativePrice: 0.2 }), 0.2);
  assert.equal(yesPrice({ ...nothing, bid: 0.4 }), null);
  assert.equal(yesPrice(nothing), null);
});

test("whatever is quoted, the price is a mid within the book, the last trade, the indication or null", () => {
  const price = fc.option(fc.integer({ min: 1, max: 999_999 }).map(fromMicros));
  fc.assert(
    fc.property(price, price, price, price, (bid, ask, lastPrice, indicativePrice) => {
      const shown = yesPrice({ bid, ask, lastPrice, indicativePrice });
      const isMid =
        bid !== null && ask !== null && bid < ask && toMicros(ask) - toMicros(bid) <= 100_000 && shown !== null;
      if (isMid) assert.ok(shown >= bid && shown <= ask);
      else assert.equal(shown, lastPrice ?? indicativePrice);
    }),
  );
});
