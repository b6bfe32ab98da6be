import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../test/support/asserts/assert-near.ts";
import type { Side } from "../domain/price.ts";
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import { sumOf } from "../lib/numbers.ts";
import { type Lot, lotPerformance, matchLots, openPositions, realisedPnlUsd } from "./lots.ts";
import type { DailyMark, Settlement, Trade } from "./model.ts";

const START = Date.UTC(2026, 10, 1);
const at = (day: number, hour = 12) => START + (day - 1) * DAY_MS + hour * HOUR_MS;

let trades = 0;
function trade(side: Side, contracts: number, price: number, day: number, parts: Partial<Trade> = {}): Trade {
  trades += 1;
  const market = { venue: "alpha", marketId: "m" };
  return { tradeId: `t-${trades}`, ...market, side, contracts, price, feeUsd: 0, edge: null, at: at(day), ...parts };
}
const settle = (value: number | null, day: number, marketId = "m"): Settlement => ({
  venue: "alpha",
  marketId,
  at: at(day),
  value,
});
const mark = (yesPrice: number, endOfDay: number, marketId = "m"): DailyMark => ({
  venue: "alpha",
  marketId,
  at: at(endOfDay, 24),
  yesPrice,
});

const exitsOf = (lots: readonly Lot[]) =>
  lots.map(({ exits }) => exits.map(({ kind, contracts, pnlUsd }) => [kind, contracts, Number(pnlUsd.toFixed(6))]));
const pnlByDay = (days: readonly { date: string; pnlUsd: number }[]) =>
  days.map(({ date, pnlUsd }) => [Number(date.slice(-2)), pnlUsd]);

test("example: NO at 0.5 closes YES at 0.4 with 0.10 per contract, the oldest lot first", () => {
  const lots = matchLots([trade("yes", 10, 0.4, 1), trade("yes", 10, 0.45, 2), trade("no", 15, 0.5, 3)], []);
  // 10 × (0.5 - 0.4) and 5 × (0.5 - 0.45).
  assert.deepEqual(exitsOf(lots), [[["closed", 10, 1]], [["closed", 5, 0.25]]]);
  assert.deepEqual(
    lots.map(({ openContracts, resolvedAt }) => [openContracts, resolvedAt]),
    [
      [0, at(3)],
      [5, null],
    ],
  );
});

test("example: one trade closes three lots and opens a new lot with its other contracts", () => {
  const lots = matchLots(
    [trade("no", 10, 0.3, 1), trade("no", 20, 0.35, 2), trade("no", 5, 0.4, 3), trade("yes", 50, 0.6, 4)],
    [],
  );
  // NO contracts are closed at 1 - 0.6 = 0.4.
  assert.deepEqual(exitsOf(lots), [[["closed", 10, 1]], [["closed", 20, 1]], [["closed", 5, 0]], []]);
  const rest = lots.at(-1);
  assert.deepEqual([rest?.side, rest?.contracts, rest?.price, rest?.at], ["yes", 15, 0.6, at(4)]);
  assert.deepEqual(openPositions(lots), [
    { venue: "alpha", marketId: "m", side: "yes", contracts: 15, entryPrice: 0.6, costUsd: 9, openedAt: at(4) },
  ]);
});

test("example: a lot closed in parts is resolved with the last part, and each part has its profit on its closing day", () => {
  const lots = matchLots(
    [trade("yes", 100, 0.4, 1), trade("no", 25, 0.4, 3), trade("no", 25, 0.7, 4), trade("no", 50, 0.5, 6)],
    [],
  );
  // Sold at 0.6, 0.3 and 0.5.
  const { days, totals } = lotPerformance(lots, [], at(7));
  assert.deepEqual(pnlByDay(days), [
    [1, 0],
    [2, 0],
    [3, 5],
    [4, -2.5],
    [5, 0],
    [6, 5],
    [7, 0],
  ]);
  assert.deepEqual(
    days.map(({ resolvedTrades, wonTrades }) => `${resolvedTrades}${wonTrades}`),
    ["00", "00", "00", "00", "00", "11", "00"],
  );
  assertNear(totals.resolvedPnlUsd, 7.5);
  assertNear(totals.resolvedCostUsd, 40);
  assert.deepEqual([totals.totalTrades, totals.resolvedTrades, totals.wonTrades], [1, 1, 1]);
});

test("example: each fee is divided among the contracts that it was charged for", () => {
  const lots = matchLots(
    [trade("yes", 100, 0.4, 1, { feeUsd: 2 }), trade("no", 150, 0.5, 2, { feeUsd: 3 })],
    [settle(0, 4)],
  );
  // Closed: 100 × 0.1 minus 2 for the purchase and 3 × 100 / 150 for the sale. The rest costs 50 × 0.5 + 1 and pays 50.
  assert.deepEqual(exitsOf(lots), [[["closed", 100, 6]], [["settled", 50, 24]]]);
  const { days } = lotPerformance(lots, [], at(4));
  assert.deepEqual(pnlByDay(days), [
    [1, -2],
    [2, 10 - 2 - 1],
    [3, 0],
    [4, 25],
  ]);
});

test("example: marks after the purchase value the open contracts", () => {
  const lots = matchLots([trade("yes", 10, 0.4, 1), trade("yes", 10, 0.5, 2), trade("no", 10, 0.3, 4)], []);
  const marks = [mark(0.45, 1), mark(0.6, 2), mark(0.65, 4), mark(0.9, 2, "other")];
  const { days } = lotPerformance(lots, marks, at(5));
  // The first lot is worth 4, 4.5, 6, and is sold for 7. The second one is worth 5, 6, 6.5.
  assert.deepEqual(pnlByDay(days), [
    [1, 0.5],
    [2, 1.5 + 1],
    [3, 0],
    [4, 1 + 0.5],
    [5, 0],
  ]);
});

test("example: NO contracts are worth 1 minus the mark", () => {
  const { days } = lotPerformance(matchLots([trade("no", 10, 0.4, 1)], []), [mark(0.7, 1)], at(1));
  assert.deepEqual(pnlByDay(days), [[1, -1]]);
});

test("example: a corrected settlement changes the profit of the day of the correction", () => {
  const lots = matchLots([trade("yes", 10, 0.4, 1), trade("no", 4, 0.5, 1)], [settle(1, 2), settle(0, 4)]);
  assert.deepEqual(exitsOf(lots), [
    [
      ["closed", 4, 0.4],
      ["settled", 6, 3.6],
      ["corrected", 6, -6],
    ],
  ]);
  const { days, totals } = lotPerformance(lots, [], at(4));
  assert.deepEqual(pnlByDay(days), [
    [1, 0.4],
    [2, 3.6],
    [3, 0],
    [4, -6],
  ]);
  assert.deepEqual([days[1]?.wonTrades, totals.wonTrades, totals.resolvedTrades], [1, 0, 1]);
  assert.deepEqual(exitsOf(matchLots([trade("yes", 1, 0.4, 1)], [settle(1, 2), settle(1, 3)])), [
    [["settled", 1, 0.6]],
  ]);
});

test("example: a refund returns the price and the fee of the open contracts", () => {
  const lots = matchLots([trade("yes", 10, 0.4, 1, { feeUsd: 1 }), trade("no", 5, 0.4, 2)], [settle(null, 3)]);
  // Five contracts were sold at 0.6 with half of the fee.
  assert.deepEqual(exitsOf(lots), [
    [
      ["closed", 5, 0.5],
      ["settled", 5, 0],
    ],
  ]);
  assertNear(sumOf(lotPerformance(lots, [], at(3)).days.map(({ pnlUsd }) => pnlUsd)), 0.5);
});

test("example: a trade after the settlement of its market is settled at once", () => {
  const lots = matchLots([trade("no", 10, 0.2, 5), trade("yes", 10, 0.5, 1)], [settle(0, 3)]);
  assert.deepEqual(
    lots.map(({ side, resolvedAt }) => [side, resolvedAt]),
    [
      ["yes", at(3)],
      ["no", at(5)],
    ],
  );
  assert.deepEqual(exitsOf(lots), [[["settled", 10, -5]], [["settled", 10, 8]]]);
});

test("contracts that differ by a rounding error close each other completely", () => {
  // The quotients are 12.000000000000002 and 12, and 7 and 6.999999999999999.
  for (const [bought, sold] of [
    [trade("yes", 4.44 / 0.37, 0.37, 1), trade("no", 5.16 / 0.43, 0.43, 2)],
    [trade("yes", 2.03 / 0.29, 0.29, 1), trade("no", 4.27 / 0.61, 0.61, 2)],
  ] as const) {
    assert.notEqual(bought.contracts, sold.contracts);
    const [lot, ...others] = matchLots([bought, sold], []);
    assert.deepEqual([lot?.openContracts, lot?.resolvedAt, others.length], [0, at(2), 0]);
  }
});

test("without trades there are no lots and no days", () => {
  assert.deepEqual(matchLots([], [settle(1, 2)]), []);
  const { days, totals } = lotPerformance([], [mark(0.5, 1)], at(3));
  assert.deepEqual([days, totals.totalTrades, totals.averageEdge], [[], 0, null]);
});

test("the average edge is that of the resolved lots that have one", () => {
  const lots = matchLots(
    [
      trade("yes", 1, 0.4, 1, { edge: 0.1, marketId: "a" }),
      trade("yes", 1, 0.4, 1, { marketId: "a" }),
      trade("yes", 1, 0.4, 1, { edge: 0.5, marketId: "b" }),
    ],
    [settle(1, 2, "a")],
  );
  assert.equal(lotPerformance(lots, [], at(2)).totals.averageEdge, 0.1);
});

// Properties

const tradeParts = fc.record({
  side: fc.constantFrom<Side>("yes", "no"),
  contracts: fc.integer({ min: 1, max: 500 }),
  cents: fc.integer({ min: 1, max: 99 }),
  feeUsd: fc.constantFrom(0, 0.25, 3),
  marketId: fc.constantFrom("a", "b"),
});
/** Trades at distinct times, a few hours apart, of two markets. */
const book = fc.array(tradeParts, { maxLength: 40 }).map((parts) =>
  parts.map(
    ({ cents, ...rest }, index): Trade => ({
      tradeId: `t-${index}`,
      venue: "alpha",
      edge: null,
      price: cents / 100,
      ...rest,
      at: START + index * 5 * HOUR_MS,
    }),
  ),
);
const value = fc.integer({ min: 0, max: 4 }).map((quarters) => quarters / 4);
const markList = fc.array(fc.tuple(fc.integer({ min: 1, max: 12 }), value, fc.constantFrom("a", "b")), {
  maxLength: 12,
});
const LATER = 60;

test("law: the profits of all exits sum to the payouts of all trades minus their costs", () => {
  fc.assert(
    fc.property(book, value, value, (list, a, b) => {
      const lots = matchLots(list, [settle(a, LATER, "a"), settle(b, LATER, "b")]);
      const cash = list.map(({ side, contracts, price, feeUsd, marketId }) => {
        const payout = marketId === "a" ? a : b;
        return contracts * ((side === "yes" ? payout : 1 - payout) - price) - feeUsd;
      });
      assertNear(sumOf(lots.map(realisedPnlUsd)), sumOf(cash), 1e-6);
      assert.ok(lots.every(({ openContracts, resolvedAt }) => openContracts === 0 && resolvedAt !== null));
    }),
  );
});

test("law: a late trade or a correction changes the day of a profit, but not the final profit", () => {
  fc.assert(
    fc.property(book, value, value, fc.integer({ min: 1, max: 9 }), (list, first, last, day) => {
      const settlements = [settle(first, day, "a"), settle(last, LATER, "a"), settle(last, day, "b")];
      const early = matchLots(list, settlements);
      const late = matchLots(list, [settle(last, LATER, "a"), settle(last, LATER, "b")]);
      assertNear(sumOf(early.map(realisedPnlUsd)), sumOf(late.map(realisedPnlUsd)), 1e-6);
    }),
  );
});

test("law: the daily profits sum to the profit of the lots, for any marks", () => {
  fc.assert(
    fc.property(book, value, markList, (list, payout, marks) => {
      const lots = matchLots(list, [settle(payout, LATER, "a"), settle(null, LATER, "b")]);
      const { days, totals } = lotPerformance(
        lots,
        marks.map(([day, price, marketId]) => mark(price, day, marketId)),
        at(LATER),
      );
      // Each lot is rounded to 1e-6 USD once.
      assertNear(sumOf(days.map(({ pnlUsd }) => pnlUsd)), sumOf(lots.map(realisedPnlUsd)), lots.length * 1e-6 + 1e-9);
      assertNear(totals.resolvedPnlUsd, sumOf(lots.map(realisedPnlUsd)), 1e-9);
      assert.equal(sumOf(days.map(({ enteredTrades }) => enteredTrades)), lots.length);
      assert.equal(sumOf(days.map(({ resolvedTrades }) => resolvedTrades)), totals.resolvedTrades);
      assert.equal(sumOf(days.map(({ wonTrades }) => wonTrades)), totals.wonTrades);
    }),
  );
});

test("law: the profits up to a day sum to the cash plus the value of the open contracts (brute force)", () => {
  fc.assert(
    fc.property(book, value, markList, fc.integer({ min: 1, max: 9 }), (list, payout, markParts, settledOn) => {
      const lots = matchLots(list, [settle(payout, settledOn, "a"), settle(1 - payout, settledOn + 2, "a")]);
      const marks = new Map(
        markParts.map(([day, price, marketId]) => [`${day} ${marketId}`, mark(price, day, marketId)]),
      );
      const { days } = lotPerformance(lots, [...marks.values()], at(12));
      let cumulativeUsd = 0;
      for (const { date, pnlUsd } of days) {
        cumulativeUsd += pnlUsd;
        const end = Date.parse(date) + DAY_MS;
        const profitUntilEnd = (lot: Lot): number => {
          const exits = lot.exits.filter((exit) => exit.at < end);
          const gone = sumOf(exits.map(({ kind, contracts }) => (kind === "corrected" ? 0 : contracts)));
          const last = [...marks.values()]
            .filter((item) => item.marketId === lot.marketId && item.at > lot.at && item.at <= end)
            .sort((a, b) => b.at - a.at)[0]?.yesPrice;
          const price = last === undefined ? lot.price : lot.side === "yes" ? last : 1 - last;
          const received = sumOf(exits.map(({ proceedsUsd }) => proceedsUsd));
          return received + (lot.contracts - gone) * price - lot.contracts * lot.price - lot.feeUsd;
        };
        assertNear(cumulativeUsd, sumOf(lots.filter((lot) => lot.at < end).map(profitUntilEnd)), 1e-5);
      }
    }),
  );
});

test("law: every contract of a lot is either open or exited once, and a market never has open lots of both sides", () => {
  fc.assert(
    fc.property(book, (list) => {
      for (let count = 1; count <= list.length; count++) {
        const lots = matchLots(list.slice(0, count), []);
        for (const marketId of ["a", "b"]) {
          const open = lots.filter((lot) => lot.marketId === marketId && lot.openContracts > 0);
          assert.ok(new Set(open.map(({ side }) => side)).size <= 1);
          const signed = (items: readonly { side: Side; marketId: string; size: number }[]) =>
            sumOf(
              items
                .filter((item) => item.marketId === marketId)
                .map(({ side, size }) => (side === "yes" ? size : -size)),
            );
          const bought = signed(list.slice(0, count).map((item) => ({ ...item, size: item.contracts })));
          assertNear(signed(lots.map((lot) => ({ ...lot, size: lot.openContracts }))), bought, 1e-6);
        }
        for (const lot of lots)
          assertNear(lot.openContracts + sumOf(lot.exits.map(({ contracts }) => contracts)), lot.contracts);
      }
    }),
    { numRuns: 40 },
  );
});

test("law: the oldest open contract is always closed first (brute force, one contract at a time)", () => {
  fc.assert(
    fc.property(book, (list) => {
      const queues = new Map<string, { side: Side; price: number; tradeId: string }[]>();
      const pnl = new Map<string, number>();
      for (const { side, contracts, price, marketId, tradeId } of list)
        for (let index = 0; index < contracts; index++) {
          const queue = queues.get(marketId) ?? [];
          queues.set(marketId, queue);
          const oldest = queue[0];
          if (oldest === undefined || oldest.side === side) queue.push({ side, price, tradeId });
          else {
            queue.shift();
            pnl.set(oldest.tradeId, (pnl.get(oldest.tradeId) ?? 0) + 1 - price - oldest.price);
          }
        }
      const lots = matchLots(
        list.map((item) => ({ ...item, feeUsd: 0 })),
        [],
      );
      for (const lot of lots) assertNear(realisedPnlUsd(lot), pnl.get(lot.tradeId) ?? 0, 1e-6);
      assert.equal(
        sumOf([...queues.values()].map(({ length }) => length)),
        Math.round(sumOf(lots.map((lot) => lot.openContracts))),
      );
    }),
    { numRuns: 60 },
  );
});

test("law: the order of the list of trades does not matter if their times differ", () => {
  const shuffled = book.chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length })),
  );
  fc.assert(
    fc.property(shuffled, value, ([list, mixed], payout) => {
      const settlements = [settle(payout, 3, "a"), settle(payout, LATER, "b")];
      assert.deepEqual(matchLots(mixed, settlements.toReversed()), matchLots(list, settlements));
    }),
  );
});

test("law: a position costs what its open contracts cost, and its average price is between their prices", () => {
  fc.assert(
    fc.property(book, (list) => {
      const lots = matchLots(list, []);
      for (const position of openPositions(lots)) {
        const open = lots.filter((lot) => lot.marketId === position.marketId && lot.openContracts > 0);
        const prices = open.map(({ price }) => price);
        assert.ok(
          position.entryPrice >= Math.min(...prices) - 1e-12 && position.entryPrice <= Math.max(...prices) + 1e-12,
        );
        assertNear(
          position.costUsd,
          sumOf(open.map((lot) => lot.openContracts * (lot.price + lot.feeUsd / lot.contracts))),
          1e-6,
        );
      }
    }),
  );
});

test("throws a RangeError for contracts of 0 or less, prices and payouts outside [0, 1], and negative fees", () => {
  for (const parts of [
    { contracts: 0 },
    { contracts: Number.NaN },
    { contracts: Infinity },
    { price: -0.1 },
    { price: 1.1 },
  ])
    assert.throws(() => matchLots([trade("yes", 1, 0.5, 1, parts)], []), RangeError, JSON.stringify(parts));
  assert.throws(() => matchLots([trade("yes", 1, 0.5, 1, { feeUsd: -1 })], []), RangeError);
  for (const payout of [-0.1, 1.1, Number.NaN])
    assert.throws(() => matchLots([trade("yes", 1, 0.5, 1)], [settle(payout, 2)]), RangeError);
  assert.throws(() => lotPerformance([], [mark(1.5, 1)], at(1)), RangeError);
});
