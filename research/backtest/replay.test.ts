import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createWorld } from "../../sandbox/world/index.ts";
import type { Outcome } from "../../src/domain/market.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import type { Fact } from "../../src/recording/index.ts";
import {
  eventFact,
  FROM,
  listContradiction,
  marketFact,
  quoteFact,
  settledFact,
  VENUE,
} from "../../test/support/backtest/sample-facts.ts";
import { Replay, type ReplayOptions } from "./replay.ts";
import { computeBacktestResult } from "./result.ts";
import { worldFacts } from "./world-facts.ts";

const OPTIONS: ReplayOptions = {
  from: FROM,
  to: FROM + 2 * DAY_MS,
  everyMs: DAY_MS,
  marketsMax: 10,
  assumedSize: null,
};

function run(facts: readonly Fact[], parts: Partial<ReplayOptions> = {}) {
  const options = { ...OPTIONS, ...parts };
  const replay = new Replay(options);
  for (const fact of facts) assert.ok(replay.apply(fact), JSON.stringify(fact));
  const record = replay.finish();
  return { record, result: computeBacktestResult(record, options.to) };
}

/** Replays the signals at the first midnight and the settlement of market A at noon. */
const settleFirst = (outcome: Outcome) => [...listContradiction(), settledFact(FROM + DAY_MS / 2, "A", outcome)];
const tradeOf = ({ record }: ReturnType<typeof run>, marketId: string) => {
  const trade = record.trades.find((known) => known.marketId === marketId);
  assert.ok(trade !== undefined, `no trade in ${marketId}`);
  return trade;
};

describe("trades and settlements", () => {
  test("the first signal buys for at most a tenth of the bankroll", () => {
    const played = run(listContradiction());
    const { side, price, contracts, feeUsd, at, edge, category } = tradeOf(played, "A");
    assert.deepEqual([side, price, feeUsd, at, category], ["no", 0.4, 0, FROM, "Sports"]);
    assert.ok(contracts * price <= 100 && contracts >= 1);
    assert.ok(edge > 0.01 && edge < 0.2);
    const { trades, counts } = played.record;
    assert.deepEqual([trades.length, counts.analyses, counts.signals], [2, 2, 2]);
  });

  for (const { name, outcome, pnlOf } of [
    { name: "a winning trade earns 1 minus its cost", outcome: { kind: "no" }, pnlOf: (n: number) => 0.6 * n },
    { name: "a losing trade loses its cost", outcome: { kind: "yes" }, pnlOf: (n: number) => -0.4 * n },
    {
      name: "a partial settlement pays its share",
      outcome: { kind: "partial", value: 0.25 },
      pnlOf: (n: number) => 0.35 * n,
    },
    { name: "a void market refunds the cost", outcome: { kind: "void", value: null }, pnlOf: () => 0 },
  ] as const)
    test(name, () => {
      const played = run(settleFirst(outcome));
      const { contracts } = tradeOf(played, "A");
      const { performance, byVenue, byCategory, scores } = played.result;
      assert.equal(performance.resolvedTrades, 1);
      assert.ok(Math.abs((byVenue[0]?.totals.resolvedPnlUsd ?? Number.NaN) - pnlOf(contracts)) < 1e-9);
      assert.deepEqual([byVenue.map((part) => part.name), byCategory.map((part) => part.name)], [[VENUE], ["Sports"]]);
      const isScored = outcome.kind === "yes" || outcome.kind === "no";
      assert.equal(scores.moments, isScored ? 1 : 0);
      if (outcome.kind === "yes") assert.ok((scores.difference?.value ?? 0) > 0, "a worse estimate has a worse score");
      if (outcome.kind === "no") assert.ok((scores.difference?.value ?? 0) < 0);
    });

  test("open trades are marked to market at midnight, and the daily profits sum to the total profit", () => {
    const facts = [...listContradiction(), quoteFact(FROM + 6 * HOUR_MS, "A", { bid: 0.5, ask: 0.52 })];
    const played = run(facts, { to: FROM + DAY_MS });
    const contracts = [tradeOf(played, "A").contracts, tradeOf(played, "B").contracts];
    // NO of A was bought at 0.40 and is worth 1 - 0.51; NO of B was bought at 0.40 and is worth 1 - 0.605.
    const expected = 0.09 * (contracts[0] ?? 0) - 0.005 * (contracts[1] ?? 0);
    assert.ok(Math.abs(played.result.performance.totalPnlUsd - expected) < 1e-5);
    assert.deepEqual(
      played.result.days.map(({ date, enteredTrades }) => [date, enteredTrades]),
      [["2026-06-01", 2]],
    );
  });

  test("a settled market is not traded again if the venue reopens it, and a corrected outcome changes its payout", () => {
    const facts = [
      ...settleFirst({ kind: "yes" }),
      marketFact(FROM + DAY_MS - HOUR_MS, "A"),
      quoteFact(FROM + DAY_MS - HOUR_MS, "A"),
      settledFact(FROM + DAY_MS + HOUR_MS, "A", { kind: "no" }),
    ];
    const played = run(facts);
    assert.equal(played.record.trades.filter(({ marketId }) => marketId === "A").length, 1);
    assert.equal(played.record.settlements.length, 2);
    const won = played.result.byVenue[0]?.totals.resolvedPnlUsd ?? 0;
    assert.ok(Math.abs(won - 0.6 * tradeOf(played, "A").contracts) < 1e-9);
  });

  test("markets are selected by liquidity, then markets of unknown liquidity by volume", () => {
    const activity = (marketId: string, liquidityUsd: number | null, volume24hUsd: number): Fact => ({
      at: FROM - HOUR_MS / 2,
      venue: VENUE,
      kind: "activity",
      marketId,
      activity: { volume24hUsd, volumeTotalUsd: null, liquidityUsd, openInterestUsd: null },
    });
    const select = (marketsMax: number, ...activities: Fact[]) =>
      run([...listContradiction(), ...activities], { marketsMax, to: FROM + DAY_MS }).record.estimates.map(
        ({ marketId }) => marketId,
      );
    assert.deepEqual(select(1, activity("A", 10, 1), activity("B", 20, 0)), ["B"]);
    assert.deepEqual(select(1, activity("A", null, 2), activity("B", null, 1)), ["A"]);
    assert.deepEqual(select(1, activity("A", null, 2), activity("B", 5, 1)), ["B"]);
  });
});

describe("offers that a signal can trade against", () => {
  const early = FROM - HOUR_MS / 2;
  const bookFact = (at: number, bids: readonly (readonly [number, number])[]): Fact => ({
    at,
    venue: VENUE,
    kind: "book",
    marketId: "A",
    book: {
      bids: bids.map(([price, size]) => ({ price, size })),
      asks: [{ price: 0.61, size: 10 }],
      lastPrice: null,
      eventAt: null,
    },
  });
  const buy = (facts: readonly Fact[], parts: Partial<ReplayOptions> = {}) =>
    run(facts, { to: FROM + DAY_MS, ...parts }).record.trades.find(({ marketId }) => marketId === "A") ?? null;
  const small = { bidSize: 1, askSize: 1 };
  const withBook = (book: Fact) => [...listContradiction(), quoteFact(early, "A", small), book];

  test("a recorded order book is used instead of the quote", () => {
    assert.equal(buy([...listContradiction(), quoteFact(early, "A", small)])?.contracts, 1);
    assert.ok((buy(withBook(bookFact(early, [[0.6, 5_000]])))?.contracts ?? 0) > 1);
  });

  test("an order book older than an hour is not used", () => {
    const old = FROM - HOUR_MS - 1;
    const facts = [...listContradiction(old), bookFact(old, [[0.6, 5_000]]), quoteFact(early, "A", small)];
    assert.equal(buy(facts)?.contracts, 1);
  });

  test("levels with a better price than a newer quote are removed from the book", () => {
    const book = bookFact(early - 1, [
      [0.62, 5_000],
      [0.6, 5_000],
    ]);
    const facts = [...listContradiction(early - 2), book, quoteFact(early, "A", { bid: 0.6, ask: 0.61 })];
    assert.equal(buy(facts)?.price, 0.4);
  });

  test("a quote without sizes cannot be traded unless a size is assumed", () => {
    const facts = [...listContradiction(), quoteFact(early, "A", { bidSize: null, askSize: null })];
    assert.equal(buy(facts), null);
    assert.ok((buy(facts, { assumedSize: 5_000 })?.contracts ?? 0) > 1);
  });

  test("a market with a price but no quote is analysed and not traded", () => {
    const price = { bid: null, ask: null, bidSize: null, askSize: null, lastPrice: 0.6 };
    const { record } = run([...listContradiction(), quoteFact(early, "A", price)], { to: FROM + DAY_MS });
    assert.ok(record.estimates.some(({ marketId }) => marketId === "A"));
    assert.ok(record.trades.every(({ marketId }) => marketId !== "A"));
  });

  test("there is no trade an hour after the last fact, and no analysis a day after it", () => {
    const silent = run(listContradiction(FROM - HOUR_MS - 1), { to: FROM + DAY_MS }).record;
    assert.deepEqual([silent.counts.analyses, silent.trades.length], [2, 0]);
    assert.equal(run(listContradiction(FROM - DAY_MS - 1), { to: FROM + DAY_MS }).record.counts.analyses, 0);
  });

  test("an unchanged quote stays valid while the venue's other quotes change, for at most a day", () => {
    const listAt = (at: number) => [...listContradiction(at), quoteFact(early, "B", { bid: 0.59 })];
    const analysed = (at: number) => run(listAt(at), { to: FROM + DAY_MS }).record.estimates.map((row) => row.marketId);
    assert.ok(
      run(listAt(early - 2 * HOUR_MS), { to: FROM + DAY_MS }).record.trades.some((row) => row.marketId === "A"),
    );
    assert.deepEqual([analysed(early - DAY_MS), analysed(early - DAY_MS - 1)], [["A", "B"], ["B"]]);
  });

  test("a paused market and a market of play money are not traded", () => {
    assert.equal(buy([...listContradiction(), marketFact(early, "A", { paused: true })]), null);
    const playMoney = listContradiction().map((fact): Fact => ({ ...fact, venue: "manifold" }));
    assert.equal(run(playMoney).record.counts.analyses, 0);
  });
});

describe("no look-ahead", () => {
  const at = FROM + DAY_MS / 2;
  const base = [...listContradiction()];
  const FUTURES: readonly (readonly [string, readonly Fact[]])[] = [
    ["a quote", [quoteFact(at, "A", { bid: 0.98, ask: 0.99 })]],
    ["an outcome", [settledFact(at, "A", { kind: "yes" })]],
    ["a close", [marketFact(at, "A", { closeAt: at, status: "closed" })]],
    ["an event", [eventFact(at, { mutuallyExclusive: false })]],
  ];
  for (const [name, future] of FUTURES)
    test(`${name} after a signal does not change it`, () => {
      const before = run(base).record.trades.filter((trade) => trade.at < at);
      assert.equal(before.length, 2);
      assert.deepEqual(
        run([...base, ...future]).record.trades.filter((trade) => trade.at < at),
        before,
      );
    });

  test("a signal uses a fact at its own time, but not a fact a millisecond later", () => {
    // Without A, no peer price contradicts the price of B.
    const seenAt = (time: number) =>
      run([...base, marketFact(time, "A", { status: "closed" })], { to: FROM + DAY_MS }).record.trades.length;
    assert.deepEqual([seenAt(FROM), seenAt(FROM + 1)], [0, 2]);
  });

  test("facts at or after the end of the period do not change the result", () => {
    const end = OPTIONS.to;
    assert.deepEqual(run([...base, settledFact(end, "A", { kind: "yes" })]).result, run(base).result);
  });

  test("later facts of a simulated world do not change earlier trades", () => {
    const world = createWorld({ seed: 7, genesis: FROM, speed: 1, marketCount: 40 });
    const facts = [...worldFacts(world, { from: FROM, to: FROM + 2 * DAY_MS, stepMs: 3 * HOUR_MS })];
    const options = { everyMs: 6 * HOUR_MS, marketsMax: 50 };
    const all = run(facts, options).record;
    const cut = FROM + DAY_MS;
    const known = run(
      facts.filter((fact) => fact.at <= cut),
      { ...options, to: cut + DAY_MS },
    ).record;
    assert.ok(all.counts.analyses > 100 && all.trades.some((trade) => trade.at < cut));
    assert.ok(all.counts.analysesWithPeers > 0);
    assert.deepEqual(
      all.trades.filter((trade) => trade.at <= cut),
      known.trades.filter((trade) => trade.at <= cut),
    );
    assert.deepEqual(run(facts, options).record, all);
  });
});

test("a fact of an unlisted market is rejected", () => {
  const replay = new Replay(OPTIONS);
  assert.equal(replay.apply(quoteFact(FROM, "unknown")), false);
  assert.deepEqual(computeBacktestResult(replay.finish(), OPTIONS.to).performance.totalTrades, 0);
});
