import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import {
  type DailyMark,
  payoutOf,
  profitOf,
  replayTradeHistory,
  type Settlement,
  startOfUtcDate,
  sumTrades,
  sumUsd,
  type Trade,
  utcDate,
} from "./index.ts";

const START = startOfUtcDate("2026-11-01");
const createTrade = (parts: Partial<Trade> = {}): Trade => ({
  tradeId: "1",
  venue: "alpha",
  marketId: "m",
  side: "yes",
  contracts: 100,
  price: 0.4,
  feeUsd: 2,
  edge: 0.1,
  at: START + 10 * HOUR_MS,
  ...parts,
});
/** Creates the mark of a day. Day 0 is the day of `START`. */
const createMark = (day: number, yesPrice: number, parts: Partial<DailyMark> = {}): DailyMark => ({
  venue: "alpha",
  marketId: "m",
  at: START + (day + 1) * DAY_MS,
  yesPrice,
  ...parts,
});
const createSettlement = (day: number, value: number | null, parts: Partial<Settlement> = {}): Settlement => ({
  venue: "alpha",
  marketId: "m",
  at: START + day * DAY_MS + 12 * HOUR_MS,
  value,
  ...parts,
});
const dateOf = (day: number) => utcDate(START + day * DAY_MS);
const profitsOf = (replay: ReturnType<typeof replayTradeHistory>) => replay.days.map(({ pnlUsd }) => pnlUsd);

test("known values: the profit of the first day includes the fee, and later days follow from marks and the settlement", () => {
  const marks = [createMark(0, 0.45), createMark(1, 0.35)];
  const { results, days } = replayTradeHistory([createTrade()], marks, [createSettlement(2, 1)], dateOf(3));
  assert.deepEqual(days, [
    { date: "2026-11-01", pnlUsd: 3, enteredTrades: 1, resolvedTrades: 0, wonTrades: 0 },
    { date: "2026-11-02", pnlUsd: -10, enteredTrades: 0, resolvedTrades: 0, wonTrades: 0 },
    { date: "2026-11-03", pnlUsd: 65, enteredTrades: 0, resolvedTrades: 1, wonTrades: 1 },
    { date: "2026-11-04", pnlUsd: 0, enteredTrades: 0, resolvedTrades: 0, wonTrades: 0 },
  ]);
  const settledAt = START + 2 * DAY_MS + 12 * HOUR_MS;
  assert.deepEqual(results, [{ tradeId: "1", costUsd: 42, payoutUsd: 100, pnlUsd: 58, settledAt }]);
});

test("a NO trade gains what the YES price loses, and a settlement at v pays it 1 - v", () => {
  const trade = createTrade({ side: "no", price: 0.6, feeUsd: 0 });
  const { results, days } = replayTradeHistory([trade], [createMark(0, 0.3)], [createSettlement(1, 0.25)], dateOf(1));
  assert.deepEqual([days[0]?.pnlUsd, days[1]?.pnlUsd], [10, 5]);
  assert.deepEqual([results[0]?.payoutUsd, results[0]?.pnlUsd], [75, 15]);
});

test("a day without a mark keeps the previous mark, and before the first mark a trade is valued at its price", () => {
  const { results, days } = replayTradeHistory([createTrade()], [createMark(1, 0.5)], [], dateOf(3));
  assert.deepEqual(
    days.map(({ pnlUsd }) => pnlUsd),
    [-2, 10, 0, 0],
  );
  assert.deepEqual(results, [{ tradeId: "1", costUsd: 42, payoutUsd: null, pnlUsd: 8, settledAt: null }]);
});

test("a settlement without a value refunds cost and fee, so the trade is resolved with no profit and is not won", () => {
  const replay = replayTradeHistory([createTrade()], [createMark(0, 0.9)], [createSettlement(1, null)], dateOf(1));
  assert.deepEqual(profitsOf(replay), [48, -48]);
  assert.deepEqual([replay.results[0]?.payoutUsd, replay.results[0]?.pnlUsd], [42, 0]);
  assert.deepEqual([replay.days[1]?.resolvedTrades, replay.days[1]?.wonTrades], [1, 0]);
});

test("a correction changes the profit of its own day, and the counts stay on the day of the first settlement", () => {
  const settlements = [createSettlement(1, 1), createSettlement(3, 0)];
  const { results, days } = replayTradeHistory([createTrade()], [], settlements, dateOf(4));
  assert.deepEqual(
    days.map(({ pnlUsd }) => pnlUsd),
    [-2, 60, 0, -100, 0],
  );
  assert.deepEqual([days[1]?.wonTrades, days[3]?.resolvedTrades, days[3]?.wonTrades], [1, 0, 0]);
  assert.deepEqual(results, [
    { tradeId: "1", costUsd: 42, payoutUsd: 0, pnlUsd: -42, settledAt: START + DAY_MS + 12 * HOUR_MS },
  ]);
});

test("a correction on the day of the settlement decides whether the day counts the trade as won", () => {
  const settlements = [createSettlement(1, 0), createSettlement(1, 1)];
  const [, day] = replayTradeHistory([createTrade()], [], settlements, dateOf(1)).days;
  assert.deepEqual([day?.pnlUsd, day?.resolvedTrades, day?.wonTrades], [60, 1, 1]);
});

test("a mark at midnight is the end of the day before a settlement at the same time", () => {
  const settlement = createSettlement(1, 0, { at: START + DAY_MS });
  assert.deepEqual(
    profitsOf(replayTradeHistory([createTrade()], [createMark(0, 0.5)], [settlement], dateOf(1))),
    [8, -50],
  );
});

test("a book without trades has no days", () => {
  assert.deepEqual(replayTradeHistory([], [createMark(0, 0.5)], [], dateOf(3)), { results: [], days: [] });
});

test("totals count only resolved trades, and average only the known edges", () => {
  const trades = [
    createTrade(),
    createTrade({ tradeId: "2", edge: null }),
    createTrade({ tradeId: "3", edge: 0.3, marketId: "n" }),
  ];
  const { results } = replayTradeHistory(trades, [], [createSettlement(1, 1)], dateOf(1));
  assert.deepEqual(sumTrades(trades, results), {
    totalTrades: 3,
    resolvedTrades: 2,
    wonTrades: 2,
    resolvedCostUsd: 84,
    resolvedPnlUsd: 116,
    averageEdge: 0.1,
  });
  assert.equal(sumTrades([], []).averageEdge, null);
  assert.throws(() => sumTrades([], results), RangeError);
});

const MARKETS = ["m", "n", "o"];
const DAYS = 12;
const probability = fc.double({ min: 0, max: 1, noNaN: true });
const bookArbitrary = fc.record({
  settlements: fc.array(
    fc.record({
      marketId: fc.constantFrom(...MARKETS),
      at: fc.integer({ min: START + 3 * DAY_MS, max: START + DAYS * DAY_MS - 1 }),
      value: fc.option(probability),
    }),
    { maxLength: 6 },
  ),
  marks: fc.uniqueArray(
    fc.record({
      marketId: fc.constantFrom(...MARKETS),
      at: fc.integer({ min: 0, max: DAYS }).map((day) => START + day * DAY_MS),
      yesPrice: probability,
    }),
    { maxLength: 30, selector: ({ marketId, at }) => `${marketId} ${at}` },
  ),
  trades: fc.array(
    fc.record({
      marketId: fc.constantFrom(...MARKETS),
      side: fc.constantFrom("yes", "no"),
      contracts: fc.double({ min: 0.01, max: 1e5, noNaN: true }),
      price: fc.double({ min: 0.001, max: 0.999, noNaN: true }),
      feeUsd: fc.double({ min: 0, max: 100, noNaN: true }),
      edge: fc.option(probability),
      at: fc.integer({ min: START, max: START + 3 * DAY_MS }),
    }),
    { minLength: 1, maxLength: 12 },
  ),
});
type Book = typeof bookArbitrary extends fc.Arbitrary<infer Value> ? Value : never;
const listsOf = ({ trades, marks, settlements }: Book): [Trade[], DailyMark[], Settlement[]] => [
  trades.map((trade, index) => ({ ...trade, tradeId: `${index}`, venue: "alpha" })),
  marks.map((mark) => ({ ...mark, venue: "alpha" })),
  settlements.map((settlement) => ({ ...settlement, venue: "alpha" })),
];

/** Computes the profit of a trade until a time directly from the definition, in floating point. */
function expectedProfit(trade: Trade, marks: readonly DailyMark[], settlements: readonly Settlement[], endAt: number) {
  if (trade.at >= endAt) return 0;
  const sorted = settlements.filter(({ marketId, at }) => marketId === trade.marketId && at < endAt);
  const last = sorted.sort((a, b) => a.at - b.at).at(-1);
  const cost = trade.contracts * trade.price + trade.feeUsd;
  if (last?.value === null) return 0;
  const mark = marks
    .filter(({ marketId, at }) => marketId === trade.marketId && at > trade.at && at <= endAt)
    .sort((a, b) => a.at - b.at)
    .at(-1);
  const yesPrice = last?.value ?? mark?.yesPrice;
  const price = yesPrice === undefined ? trade.price : trade.side === "yes" ? yesPrice : 1 - yesPrice;
  return trade.contracts * price - cost;
}

test("brute force: the profit of each day is the change over that day of the total profit by its definition", () => {
  fc.assert(
    fc.property(bookArbitrary, (book) => {
      const [trades, marks, settlements] = listsOf(book);
      const { days } = replayTradeHistory(trades, marks, settlements, dateOf(DAYS - 1));
      let before = 0;
      for (const { date, pnlUsd } of days) {
        const endAt = startOfUtcDate(date) + DAY_MS;
        const profits = trades.map((trade) => expectedProfit(trade, marks, settlements, endAt));
        const after = profits.reduce((sum, profit) => sum + profit, 0);
        assert.ok(Math.abs(after - before - pnlUsd) < 1e-4, `${date}: ${after - before} and ${pnlUsd}`);
        before = after;
      }
    }),
  );
});

test("law: the daily profits and the trade profits have exactly the same sum", () => {
  fc.assert(
    fc.property(bookArbitrary, (book) => {
      const { days, results } = replayTradeHistory(...listsOf(book), dateOf(DAYS - 1));
      assert.equal(sumUsd(days.map(({ pnlUsd }) => pnlUsd)), sumUsd(results.map(({ pnlUsd }) => pnlUsd)));
      const count = (pick: (day: (typeof days)[number]) => number) => days.reduce((sum, day) => sum + pick(day), 0);
      assert.equal(
        count(({ enteredTrades }) => enteredTrades),
        book.trades.length,
      );
      assert.equal(
        count(({ resolvedTrades }) => resolvedTrades),
        results.filter(({ settledAt }) => settledAt !== null).length,
      );
    }),
  );
});

test("law: a longer replay begins with the days of a shorter one, and the order of the input does not matter", () => {
  const lastDay = fc.integer({ min: 0, max: DAYS - 1 });
  fc.assert(
    fc.property(bookArbitrary, lastDay, (book, day) => {
      const [trades, marks, settlements] = listsOf(book);
      const { days } = replayTradeHistory(trades, marks, settlements, dateOf(DAYS - 1));
      const shorter = replayTradeHistory(trades, marks, settlements, dateOf(day)).days;
      assert.deepEqual(shorter, days.slice(0, shorter.length));
      const times = new Set(settlements.map(({ marketId, at }) => `${marketId} ${at}`));
      if (times.size < settlements.length) return;
      const reversed = replayTradeHistory(
        trades.toReversed(),
        marks.toReversed(),
        settlements.toReversed(),
        dateOf(DAYS - 1),
      );
      assert.deepEqual(reversed.days, days);
    }),
  );
});

test("`profitOf` and `replayTradeHistory` compute the same profit", () => {
  const trade = createTrade();
  assert.equal(profitOf(trade, { yesPrice: null, settlement: null }), -2);
  assert.equal(profitOf(trade, { yesPrice: 0.5, settlement: null }), 8);
  assert.equal(profitOf(trade, { yesPrice: 0.5, settlement: { value: 0.25 } }), -17);
  assert.equal(payoutOf(trade, { value: null }), 42);
});

test("throws a RangeError for values outside their ranges, repeated ids or marks, and trades after a settlement", () => {
  const replay = (trade: Partial<Trade>, marks: DailyMark[] = [], settlements: Settlement[] = [], date = dateOf(1)) =>
    assert.throws(() => replayTradeHistory([createTrade(trade)], marks, settlements, date), RangeError);
  for (const contracts of [0, -1, Number.NaN, Infinity]) replay({ contracts });
  for (const price of [0, 1, Number.NaN]) replay({ price });
  for (const feeUsd of [-1, Number.NaN, Infinity]) replay({ feeUsd });
  for (const at of [-1, Number.NaN, Infinity]) replay({ at });
  replay({ edge: Number.NaN });
  replay({ at: 0 }, [], [], "2199-01-01");
  for (const yesPrice of [-0.1, 1.1, Number.NaN]) replay({}, [createMark(0, yesPrice)]);
  replay({}, [createMark(0, 0.5, { at: START + 1 })]);
  replay({}, [createMark(0, 0.5), createMark(0, 0.6)]);
  for (const value of [-0.1, 1.1, Number.NaN]) replay({}, [], [createSettlement(0, value)]);
  replay({}, [], [createSettlement(0, 1, { at: Number.NaN })]);
  replay({ at: START + 13 * HOUR_MS }, [], [createSettlement(0, 1)]);
  for (const date of ["2026-02-30", "20261101", "", "2026-11-01T00:00:00Z"]) replay({}, [], [], date);
  assert.throws(() => replayTradeHistory([createTrade(), createTrade()], [], [], dateOf(1)), RangeError);
});
