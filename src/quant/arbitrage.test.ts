import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../test/support/asserts/assert-near.ts";
import type { TakerFee } from "../domain/market.ts";
import { type ArbitrageLeg, annualizedReturn, netSpread, scoreArbitrage, walkArbitrage } from "./arbitrage.ts";
import { orderFee, takerFee } from "./taker-fee.ts";

const NONE: TakerFee = { kind: "none" };
const CENTS: TakerFee = {
  kind: "quadratic",
  rate: 0.07,
  exponent: 1,
  rounding: { feeStep: 0.0001, balanceStep: 0.01 },
};
const TABLE: TakerFee = {
  kind: "value_table",
  buyPoints: [
    [0.5, 0.03],
    [0.999, 0.004],
  ],
  sellPoints: [
    [0.01, 0.0042],
    [0.5, 0.015],
    [0.9, 0.0078],
  ],
};

const offer = fc.record({
  price: fc.integer({ min: 1, max: 999 }).map((steps) => steps / 1_000),
  size: fc.integer({ min: 1, max: 50_000 }).map((cents) => cents / 100),
});
const leg: fc.Arbitrary<ArbitrageLeg> = fc.record({
  offers: fc.array(offer, { maxLength: 12 }).map((offers) => offers.sort((a, b) => a.price - b.price)),
  fee: fc.constantFrom<TakerFee>(NONE, CENTS, TABLE, { kind: "flat_value", rate: 0.004 }),
});
const legs = fc.array(leg, { minLength: 1, maxLength: 4 });
const payout = fc.constantFrom(1, 1, 2);

test("known value: YES at 40 and 42 cents against NO at 50 cents, with a fee on one venue", () => {
  const walk = walkArbitrage(
    [
      {
        offers: [
          { price: 0.4, size: 100 },
          { price: 0.42, size: 100 },
          { price: 0.49, size: 500 },
        ],
        fee: CENTS,
      },
      { offers: [{ price: 0.5, size: 150 }], fee: NONE },
    ],
    1,
  );
  // Fees: 100 * 0.07 * 0.24 = 1.68 and 50 * 0.07 * 0.2436 = 0.8526; together 2.5326, rounded up to 2.54.
  assert.equal(walk.contracts, 150);
  assertNear(walk.legs[0]?.costUsd ?? 0, 61);
  assertNear(walk.legs[0]?.feeUsd ?? 0, 2.54);
  assertNear(walk.legs[0]?.averagePrice ?? 0, 61 / 150);
  assert.deepEqual(walk.legs[0]?.contracts, [100, 50]);
  assert.deepEqual(walk.legs[1], { contracts: [150], costUsd: 75, feeUsd: 0, averagePrice: 0.5 });
  assertNear(walk.capitalUsd, 138.54);
  assertNear(walk.profitUsd, 11.46);
  assertNear(
    netSpread(
      [
        { price: 0.4, fee: CENTS },
        { price: 0.5, fee: NONE },
      ],
      1,
    ),
    0.1 - 0.0168,
  );
});

test("closed form: with one offer per leg the smaller size is bought, and its profit is the size times the net spread", () => {
  fc.assert(
    fc.property(offer, offer, fc.constantFrom(NONE, TABLE), (a, b, fee) => {
      const walk = walkArbitrage(
        [
          { offers: [a], fee },
          { offers: [b], fee },
        ],
        1,
      );
      const net = netSpread(
        [
          { price: a.price, fee },
          { price: b.price, fee },
        ],
        1,
      );
      assert.equal(walk.contracts, net > 1e-9 ? Math.min(a.size, b.size) : 0);
      assertNear(walk.profitUsd, Math.max(0, net) * Math.min(a.size, b.size) * (net > 1e-9 ? 1 : 0));
    }),
  );
});

test("law: the sizes, costs, fees, capital and profit of an arbitrage follow from its fills", () => {
  fc.assert(
    fc.property(legs, payout, (list, pays) => {
      const walk = walkArbitrage(list, pays);
      let capital = 0;
      for (const [index, { offers, fee }] of list.entries()) {
        const fill = walk.legs[index];
        assert.ok(fill !== undefined && fill.contracts.length <= offers.length);
        const fills = fill.contracts.map((contracts, at) => ({ contracts, price: offers[at]?.price ?? 0 }));
        for (const [at, { contracts }] of fills.entries()) assert.ok(contracts <= (offers[at]?.size ?? 0) + 1e-9);
        assertNear(
          fills.reduce((sum, { contracts }) => sum + contracts, 0),
          walk.contracts,
        );
        assertNear(
          fills.reduce((sum, { contracts, price }) => sum + contracts * price, 0),
          fill.costUsd,
        );
        assertNear(orderFee(fee, fills), fill.feeUsd);
        capital += fill.costUsd + fill.feeUsd;
      }
      assertNear(capital, walk.capitalUsd);
      assertNear(pays * walk.contracts - capital, walk.profitUsd);
      assert.ok(walk.profitUsd >= 0);
    }),
  );
});

test("no smaller or larger number of contracts is more profitable, apart from rounded fees", () => {
  const costOf = ({ offers, fee }: ArbitrageLeg, contracts: number): number => {
    let left = contracts;
    let cost = 0;
    for (const { price, size } of offers) {
      const taken = Math.min(left, size);
      cost += taken * (price + takerFee(fee, price));
      left -= taken;
    }
    return left > 1e-9 ? Number.POSITIVE_INFINITY : cost;
  };
  fc.assert(
    fc.property(legs, payout, fc.double({ min: 0, max: 1_500, noNaN: true }), (list, pays, contracts) => {
      const cost = list.reduce((sum, each) => sum + costOf(each, contracts), 0);
      const roundingMax = 0.01 * list.length;
      return walkArbitrage(list, pays).profitUsd >= pays * contracts - cost - roundingMax - 1e-6;
    }),
  );
});

test("more offers never make the profit smaller, and higher fees never make it larger", () => {
  fc.assert(
    fc.property(leg, leg, offer, (a, b, extra) => {
      const [first, second] = [a, b].map(({ offers }) => ({ offers, fee: NONE })) as [ArbitrageLeg, ArbitrageLeg];
      const more = { ...first, offers: [...first.offers, extra].sort((x, y) => x.price - y.price) };
      const profit = walkArbitrage([first, second], 1).profitUsd;
      assert.ok(walkArbitrage([more, second], 1).profitUsd >= profit - 1e-9);
      assert.ok(walkArbitrage([{ ...first, fee: CENTS }, second], 1).profitUsd <= profit + 1e-9);
    }),
  );
});

test("nothing is bought if a leg has no offers, the prices sum to the payout, or the rounded fee exceeds the profit", () => {
  const half = { offers: [{ price: 0.5, size: 100 }], fee: NONE };
  const nothing = { contracts: 0, capitalUsd: 0, profitUsd: 0 };
  const amounts = (list: readonly ArbitrageLeg[]) => {
    const { legs: _legs, ...rest } = walkArbitrage(list, 1);
    return rest;
  };
  assert.deepEqual(amounts([half, { offers: [], fee: NONE }]), nothing);
  assert.deepEqual(amounts([half, half]), nothing);
  const tiny = { offers: [{ price: 0.48, size: 0.1 }], fee: CENTS };
  assert.ok(
    netSpread(
      [
        { price: 0.48, fee: CENTS },
        { price: 0.5, fee: NONE },
      ],
      1,
    ) > 0,
  );
  assert.deepEqual(amounts([tiny, half]), nothing);
});

test("known value and law: the annual return is proportional to the profit and to 1 / days, from one day on", () => {
  assertNear(annualizedReturn(2, 100, 73), 0.1);
  assert.equal(annualizedReturn(2, 100, 0), annualizedReturn(2, 100, 1));
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e6, noNaN: true }), fc.integer({ min: 1, max: 5_000 }), (profit, days) => {
      assertNear(annualizedReturn(profit, 1e6, days), 4 * annualizedReturn(profit, 2e6, days * 2));
      return annualizedReturn(profit, 1e6, days + 1) <= annualizedReturn(profit, 1e6, days);
    }),
  );
});

test("known value: the example has a score of 76, from parts of 100, 50, 90 and 40", () => {
  const score = scoreArbitrage({
    netSpread: 0.05,
    executableUsd: 99,
    matchConfidence: 0.9,
    bidAskSpread: 0.02,
    ageShare: 0.5,
  });
  assert.deepEqual(
    Object.fromEntries(Object.entries(score).map(([name, value]) => [name, Math.round(value * 1e9) / 1e9])),
    { score: 76, spread: 100, liquidity: 50, match: 90, execution: 40 },
  );
});

test("the score is 40% spread and 20% of each other part, and 0 without a net spread", () => {
  const figures = fc.record({
    netSpread: fc.double({ min: -1, max: 1, noNaN: true }),
    executableUsd: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }), { nil: null }),
    matchConfidence: fc.double({ min: 0, max: 1, noNaN: true }),
    bidAskSpread: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: null }),
    ageShare: fc.double({ min: 0, max: 10, noNaN: true }),
  });
  fc.assert(
    fc.property(figures, (values) => {
      const { score, spread, liquidity, match, execution } = scoreArbitrage(values);
      for (const part of [score, spread, liquidity, match, execution]) assert.ok(part >= 0 && part <= 100);
      const sum = 0.4 * spread + 0.2 * liquidity + 0.2 * match + 0.2 * execution;
      assertNear(score, values.netSpread > 0 ? Math.min(100, sum) : 0);
    }),
  );
});

test("throws a RangeError for arguments outside their ranges", () => {
  const fine = { offers: [{ price: 0.5, size: 1 }], fee: NONE };
  const offering = (price: number, size: number) => ({ offers: [{ price, size }], fee: NONE });
  assert.throws(() => walkArbitrage([], 1), RangeError);
  for (const bad of [offering(0.5, 0), offering(0.5, -1), offering(0.5, Infinity), offering(1.5, 1), offering(-0.1, 1)])
    assert.throws(() => walkArbitrage([bad, fine], 1), RangeError);
  for (const value of [0, -1, Number.NaN])
    assert.throws(() => netSpread([{ price: 0.5, fee: NONE }], value), RangeError);
  assert.throws(() => annualizedReturn(-1, 1, 1), RangeError);
  assert.throws(() => annualizedReturn(1, 0, 1), RangeError);
  assert.throws(() => annualizedReturn(1, 1, -1), RangeError);
  const figures = { netSpread: 0.1, executableUsd: 1, matchConfidence: 0.9, bidAskSpread: 0.01, ageShare: 0 };
  for (const bad of [
    { netSpread: Number.NaN },
    { executableUsd: -1 },
    { matchConfidence: 1.1 },
    { bidAskSpread: -0.1 },
    { ageShare: -1 },
  ])
    assert.throws(() => scoreArbitrage({ ...figures, ...bad }), RangeError);
});
