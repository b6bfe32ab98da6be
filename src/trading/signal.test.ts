import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { TakerFee } from "../domain/market.ts";
import { HOUR_MS } from "../lib/durations.ts";
import { kellyFraction, positionShare } from "../quant/kelly.ts";
import { takerFee } from "../quant/taker-fee.ts";
import { decideSignal, type Signal, type SignalInput, type SizingOptions, shadedProbability } from "./index.ts";

const NOW = Date.UTC(2026, 10, 23, 12);
const SIZING: SizingOptions = { bankrollUsd: 1_000, kellyShare: 0.25, positionMax: 0.1 };
const NO_FEE: TakerFee = { kind: "none" };
const KALSHI_FEE: TakerFee = {
  kind: "quadratic",
  rate: 0.07,
  exponent: 1,
  rounding: { feeStep: 0.0001, balanceStep: 0.01 },
};

interface Changes extends Partial<Omit<SignalInput, "analysis" | "market">> {
  readonly analysis?: Partial<SignalInput["analysis"]>;
  readonly market?: Partial<SignalInput["market"]>;
}

/** A market at 49 to 50 cents whose probability is exactly 0.6. */
const createInput = ({ analysis, market, ...rest }: Changes = {}): SignalInput => ({
  now: NOW,
  analysis: { probability: 0.6, standardError: 0, dailyMove: 0.3, confidence: 0.8, riskRating: "low", ...analysis },
  market: {
    kind: "money",
    isOpen: true,
    closeAt: NOW + 240 * HOUR_MS,
    resolutionAt: NOW + 300 * HOUR_MS,
    priceRanges: [{ from: 0, to: 1, step: 0.01 }],
    takerFee: NO_FEE,
    minOrderContracts: null,
    contractStep: null,
    ...market,
  },
  yesPrice: 0.495,
  book: { at: NOW, bids: [{ price: 0.49, size: 1_000 }], asks: [{ price: 0.5, size: 1_000 }] },
  ...rest,
});
const decide = (changes: Changes = {}, sizing: Partial<SizingOptions> = {}): Signal =>
  decideSignal(createInput(changes), { ...SIZING, ...sizing });

test("without uncertainty the size is a quarter of the Kelly fraction, and the order costs that much", () => {
  // f* = (0.6 - 0.5) / (1 - 0.5) = 0.2, and a quarter of it is $50 of $1,000: 100 contracts at 0.50.
  const signal = decide();
  assert.equal(signal.recommendation, "BUY_YES");
  assert.ok(Math.abs(signal.sizePct - 0.05) < 1e-9);
  assert.deepEqual(signal.fill, { contracts: 100, averagePrice: 0.5, feeUsd: 0, costUsd: 50 });
  assert.ok(Math.abs((signal.executableEdge ?? 0) - 0.1) < 1e-12);
  assert.ok(Math.abs(signal.edge - 0.105) < 1e-12);
  assert.equal(signal.targetPrice, 0.59);
  assert.equal(signal.reason, "YES wins with probability 60% and costs 50¢ with the fee: an edge of +10 points.");
});

test("NO is bought at 1 minus the bid, and has its own target price", () => {
  // NO has a probability of 0.6 and costs 1 - 0.49 = 0.51: f* = 0.09 / 0.49.
  const signal = decide({ analysis: { probability: 0.4 } });
  assert.equal(signal.recommendation, "BUY_NO");
  assert.ok(Math.abs(signal.sizePct - 0.25 * (0.09 / 0.49)) < 1e-9);
  assert.equal(signal.fill?.averagePrice, 0.51);
  assert.equal(signal.targetPrice, 0.59);
  assert.ok(Math.abs(signal.edge - -0.095) < 1e-12);
});

test("an uncertain estimate has a smaller size", () => {
  // The variance of p is (0.5 * 0.24)^2 = 0.0144, so the shrinkage is 0.01 / (0.01 + 0.0144).
  const signal = decide({ analysis: { standardError: 0.5 } });
  assert.ok(Math.abs(signal.sizePct - 0.05 * (0.01 / 0.0244)) < 1e-9);
});

test("the size is at most the cap", () => {
  const signal = decide({ analysis: { probability: 0.95 } });
  assert.equal(signal.sizePct, 0.1);
  assert.equal(signal.fill?.contracts, 200);
  assert.equal(signal.cappedBy, "max_position");
  assert.equal(decide().cappedBy, null);
});

test("the size is at most what the book offers", () => {
  const twoLevels = (size: number, price: number) => ({
    ...orders(),
    asks: [
      { price: 0.5, size },
      { price, size: 999 },
    ],
  });
  // $50 are wanted. 60 contracts are offered at 0.50, and the next level is above the target price of 0.59.
  const capped = decide({ book: twoLevels(60, 0.6) });
  assert.deepEqual([capped.recommendation, capped.cappedBy], ["BUY_YES", "depth"]);
  assert.deepEqual(capped.fill, { contracts: 60, averagePrice: 0.5, feeUsd: 0, costUsd: 30 });
  assert.equal(capped.sizePct, 0.03);
  assert.equal(decide({ book: twoLevels(60, 0.59) }).cappedBy, null, "the next level has the required edge");
});

test("an order is a multiple of the contract step and at least the smallest order", () => {
  // $50 buy 98.03 contracts at 0.51.
  const book = { ...orders(), asks: [{ price: 0.51, size: 1_000 }] };
  const sizeAt = (market: Changes["market"]) => decide({ book, market }, { positionMax: 0.04 }).fill?.contracts;
  assert.equal(sizeAt({}), 78);
  assert.equal(sizeAt({ contractStep: 0.01 }), 78.43);
  assert.equal(sizeAt({ contractStep: 10 }), 70);
  assert.equal(sizeAt({ minOrderContracts: 78 }), 78);
  assert.equal(sizeAt({ minOrderContracts: 79 }), undefined);
});

test("an order of several levels is sized by its average cost", () => {
  const book = {
    at: NOW,
    bids: [],
    asks: [
      { price: 0.5, size: 50 },
      { price: 0.55, size: 1_000 },
    ],
  };
  const signal = decide({ book });
  const cost = 50 * 0.5 + ((signal.sizePct * 1_000 - 25) / 0.55) * 0.55;
  const contracts = 50 + (signal.sizePct * 1_000 - 25) / 0.55;
  assert.ok(Math.abs(signal.sizePct - 0.25 * kellyFraction(0.6, cost / contracts)) < 1e-6);
  assert.equal(signal.fill?.contracts, Math.floor(contracts));
});

test("each condition that prevents a trade gives NO_TRADE with its reason and size 0", () => {
  const obstacles: [Changes, RegExp][] = [
    [{ market: { kind: "play_money" } }, /not traded with money/],
    [{ market: { isOpen: false } }, /not open for orders/],
    [{ market: { closeAt: NOW + 59_999 } }, /closes within a minute/],
    [{ market: { takerFee: null } }, /taker fee of the market is unknown/],
    [{ book: null }, /no order book/],
    [{ book: { ...orders(), at: NOW - HOUR_MS - 1 } }, /more than an hour ago/],
    [{ book: { ...orders(), bids: [{ price: 0.5, size: 1 }] } }, /crossed/],
    [{ book: { at: NOW, bids: [], asks: [] } }, /Nobody offers/],
    [{ analysis: { probability: 0.5 } }, /No side has an edge of \+1 point after spread and fee \(YES 0, NO -1\)/],
    [{ analysis: { standardError: 30 } }, /is less than the smallest order of 1 contract, which costs \$0\.50/],
    [
      { market: { minOrderContracts: 101 } },
      /\$50\.00, for a bankroll of \$1000\.00, .* of 101 contracts, .* \$50\.50\./,
    ],
    [
      { book: { ...orders(), asks: [{ price: 0.5, size: 4 }] }, market: { minOrderContracts: 5 } },
      /The smallest order of this market is 5 contracts, and 4 contracts are offered at 59¢ or less\./,
    ],
  ];
  for (const [changes, reason] of obstacles) {
    const signal = decide(changes);
    assert.match(signal.reason, reason);
    assert.deepEqual([signal.recommendation, signal.sizePct, signal.fill], ["NO_TRADE", 0, null]);
    assert.equal(signal.cappedBy, null);
    assert.equal(signal.executableEdge, null);
  }
});

test("if the close time of an open market is in the past, the signal treats the time as unknown", () => {
  const isKnown = decide({ market: { closeAt: NOW + HOUR_MS, resolutionAt: NOW - 1 } });
  assert.equal(isKnown.timeHorizon, "hours");
  for (const closeAt of [NOW, NOW - 1, NOW - 48 * HOUR_MS]) {
    const past = decide({ market: { closeAt, resolutionAt: closeAt } });
    assert.deepEqual(past, decide({ market: { closeAt: null, resolutionAt: null } }));
    assert.notEqual(past.recommendation, "NO_TRADE");
  }
});

test("rounding up the fee can remove the edge of a small order", () => {
  // The edge is 0.0115 before the fee of two contracts is rounded from 3.5 to 4 cents, and 0.009 after.
  const changes = { analysis: { probability: 0.529, standardError: 0.1 }, market: { takerFee: KALSHI_FEE } };
  assert.match(decide(changes).reason, /rounds up/);
});

test("without a trade, the target price is the highest YES price with the required edge", () => {
  assert.equal(decide({ analysis: { probability: 0.5 } }).targetPrice, 0.49);
  assert.equal(decide({ analysis: { probability: 0.5 }, market: { takerFee: KALSHI_FEE } }).targetPrice, 0.47);
  assert.equal(decide({ analysis: { probability: 0.015 }, book: null }).targetPrice, null);
  assert.equal(decide({ analysis: { probability: 0.5 }, market: { priceRanges: null } }).targetPrice, 0.49);
});

test("the target price is a multiple of the step that applies to its side at that price", () => {
  // Steps of 0.001 below 0.10, and of 0.01 above it.
  const priceRanges = [
    { from: 0, to: 0.1, step: 0.001 },
    { from: 0.1, to: 1, step: 0.01 },
  ];
  const targetOf = (probability: number) => decide({ analysis: { probability }, market: { priceRanges }, book: null });
  assert.deepEqual([targetOf(0.1053).targetPrice, targetOf(0.5553).targetPrice], [0.095, 0.54]);
  // NO at 0.9347 is YES at 0.0653: on the fine part of the grid.
  const book = { at: NOW, bids: [{ price: 0.3, size: 1_000 }], asks: [{ price: 0.31, size: 1_000 }] };
  const no = decide({ analysis: { probability: 0.0553 }, market: { priceRanges }, yesPrice: 0.305, book });
  assert.deepEqual([no.recommendation, no.targetPrice], ["BUY_NO", 0.934]);
});

test("a signal expires after the time in which a usual price move is half of the edge", () => {
  // A daily move of 0.3 in log-odds is 0.072 in probability, and half of the edge is 0.05: (0.05 / 0.072)^2 days.
  const expected = NOW + Math.round((0.05 / 0.072) ** 2 * 24 * HOUR_MS);
  assert.ok(Math.abs(decide().expiresAt - expected) <= 1);
  assert.equal(decide({ analysis: { dailyMove: 0 } }).expiresAt, NOW + 24 * HOUR_MS);
  assert.equal(decide({ analysis: { dailyMove: 90 } }).expiresAt, NOW + 60_000);
  assert.equal(decide({ market: { closeAt: NOW + HOUR_MS, resolutionAt: NOW - 1 } }).expiresAt, NOW + HOUR_MS);
});

test("the horizon follows from the expected resolution, else from the close", () => {
  const horizonOf = (resolutionAt: number | null, closeAt: number | null = null) =>
    decide({ market: { resolutionAt, closeAt } }).timeHorizon;
  assert.equal(horizonOf(NOW + 24 * HOUR_MS - 1), "hours");
  assert.equal(horizonOf(NOW + 24 * HOUR_MS), "days");
  assert.equal(horizonOf(NOW + 14 * 24 * HOUR_MS), "weeks");
  assert.equal(horizonOf(null, NOW + 48 * HOUR_MS), "days");
  assert.equal(horizonOf(null), null);
});

const orders = () => ({ at: NOW, bids: [{ price: 0.49, size: 1_000 }], asks: [{ price: 0.5, size: 1_000 }] });
const levels = fc.array(
  fc.record({ distance: fc.integer({ min: 0, max: 12 }), size: fc.integer({ min: 1, max: 2_000 }) }),
  { maxLength: 6 },
);
/** Levels at a distance of at most 12 ticks from the best one, best first. */
const toLevels = (best: number, sign: 1 | -1, list: readonly { distance: number; size: number }[]) =>
  list
    .map(({ distance, size }) => ({ price: (best + sign * distance) / 100, size }))
    .sort((a, b) => sign * (a.price - b.price));
const anyInput = fc
  .record({
    probability: fc.double({ min: 0.001, max: 0.999, noNaN: true }),
    standardError: fc.double({ min: 0, max: 1, noNaN: true }),
    bestBid: fc.integer({ min: 13, max: 85 }),
    spread: fc.integer({ min: 0, max: 3 }),
    dailyMove: fc.double({ min: 0, max: 2, noNaN: true }),
    bids: levels,
    asks: levels,
    ageMs: fc.integer({ min: 0, max: 2 * HOUR_MS }),
    untilClose: fc.option(fc.integer({ min: -HOUR_MS, max: 48 * HOUR_MS }), { nil: null }),
    isOpen: fc.boolean(),
    takerFee: fc.constantFrom(NO_FEE, KALSHI_FEE, null),
  })
  .map(({ bids, asks, bestBid, spread, ageMs, untilClose, isOpen, takerFee: fee, ...analysis }) =>
    createInput({
      analysis,
      market: { isOpen, closeAt: untilClose === null ? null : NOW + untilClose, takerFee: fee },
      book: { at: NOW - ageMs, bids: toLevels(bestBid, -1, bids), asks: toLevels(bestBid + spread, 1, asks) },
    }),
  );

test("there is no trade in a closed market, within a minute of the close, at an old price or beyond the size of the book", () => {
  let trades = 0;
  fc.assert(
    fc.property(anyInput, (input) => {
      const { recommendation, fill, sizePct, targetPrice, expiresAt, reason, executableEdge } = decideSignal(
        input,
        SIZING,
      );
      const { closeAt } = input.market;
      const knownClose = closeAt !== null && closeAt > NOW ? closeAt : Infinity;
      assert.ok(expiresAt >= Math.min(NOW + 60_000, knownClose) && expiresAt <= knownClose);
      assert.ok(reason.length > 0);
      if (recommendation === "NO_TRADE") {
        assert.deepEqual([sizePct, fill], [0, null]);
        return;
      }
      trades += 1;
      assert.ok(fill !== null && targetPrice !== null && executableEdge !== null && input.book !== null);
      assert.ok(input.market.isOpen && knownClose >= NOW + 60_000 && NOW - input.book.at <= HOUR_MS);
      assert.ok(expiresAt >= NOW + 60_000);
      const side = recommendation === "BUY_YES" ? input.book.asks : input.book.bids;
      const offered = side
        .map(({ price, size }) => ({ price: recommendation === "BUY_YES" ? price : 1 - price, size }))
        .filter(({ price }) => price <= targetPrice + 1e-9);
      assert.ok(fill.contracts <= offered.reduce((sum, { size }) => sum + size, 0));
      assert.ok(fill.costUsd <= sizePct * SIZING.bankrollUsd + 0.01 && sizePct > 0 && sizePct <= SIZING.positionMax);
      assert.ok(executableEdge >= 0.01);
      // The target price is a multiple of the tick, and one tick more leaves less than the required edge.
      const probability = recommendation === "BUY_YES" ? input.analysis.probability : 1 - input.analysis.probability;
      const edgeAt = (price: number) => probability - price - takerFee(input.market.takerFee ?? NO_FEE, price);
      assert.ok(Math.abs(targetPrice * 100 - Math.round(targetPrice * 100)) < 1e-9);
      assert.ok(edgeAt(targetPrice) >= 0.01 - 1e-9);
      assert.ok(targetPrice > 0.985 || edgeAt(targetPrice + 0.01) < 0.01 + 1e-9);
    }),
    { numRuns: 2_000 },
  );
  assert.ok(trades > 100, `only ${trades} of the random markets had a trade`);
});

const orderRules = fc.record({
  contractStep: fc.constantFrom(null, 0.01, 1, 5),
  minOrderContracts: fc.constantFrom(null, 1, 5, 20),
});
const withMarket = (input: SignalInput, market: Partial<SignalInput["market"]>): SignalInput => ({
  ...input,
  market: { ...input.market, ...market },
});

test("law: every size respects its caps, the contract step and the smallest order, and keeps the required edge", () => {
  const counts = { depth: 0, max_position: 0, none: 0 };
  const sizing = fc.record({
    bankrollUsd: fc.constantFrom(50, 200, 1_000, 100_000),
    kellyShare: fc.constantFrom(0.02, 0.25, 1),
    positionMax: fc.double({ min: 0.01, max: 0.5, noNaN: true }),
  });
  fc.assert(
    fc.property(anyInput, orderRules, sizing, (plain, rules, options) => {
      const isOpen = { isOpen: true, closeAt: null, takerFee: plain.market.takerFee ?? NO_FEE };
      const input = withMarket(plain, { ...rules, ...isOpen });
      const { fill, sizePct, cappedBy, recommendation, executableEdge } = decideSignal(input, options);
      if (fill === null || input.book === null) return;
      counts[cappedBy ?? "none"] += 1;
      const step = rules.contractStep ?? 1;
      assert.ok(Math.abs(fill.contracts / step - Math.round(fill.contracts / step)) < 1e-6);
      assert.ok(fill.contracts >= (rules.minOrderContracts ?? step));
      assert.ok(fill.costUsd <= sizePct * options.bankrollUsd + 1e-6 && sizePct <= options.positionMax);
      const isYes = recommendation === "BUY_YES";
      const probability = isYes ? input.analysis.probability : 1 - input.analysis.probability;
      assert.equal(executableEdge, probability - fill.costUsd / fill.contracts);
      // The most expensive contract of the order, too, has the required edge.
      let [rest, marginal] = [fill.contracts, 0];
      for (const { price, size } of isYes ? input.book.asks : input.book.bids) {
        if (rest <= 1e-9) break;
        marginal = isYes ? price : 1 - price;
        rest -= size;
      }
      const cost = marginal + takerFee(input.market.takerFee ?? NO_FEE, marginal);
      assert.ok(probability - cost >= 0.01 - 1e-9);
    }),
    { numRuns: 8_000 },
  );
  assert.ok(Math.min(...Object.values(counts)) >= 10, JSON.stringify(counts));
});

test("law: a larger bankroll never has a smaller order", () => {
  const bankroll = fc.double({ min: 1, max: 1e5, noNaN: true });
  let trades = 0;
  fc.assert(
    fc.property(anyInput, orderRules, bankroll, bankroll, (input, rules, a, b) => {
      // Without rounded fees: the rounded fee of a larger order can be a larger share of its cost.
      const market = withMarket(input, { ...rules, takerFee: NO_FEE });
      const sizeFor = (bankrollUsd: number) => decideSignal(market, { ...SIZING, bankrollUsd }).fill?.contracts ?? 0;
      const [small, large] = [sizeFor(Math.min(a, b)), sizeFor(Math.max(a, b))];
      assert.ok(small <= large, `${small} and ${large}`);
      if (large > small) trades += 1;
    }),
    { numRuns: 2_000 },
  );
  assert.ok(trades > 50, `only ${trades} pairs of sizes differ`);
});

test("law: in a deep book, the size is the Kelly share at the best price", () => {
  const probability = fc.double({ min: 0.1, max: 0.9, noNaN: true });
  fc.assert(
    fc.property(probability, fc.integer({ min: 2, max: 98 }), fc.double({ min: 0, max: 1 }), (wins, cents, error) => {
      fc.pre(wins - cents / 100 >= 0.02 && !Number.isNaN(error));
      const book = { at: NOW, bids: [], asks: [{ price: cents / 100, size: 1e9 }] };
      const signal = decide({ analysis: { probability: wins, standardError: error }, book });
      fc.pre(signal.fill !== null);
      const variance = (error * wins * (1 - wins)) ** 2;
      const share = positionShare({ probability: wins, variance, cost: cents / 100 }, SIZING);
      assert.ok(Math.abs(signal.sizePct - share) < 1e-9);
    }),
  );
});

test("the full Kelly size at the shaded probability equals the fractional Kelly size", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.05, max: 0.9, noNaN: true }),
      fc.double({ min: 0.001, max: 0.09, noNaN: true }),
      fc.double({ min: 0, max: 0.1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (cost, edge, variance, kellyShare) => {
        const probability = cost + edge;
        const shaded = shadedProbability({ probability, variance }, cost, kellyShare);
        const shrinkage = edge ** 2 / (edge ** 2 + variance);
        const expected = kellyShare * shrinkage * kellyFraction(probability, cost);
        assert.ok(Math.abs(kellyFraction(shaded, cost) - expected) < 1e-9);
      },
    ),
  );
  assert.equal(shadedProbability({ probability: 0.4, variance: 0 }, 0.5, 0.25), 0.5);
});
