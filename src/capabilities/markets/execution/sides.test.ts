import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { OrderBook } from "../../../domain/order-book.ts";
import { complement } from "../../../domain/price.ts";
import { guideSides } from "./sides.ts";

const BOOK: OrderBook = {
  bids: [
    { price: 0.4, size: 100 },
    { price: 0.39, size: 500 },
  ],
  asks: [
    { price: 0.44, size: 100 },
    { price: 0.46, size: 500 },
  ],
  lastPrice: null,
  eventAt: null,
  receivedAt: 0,
};
const RULES = {
  priceRanges: [{ from: 0, to: 1, step: 0.01 }],
  takerFee: { kind: "quadratic", rate: 0.07, exponent: 1, rounding: { feeStep: 0.0001, balanceStep: 0.01 } },
  minOrderContracts: 1,
  contractStep: 1,
} as const;
const SIZE = { sizeUsd: 67, trend: null };

test("known values: each side has its own limit price, average, slippage and fee", () => {
  const sides = guideSides(BOOK, RULES, SIZE);
  // 100 contracts at 0.44 and 50 at 0.46. Fees: 1.7248 and 0.8694; the balance falls by 69.60.
  assert.deepEqual(sides?.buy_yes, {
    limit_price: 0.42,
    contracts: 150,
    average_price: 67 / 150,
    worst_price: 0.46,
    slippage_pct: 1.5152,
    fee_usd: 2.6,
  });
  // NO is offered at 0.60 and 0.61: 100 contracts and 11 of 11.47. Fees: 1.68 and 0.1832.
  assert.deepEqual([sides?.buy_no.contracts, sides?.buy_no.worst_price, sides?.buy_no.limit_price], [111, 0.61, 0.58]);
  assert.equal(sides?.buy_no.fee_usd, 1.87);
  // 100 contracts at 0.40 and 69 of 69.23 at 0.39.
  assert.deepEqual(
    [sides?.sell_yes.contracts, sides?.sell_yes.worst_price, sides?.sell_yes.limit_price],
    [169, 0.39, 0.42],
  );
  // NO is bid at 0.56 and 0.54: 100 contracts and 20 of 20.37.
  assert.deepEqual(
    [sides?.sell_no.contracts, sides?.sell_no.worst_price, sides?.sell_no.limit_price],
    [120, 0.54, 0.58],
  );
});

test("limit prices are on the grid of their side and never match an order of the book", () => {
  const priceRanges = [
    { from: 0, to: 0.1, step: 0.001 },
    { from: 0.1, to: 0.9, step: 0.01 },
    { from: 0.9, to: 1, step: 0.001 },
  ];
  const trends = fc.constantFrom("tightening" as const, "widening" as const, "stable" as const, null);
  const cents = fc.integer({ min: 1, max: 98 });
  fc.assert(
    fc.property(cents, cents, trends, (a, b, trend) => {
      const [bid, ask] = [Math.min(a, b) / 100, (Math.max(a, b) + 1) / 100];
      const book = { ...BOOK, bids: [{ price: bid, size: 1e6 }], asks: [{ price: ask, size: 1e6 }] };
      const sides = guideSides(book, { ...RULES, priceRanges }, { sizeUsd: 100, trend });
      assert.ok(sides !== null);
      const isOnGrid = (yesPrice: number) => {
        const step = yesPrice >= 0.1 && yesPrice <= 0.9 ? 0.01 : 0.001;
        return Math.abs(yesPrice / step - Math.round(yesPrice / step)) < 1e-6;
      };
      const { buy_yes, buy_no, sell_yes, sell_no } = sides;
      for (const { limit_price } of [buy_yes, sell_yes]) assert.ok(limit_price !== null && isOnGrid(limit_price));
      for (const { limit_price } of [buy_no, sell_no]) assert.ok(limit_price !== null && isOnGrid(1 - limit_price));
      assert.ok((buy_yes.limit_price ?? 1) < ask && (sell_yes.limit_price ?? 0) > bid);
      assert.ok((buy_no.limit_price ?? 1) < complement(bid) && (sell_no.limit_price ?? 0) > complement(ask));
    }),
  );
});

test("a market order is null below the smallest order, and if the book cannot fill it", () => {
  const order = { contracts: null, average_price: null, worst_price: null, slippage_pct: null, fee_usd: null };
  assert.deepEqual(guideSides(BOOK, { ...RULES, minOrderContracts: 5 }, { ...SIZE, sizeUsd: 2 })?.buy_yes, {
    limit_price: 0.42,
    ...order,
  });
  assert.deepEqual(guideSides(BOOK, RULES, { ...SIZE, sizeUsd: 1_000 })?.sell_yes, { limit_price: 0.42, ...order });
});

test("contracts are multiples of the venue's step, and figures that the venue does not publish are null", () => {
  const sides = guideSides(BOOK, { ...RULES, contractStep: 0.01 }, { ...SIZE, sizeUsd: 10 });
  assert.equal(sides?.buy_yes.contracts, 22.72);
  const unknown = guideSides(BOOK, { ...RULES, priceRanges: null, takerFee: null }, SIZE)?.buy_yes;
  assert.deepEqual([unknown?.limit_price, unknown?.fee_usd, unknown?.contracts], [null, null, 150]);
  assert.equal(guideSides({ ...BOOK, bids: [] }, RULES, SIZE), null);
});
