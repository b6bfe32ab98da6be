import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../test/support/asserts/assert-near.ts";
import { type ReferenceQuote, referencePool } from "./reference-pool.ts";

const quote = (yesPrice: number, parts: Partial<ReferenceQuote> = {}): ReferenceQuote => ({
  yesPrice,
  isInverse: false,
  isPlayMoney: false,
  liquidityUsd: null,
  volume24hUsd: null,
  ...parts,
});
const poolOf = (...quotes: readonly ReferenceQuote[]) => referencePool(quotes)?.probability ?? Number.NaN;

const anyQuote: fc.Arbitrary<ReferenceQuote> = fc.record({
  yesPrice: fc.double({ min: 0.005, max: 0.995, noNaN: true }),
  isInverse: fc.boolean(),
  isPlayMoney: fc.boolean(),
  liquidityUsd: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true })),
  volume24hUsd: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true })),
});
const quotes = fc.array(anyQuote, { minLength: 1, maxLength: 5 });
const priceOf = ({ yesPrice, isInverse }: ReferenceQuote) => (isInverse ? 1 - yesPrice : yesPrice);

test("known value: odds of 1:1 and 9:1 with equal weights pool to odds of 3:1, their geometric mean", () => {
  assertNear(poolOf(quote(0.5), quote(0.9)), 0.75, 1e-12);
});

test("known value: with weights of 1 and 0.1, odds of 1:1 and 2^11:1 limited to 199:1 pool to 199^(1/11):1", () => {
  const odds = 199 ** (1 / 11);
  assertNear(poolOf(quote(0.5, { liquidityUsd: 1e6 }), quote(1)), odds / (1 + odds), 1e-12);
});

test("closed form: the pool of one market is the price p, or 1 - p if the market is inverse", () => {
  assertNear(poolOf(quote(0.3)), 0.3, 1e-12);
  assertNear(poolOf(quote(0.3, { isInverse: true })), 0.7, 1e-12);
  assertNear(poolOf(quote(0.3, { isPlayMoney: true })), 0.3, 1e-12);
});

test("the weight of real money is 0.1 without known amounts, grows with the larger amount to 1, and is 0.05 for play money", () => {
  const weightOf = (parts: Partial<ReferenceQuote>) => referencePool([quote(0.5, parts)])?.weight ?? Number.NaN;
  assertNear(weightOf({}), 0.1, 1e-12);
  assertNear(weightOf({ liquidityUsd: 999 }), 0.55, 1e-12);
  assertNear(weightOf({ liquidityUsd: 3, volume24hUsd: 999 }), 0.55, 1e-12);
  assertNear(weightOf({ volume24hUsd: 1e9 }), 1, 1e-12);
  assertNear(weightOf({ isPlayMoney: true, liquidityUsd: 1e9 }), 0.05, 1e-12);
});

test("law: the pooled price lies between the lowest and the highest price", () => {
  fc.assert(
    fc.property(quotes, (list) => {
      const prices = list.map(priceOf);
      const pooled = poolOf(...list);
      assert.ok(pooled >= Math.min(...prices) - 1e-9 && pooled <= Math.max(...prices) + 1e-9);
    }),
  );
});

test("law: swapping YES and NO of every market turns p into 1 - p", () => {
  fc.assert(
    fc.property(quotes, (list) => {
      const swapped = list.map((item) => ({ ...item, isInverse: !item.isInverse }));
      assertNear(poolOf(...list) + poolOf(...swapped), 1, 1e-12);
    }),
  );
});

test("law: a higher price of one market never lowers the pooled price", () => {
  fc.assert(
    fc.property(quotes, fc.double({ min: 0, max: 0.3, noNaN: true }), ([first = quote(0.5), ...others], step) => {
      const raised = { ...first, isInverse: false, yesPrice: Math.min(1, priceOf(first) + step) };
      assert.ok(poolOf(raised, ...others) >= poolOf(first, ...others) - 1e-9);
    }),
  );
});

test("without matched markets the pool is null", () => {
  assert.equal(referencePool([]), null);
});

test("prices outside [0, 1] and invalid amounts are refused", () => {
  for (const wrong of [-0.01, 1.01, Number.NaN]) assert.throws(() => referencePool([quote(wrong)]), RangeError);
  for (const wrong of [-1, Number.NaN, Infinity]) {
    assert.throws(() => referencePool([quote(0.5, { liquidityUsd: wrong })]), RangeError);
    assert.throws(() => referencePool([quote(0.5, { volume24hUsd: wrong })]), RangeError);
  }
});
