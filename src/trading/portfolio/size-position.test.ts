import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../../test/support/asserts/assert-near.ts";
import { EDGE_MIN } from "../../engine/index.ts";
import { edgeShrinkage, positionShare } from "../../quant/kelly.ts";
import type { HeldPosition, LogicalConstraint, PortfolioCandidate, PortfolioTask } from "./model.ts";
import { sizePosition } from "./size-position.ts";

const BANKROLL = 1_000;
const SIZING = { bankrollUsd: BANKROLL, kellyShare: 0.25, positionMax: 0.1 };

/** Creates a candidate at the cost `price` with a deep book. Its base share is the size without positions. */
function candidateAt(price: number, probability: number, options: Partial<PortfolioCandidate> = {}, sizing = SIZING) {
  const { side = "yes", variance = 0.0025 } = options;
  const wins = side === "yes" ? probability : 1 - probability;
  const baseShare = positionShare({ probability: wins, variance, cost: price }, sizing);
  return {
    side,
    variance,
    baseShare,
    offers: [{ price, size: 100_000 }],
    takerFee: { kind: "none" as const },
    contractStep: 1,
    minOrderContracts: 1,
    eventKey: "candidate",
    ...options,
  };
}
const held = (market: number, side: "yes" | "no", sizeUsd: number, entryPrice = 0.5): HeldPosition => ({
  market,
  side,
  sizeUsd,
  entryPrice,
  settledValue: null,
  eventKey: `event ${market}`,
});
const taskOf = (probabilities: readonly number[], parts: Partial<PortfolioTask>): PortfolioTask => ({
  markets: probabilities.map((probability, index) => ({ probability, importance: 100 - index })),
  constraints: [],
  correlations: [],
  positions: [],
  candidate: candidateAt(0.5, probabilities[0] ?? 0.5),
  hedges: [],
  sizing: SIZING,
  ...parts,
});

test("closed form: without positions, both sides get the size of the single bet", () => {
  const probability = fc.double({ min: 0.05, max: 0.95, noNaN: true });
  const margin = fc.double({ min: 0.05, max: 0.9, noNaN: true });
  fc.assert(
    fc.property(probability, margin, fc.constantFrom("yes" as const, "no" as const), (wins, part, side) => {
      const [cost, yes] = [wins * part, side === "yes" ? wins : 1 - wins];
      // At the smallest edge that is traded, rounding decides.
      fc.pre(Math.abs(wins - cost - EDGE_MIN) > 1e-9);
      const candidate = candidateAt(cost, yes, { side });
      const size = sizePosition(taskOf([yes], { candidate }));
      const isTooSmall = candidate.baseShare * BANKROLL < cost;
      const hasEdge = wins - cost > EDGE_MIN;
      assertNear(size.share, isTooSmall || !hasEdge ? 0 : candidate.baseShare, 1e-7);
      const limits = isTooSmall ? ["min_order"] : hasEdge ? ["none", "position_max"] : ["fee"];
      assert.ok(limits.includes(size.limit), `${size.limit} instead of ${limits}`);
    }),
    { numRuns: 40 },
  );
});

test("an order below the smallest size, or whose rounded fee leaves no edge, is not a trade", () => {
  const sizeOf = (options: Partial<PortfolioCandidate>, probability = 0.6) =>
    sizePosition(taskOf([probability], { candidate: candidateAt(0.5, probability, options) }));
  const { fill, share } = sizeOf({ contractStep: 0.01 });
  assert.equal(fill?.contracts, Math.floor((share * BANKROLL * 100) / 0.5) / 100);
  const none = sizeOf({ minOrderContracts: 200 });
  assert.deepEqual([none.share, none.limit, none.fill], [0, "min_order", null]);
  // Two contracts cost 1.035 USD, and 1.04 USD with the fee that is rounded up to a cent: 0.52 each.
  const takerFee = {
    kind: "quadratic",
    rate: 0.07,
    exponent: 1,
    rounding: { feeStep: 0.0001, balanceStep: 0.01 },
  } as const;
  assert.equal(sizeOf({ takerFee, variance: 0.001 }, 0.529).limit, "fee");
});

test("closed form: a small independent position hardly changes the size", () => {
  const { share } = sizePosition(taskOf([0.6, 0.5], { positions: [held(1, "yes", 0.01)] }));
  assertNear(share, positionShare({ probability: 0.6, variance: 0.0025, cost: 0.5 }, SIZING), 1e-6);
});

test("brute force: with two independent positions, no other stake has a higher expected growth", () => {
  const positions = [held(1, "yes", 200, 0.4), held(2, "no", 300, 0.6)];
  const candidate = candidateAt(0.5, 0.75, { variance: 0 });
  const sizing = { ...SIZING, kellyShare: 1, positionMax: 0.5 };
  const { share } = sizePosition(taskOf([0.75, 0.4, 0.4], { positions, candidate, sizing }));
  const growthAt = (stake: number) => {
    let sum = 0;
    for (const a of [0, 1])
      for (const b of [0, 1])
        for (const c of [0, 1]) {
          const weight = (a ? 0.75 : 0.25) * (b ? 0.4 : 0.6) * (c ? 0.4 : 0.6);
          const wealth = 0.5 + (b ? 0.5 : 0) + (c ? 0 : 0.5) + stake * (a ? 1 : -1);
          sum += weight * Math.log(wealth);
        }
    return sum;
  };
  const stakes = Array.from({ length: 5_001 }, (_, step) => step / 10_000);
  const best = stakes.reduce((a, b) => (growthAt(b) > growthAt(a) ? b : a), 0);
  // The sample keeps the pairs of markets within 0.0015, which moves the optimum a little.
  assertNear(share, best, 5e-3);
});

const amount = fc.double({ min: 1, max: 150, noNaN: true });
const side = fc.constantFrom("yes" as const, "no" as const);
const price = fc.double({ min: 0.1, max: 0.9, noNaN: true });
/**
 * A portfolio in markets 1 and 2, which are correlated with each other and the candidate's market 0. Market 3 is
 * related to it.
 */
const anyPortfolio = fc.record({
  positions: fc.array(
    fc.tuple(fc.constantFrom(1, 2), side, amount, price).map((parts) => held(...parts)),
    { maxLength: 3 },
  ),
  correlations: fc
    .array(fc.double({ min: -0.9, max: 0.9, noNaN: true }), { minLength: 3, maxLength: 3 })
    .map((values) =>
      [
        [0, 1],
        [0, 2],
        [1, 2],
      ].map(([a = 0, b = 0], index) => ({ a, b, correlation: values[index] ?? 0, dataPoints: 700 })),
    ),
  candidateSide: side,
  extra: amount,
  entry: price,
  constraint: fc.constantFrom("same" as const, "opposite" as const),
});
const SIZE_TOLERANCE = 1e-7;

function relatedCase({
  positions,
  correlations,
  candidateSide,
  constraint,
}: typeof anyPortfolio extends fc.Arbitrary<infer T> ? T : never) {
  const yes = candidateSide === "yes" ? 0.62 : 0.38;
  const parts = {
    positions,
    correlations,
    constraints: [{ kind: constraint, a: 0, b: 3 }] satisfies LogicalConstraint[],
    candidate: candidateAt(0.5, yes, { side: candidateSide }),
  };
  return taskOf([yes, 0.4, 0.7, constraint === "same" ? yes : 1 - yes], parts);
}

test("law: a position that pays with the candidate never increases its size", () => {
  fc.assert(
    fc.property(anyPortfolio, (parts) => {
      const task = relatedCase(parts);
      const isSameSide = parts.constraint === "same";
      const equal = isSameSide ? parts.candidateSide : parts.candidateSide === "yes" ? "no" : "yes";
      const added = held(3, equal, parts.extra, parts.entry);
      const before = sizePosition(task);
      const after = sizePosition({ ...task, positions: [...task.positions, added] });
      assert.ok(after.share <= before.share + SIZE_TOLERANCE, `${after.share} after ${before.share}`);
      assert.equal(after.correlations.at(-1), 1);
    }),
    { numRuns: 40 },
  );
});

test("law: the exact hedge of the candidate never decreases its size while there is enough cash", () => {
  fc.assert(
    fc.property(anyPortfolio, (parts) => {
      const task = relatedCase(parts);
      const isSameSide = parts.constraint === "same";
      const opposite = isSameSide ? (parts.candidateSide === "yes" ? "no" : "yes") : parts.candidateSide;
      const added = held(3, opposite, parts.extra, parts.entry);
      const before = sizePosition(task);
      const after = sizePosition({ ...task, positions: [...task.positions, added] });
      assert.ok(after.share >= before.share - SIZE_TOLERANCE, `${after.share} after ${before.share}`);
      assert.equal(after.correlations.at(-1), -1);
    }),
    { numRuns: 40 },
  );
});

test("law: stakes on exclusive outcomes sum to at most the cap, and wealth is above 0 in every outcome", () => {
  const constraints: LogicalConstraint[] = [
    { kind: "exclusive", a: 0, b: 1 },
    { kind: "exclusive", a: 0, b: 2 },
    { kind: "exclusive", a: 1, b: 2 },
  ];
  const sizing = { bankrollUsd: BANKROLL, kellyShare: 1, positionMax: 0.5 };
  fc.assert(
    fc.property(fc.double({ min: 0, max: 600, noNaN: true }), fc.double({ min: 0, max: 390, noNaN: true }), (a, b) => {
      const positions = [held(1, "yes", a + 1, 0.3), held(2, "yes", b + 1, 0.2)];
      const candidate = candidateAt(0.3, 0.5, { variance: 0 }, sizing);
      const { share } = sizePosition(taskOf([0.5, 0.3, 0.2], { constraints, positions, candidate, sizing }));
      const together = share + (a + b + 2) / BANKROLL;
      assert.ok(share === 0 || together <= 0.5 + 1e-9, `${together}`);
      assert.ok(together < 1);
    }),
    { numRuns: 40 },
  );
});

test("the size is 0 if positions use up the bankroll, or if the position in the market has reached the cap", () => {
  for (const sizeUsd of [BANKROLL, 3 * BANKROLL]) {
    const size = sizePosition(taskOf([0.9, 0.5], { positions: [held(1, "yes", sizeUsd)] }));
    assert.deepEqual([size.share, size.limit, size.cost, size.concentrationDelta], [0, "cash", null, 0]);
    assert.ok(size.expectedShortfallUsd > 0);
  }
  const full = sizePosition(taskOf([0.6, 0.5], { positions: [held(0, "yes", 100)] }));
  assert.deepEqual([full.share, full.limit], [0, "position_max"]);
  const little = sizePosition(taskOf([0.9, 0.5], { positions: [held(1, "yes", 999.7)] }));
  assert.equal(little.share, 0);
});

test("a stake is at most the cash, even if settled positions are worth much more than they cost", () => {
  const winner: HeldPosition = { ...held(1, "yes", 960, 0.5), market: null, settledValue: 1 };
  const { share, limit } = sizePosition(taskOf([0.6], { positions: [winner] }));
  assertNear(share, 0.04, 1e-9);
  assert.equal(limit, "cash");
});

test("a size above the base size is priced at the levels of the book, and is at most the size of the book", () => {
  const positions = [held(0, "no", 300, 0.5)];
  const sizing = { ...SIZING, positionMax: 0.5 };
  const sizeWith = (offers: PortfolioCandidate["offers"]) =>
    sizePosition(taskOf([0.6], { positions, sizing, candidate: candidateAt(0.5, 0.6, { offers }, sizing) }));
  const deep = sizeWith([{ price: 0.5, size: 10_000 }]);
  const base = positionShare({ probability: 0.6, variance: 0.0025, cost: 0.5 }, sizing);
  assert.ok(deep.share > base && deep.limit === "growth");
  const thin = sizeWith([{ price: 0.5, size: 200 }]);
  assert.deepEqual([thin.limit, thin.cost], ["book", 0.5]);
  assertNear(thin.share, 0.1, 1e-9);
  const steep = sizeWith([
    { price: 0.5, size: 200 },
    { price: 0.53, size: 10_000 },
  ]);
  assert.ok(steep.share > thin.share && steep.share / (steep.cost ?? 0) < deep.share / (deep.cost ?? 1));
  assert.ok(steep.cost !== null && steep.cost > 0.5 && steep.cost < 0.53);
});

test("the same question on another venue is one stake, so buying more of it does not spread the risk", () => {
  const task = taskOf([0.7, 0.7], {
    constraints: [{ kind: "same", a: 0, b: 1 }],
    positions: [held(1, "yes", 40, 0.5)],
  });
  const size = sizePosition({ ...task, sizing: { ...task.sizing, positionMax: 0.5 } });
  assert.ok(size.share > 0);
  assertNear(size.concentrationDelta, 0, 1e-12);
});

test("a position in a settled market adds its payout to the wealth and has no correlation", () => {
  const settled: HeldPosition = { ...held(0, "yes", 100, 0.5), market: null, settledValue: 0 };
  const size = sizePosition(taskOf([0.5], { candidate: null, positions: [settled] }));
  assertNear(size.expectedShortfallUsd, 100, 1e-9);
  assert.deepEqual([size.share, size.limit, size.correlations], [0, "no_trade", [null]]);
});

test("at most three hedges are listed, the largest reduction per dollar first, none larger than the cash", () => {
  const constraints: LogicalConstraint[] = [{ kind: "same", a: 1, b: 2 }];
  const hedges = [
    { market: 2, side: "no" as const, cost: 0.45, offeredUsd: null },
    { market: 2, side: "yes" as const, cost: 0.6, offeredUsd: null },
    { market: 3, side: "yes" as const, cost: 0.5, offeredUsd: null },
  ];
  const positions = [held(1, "yes", 400, 0.5)];
  const size = sizePosition(taskOf([0.5, 0.5, 0.5, 0.5], { candidate: null, constraints, hedges, positions }));
  const [best] = size.hedges;
  assert.equal(best?.index, 0);
  // 800 contracts lose 400; 727 opposite ones at 0.45 leave the same loss in both outcomes.
  assertNear(best?.stakeUsd ?? 0, 0.45 * 800, 1);
  assert.ok(size.hedges.every(({ index, reductionUsd }) => index !== 1 && reductionUsd > 0));
});

test("known values: the size is a quarter of the shrunk Kelly fraction; concentrationDelta is that of the Herfindahl index", () => {
  const shrinkage = edgeShrinkage(0.1, 0.0025);
  const size = sizePosition(taskOf([0.6, 0.5], { positions: [held(1, "yes", 50)] }));
  assertNear(size.share, 0.25 * shrinkage * 0.2, 2e-3);
  const [x, y] = [50, size.share * BANKROLL];
  assertNear(size.concentrationDelta, (x * x + y * y) / (x + y) ** 2 - 1, 1e-12);
});

test("the stake of a hedge is at most the amount offered at the price of the hedge", () => {
  const stakeOf = (offeredUsd: number | null) => {
    const hedges = [{ market: 1, side: "no" as const, cost: 0.5, offeredUsd }];
    return sizePosition(taskOf([0.5, 0.5], { candidate: null, positions: [held(1, "yes", 100)], hedges })).hedges[0];
  };
  assertNear(stakeOf(null)?.stakeUsd ?? 0, 100, 1e-6);
  assertNear(stakeOf(30)?.stakeUsd ?? 0, 30, 1e-6);
  assertNear(stakeOf(30)?.reductionUsd ?? 0, 30, 1e-6);
  assert.equal(stakeOf(0), undefined);
});

test("throws a RangeError for positions, hedges and constraints of unknown markets", () => {
  assert.throws(() => sizePosition(taskOf([], {})), RangeError);
  assert.throws(() => sizePosition(taskOf([0.6], { positions: [held(1, "yes", 1)] })), RangeError);
  const hedges = [{ market: 1, side: "yes" as const, cost: 0.5, offeredUsd: null }];
  assert.throws(() => sizePosition(taskOf([0.6], { hedges })), RangeError);
});
