import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { PairCorrelation } from "../../quant/correlation.ts";
import { shrinkCorrelations } from "../../quant/correlation-matrix.ts";
import { jointProbability } from "../../quant/joint-probability.ts";
import type { LogicalConstraint } from "./model.ts";
import { type JointOutcomes, jointOutcomes } from "./outcomes.ts";

const DATA_POINTS = 721;
const near = (actual: number, expected: number, tolerance: number, message = "") =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} and ${expected} ${message}`);

/** Returns a generator of pseudo-random numbers in [0, 1), which are the same in every run. */
function sequence(seed: number) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x8000_0000;
  };
}
const markets = (...probabilities: number[]) =>
  probabilities.map((probability, index) => ({ probability, importance: probabilities.length - index }));
const mean = ({ weights }: JointOutcomes, figureOf: (outcome: number) => number) =>
  weights.reduce((sum, weight, outcome) => sum + weight * figureOf(outcome), 0);
const shareOf = (outcomes: JointOutcomes, ...indexes: readonly number[]) =>
  mean(outcomes, (outcome) => (indexes.every((index) => outcomes.answers[index]?.[outcome] === 1) ? 1 : 0));

/** 30 markets whose correlations come from a few common factors. */
function factorMarkets(seed: number, count: number) {
  const next = sequence(seed);
  const factors = 1 + Math.floor(4 * next());
  const loadings = Array.from({ length: count }, () => Array.from({ length: factors }, () => 2.4 * (next() - 0.5)));
  const norms = loadings.map((own) => Math.sqrt(own.reduce((sum, value) => sum + value * value, 0.3)));
  const correlations = loadings.flatMap((own, b) =>
    loadings.slice(0, b).map((other, a): PairCorrelation => {
      const product = own.reduce((sum, value, factor) => sum + value * (other[factor] ?? 0), 0);
      return { a, b, correlation: product / (norms[a] ?? 1) / (norms[b] ?? 1), dataPoints: DATA_POINTS };
    }),
  );
  return { listed: markets(...Array.from({ length: count }, () => 0.02 + 0.96 * next())), correlations };
}

test("30 correlated markets: joint probabilities of pairs are within 0.002, and that of the first market is exact", () => {
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    const { listed, correlations } = factorMarkets(seed, 30);
    const outcomes = jointOutcomes(listed, [], correlations);
    const { matrix } = shrinkCorrelations(30, correlations);
    near(shareOf(outcomes, 0), listed[0]?.probability ?? 0, 1e-12);
    near(
      mean(outcomes, () => 1),
      1,
      1e-12,
    );
    for (const { a, b } of correlations) {
      const expected = jointProbability(
        listed[a]?.probability ?? 0,
        listed[b]?.probability ?? 0,
        Math.min(1, matrix[a]?.[b] ?? 0),
      );
      near(shareOf(outcomes, a, b), expected, 2e-3, `seed ${seed}, pair ${a}, ${b}`);
    }
    assert.ok(outcomes.weights.every((weight) => weight > 0));
  }
});

test("chains of `same` and `opposite` constraints hold in every outcome", () => {
  const constraints: LogicalConstraint[] = [
    { kind: "opposite", a: 1, b: 0 },
    { kind: "opposite", a: 1, b: 2 },
    { kind: "same", a: 2, b: 3 },
  ];
  const outcomes = jointOutcomes(markets(0.3, 0.65, 0.4, 0.35), constraints, []);
  const [a, b, c, d] = outcomes.answers;
  assert.deepEqual([a, b?.map((bit) => 1 - bit), a], [c, c, d]);
  assert.equal(outcomes.variables.count, 1);
  near(shareOf(outcomes, 0), 0.3, 1e-12);
});

test("of exclusive and exhaustive markets exactly one is YES: two are opposite, three have one YES", () => {
  const two = jointOutcomes(
    markets(0.3, 0.6),
    [
      { kind: "exclusive", a: 0, b: 1 },
      { kind: "exhaustive", markets: [0, 1] },
    ],
    [],
  );
  assert.deepEqual([two.variables.count, two.droppedConstraints], [1, 0]);
  const constraints: LogicalConstraint[] = [
    { kind: "exclusive", a: 0, b: 1 },
    { kind: "exclusive", a: 0, b: 2 },
    { kind: "exclusive", a: 1, b: 2 },
    { kind: "exhaustive", markets: [0, 1, 2] },
  ];
  const three = jointOutcomes(markets(0.2, 0.5, 0.3), constraints, []);
  for (let outcome = 0; outcome < three.weights.length; outcome++)
    assert.equal(
      three.answers.reduce((sum, bits) => sum + (bits[outcome] ?? 0), 0),
      1,
    );
  for (const [index, expected] of [0.2, 0.5, 0.3].entries()) near(shareOf(three, index), expected, 1e-3);
});

test("law: even if the marginals contradict the constraints, constraints hold in every outcome and the first marginal is exact", () => {
  const probability = fc.double({ min: 0.001, max: 0.999, noNaN: true });
  const constraint = fc.record({
    kind: fc.constantFrom("same" as const, "opposite" as const, "exclusive" as const, "implies" as const),
    a: fc.nat(7),
    b: fc.nat(7),
  });
  const correlation = fc.double({ min: -1, max: 1, noNaN: true });
  const anyCase = fc.tuple(
    fc.array(probability, { minLength: 8, maxLength: 8 }),
    fc.array(
      constraint.filter(({ a, b }) => a !== b),
      { maxLength: 8 },
    ),
    correlation,
  );
  fc.assert(
    fc.property(anyCase, ([probabilities, constraints, rho]) => {
      const pairs = Array.from({ length: 7 }, (_, a) => ({ a, b: a + 1, correlation: rho, dataPoints: 100 }));
      const outcomes = jointOutcomes(markets(...probabilities), constraints, pairs);
      near(shareOf(outcomes, 0), probabilities[0] ?? 0, 1e-12);
      assert.ok(outcomes.weights.every((weight) => weight > 0));
      if (outcomes.droppedConstraints > 0) return;
      for (const { kind, a, b } of constraints) {
        const [x, y] = [outcomes.answers[a], outcomes.answers[b]];
        const isBroken = x?.some((bit, outcome) => {
          const other = y?.[outcome];
          if (kind === "same") return bit !== other;
          if (kind === "opposite") return bit === other;
          return kind === "exclusive" ? bit === 1 && other === 1 : bit === 1 && other === 0;
        });
        assert.equal(isBroken, false, kind);
      }
    }),
    { numRuns: 60 },
  );
});

test("if exclusive markets sum to more than 1, all probabilities but the first are lowered by the same factor", () => {
  const listed = [0.3, 0.26, 0.26, 0.26, 0.26];
  const constraints = listed.flatMap((_, b) =>
    listed.slice(0, b).map((__, a): LogicalConstraint => ({ kind: "exclusive", a, b })),
  );
  const outcomes = jointOutcomes(markets(...listed), constraints, []);
  near(shareOf(outcomes, 0), 0.3, 1e-12);
  for (const index of [1, 2, 3, 4]) near(shareOf(outcomes, index), 0.7 / 4, 1e-3, `market ${index}`);
});

test("if constraints conflict or a block has too many assignments, those of the least important markets are dropped", () => {
  const contradiction = jointOutcomes(
    markets(0.3, 0.6),
    [
      { kind: "same", a: 0, b: 1 },
      { kind: "opposite", a: 0, b: 1 },
    ],
    [],
  );
  assert.equal(contradiction.droppedConstraints, 1);
  const many = Array.from({ length: 20 }, (_, index): LogicalConstraint => ({ kind: "implies", a: 0, b: index + 1 }));
  const large = jointOutcomes(markets(0.2, ...new Array<number>(20).fill(0.5)), many, []);
  assert.ok(large.droppedConstraints > 0 && large.droppedConstraints < 20);
  const [first, second, last] = [large.answers[0], large.answers[1], large.answers[20]];
  const breaks = (bits: Uint8Array | undefined) => first?.some((bit, outcome) => bit === 1 && bits?.[outcome] === 0);
  assert.deepEqual([breaks(second), breaks(last)], [false, true]);
});

test("a first market with an extreme probability has enough outcomes of both answers, and its exact probability", () => {
  for (const probability of [1e-5, 1 - 1e-5]) {
    const outcomes = jointOutcomes(markets(probability, 0.5), [], [{ a: 0, b: 1, correlation: 0.5, dataPoints: 700 }]);
    near(shareOf(outcomes, 0), probability, 1e-12);
    const yesPoints = outcomes.answers[0]?.reduce((sum, bit) => sum + bit, 0) ?? 0;
    assert.ok(yesPoints > 150 && yesPoints < 4_096 - 150);
  }
});

test("the same input gives the same outcomes, and a constraint of an unknown market is a RangeError", () => {
  const { listed, correlations } = factorMarkets(9, 12);
  assert.deepEqual(jointOutcomes(listed, [], correlations), jointOutcomes(listed, [], correlations));
  assert.throws(() => jointOutcomes(markets(0.5), [{ kind: "same", a: 0, b: 1 }], []), RangeError);
  assert.throws(() => jointOutcomes(markets(0.5), [{ kind: "implies", a: 0, b: 1 }], []), RangeError);
  assert.throws(() => jointOutcomes(markets(0.5), [], [{ a: 0, b: 1, correlation: 0, dataPoints: 1 }]), RangeError);
  assert.throws(() => jointOutcomes(markets(...new Array<number>(65).fill(0.5)), [], []), RangeError);
});
