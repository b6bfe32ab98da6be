import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type AgentPosition, robustConsensus } from "./robust-consensus.ts";

const view = (probability: number, usd = 100): AgentPosition => ({ probability, usd });
const estimate = (views: readonly AgentPosition[]) => robustConsensus(views) ?? Number.NaN;

/**
 * Probabilities at the quantiles of a normal distribution with this mean and a standard deviation of 0.1, in [0, 1].
 */
function normalViews(count: number, mean: number): AgentPosition[] {
  return Array.from({ length: count }, (_, index) => {
    const p = (index + 0.5) / count;
    return view(Math.min(1, Math.max(0, mean + 0.1 * normalQuantile(p))), 10 + 100 * ((index * 7) % 10));
  });
}

/** Inverse of the normal distribution, by bisection of its series. */
function normalQuantile(p: number): number {
  const distribution = (x: number) => {
    let term = x;
    let sum = x;
    for (let index = 1; index < 200; index++) {
      term *= (x * x) / (2 * index + 1);
      sum += term;
    }
    return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
  };
  let [low, high] = [-6, 6];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (distribution(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

const anyViews = fc.array(
  fc.record({
    probability: fc.double({ min: 0, max: 1, noNaN: true }),
    usd: fc.double({ min: 0.01, max: 1e6, noNaN: true }),
  }),
  { minLength: 5, maxLength: 60 },
);

test("known value: agents within 0.09 of each other have the plain mean", () => {
  assert.ok(Math.abs(estimate([0.5, 0.52, 0.54, 0.56, 0.58].map((p) => view(p))) - 0.54) < 1e-12);
});

test("closed form: one outlier among ten agents of equal volume moves the figure by 0.09 / 9", () => {
  const views = [...Array.from({ length: 9 }, () => view(0.4)), view(1)];
  assert.ok(Math.abs(estimate(views) - 0.41) < 1e-12);
});

test("10% of the agents with any volume move the figure by at most 0.02", () => {
  for (const mean of [0.2, 0.5, 0.8])
    for (const agents of [50, 90, 500]) {
      const honest = normalViews(agents, mean);
      const calm = estimate(honest);
      for (const usd of [1, 100, 1e6])
        for (const target of [0, mean - 0.2, mean - 0.1, mean + 0.1, mean + 0.2, 1]) {
          const attackers = Array.from({ length: Math.round(agents / 9) }, () => view(Math.max(0, target), usd));
          const shift = Math.abs(estimate([...honest, ...attackers]) - calm);
          assert.ok(shift <= 0.02, `${agents} agents at ${mean}, attack at ${target} with $${usd}: ${shift}`);
        }
    }
});

test("for two equal groups of agents, the figure is the midpoint", () => {
  assert.ok(Math.abs(estimate([0.1, 0.1, 0.1, 0.7, 0.7, 0.7].map((p) => view(p))) - 0.4) < 1e-9);
});

test("more attackers move the figure further, but more volume above the fifth percentile does not", () => {
  const honest = normalViews(60, 0.5);
  const shiftBy = (count: number, usd: number) =>
    estimate([...honest, ...Array.from({ length: count }, () => view(1, usd))]);
  for (let count = 0; count < 20; count++) assert.ok(shiftBy(count + 1, 1e4) > shiftBy(count, 1e4));
  assert.equal(shiftBy(6, 1e4), shiftBy(6, 1e9));
});

test("the figure lies within the range of the agents and does not depend on their order", () => {
  fc.assert(
    fc.property(anyViews, (views) => {
      const result = robustConsensus(views);
      if (result === null) return;
      const probabilities = views.map(({ probability }) => probability);
      assert.ok(result >= Math.min(...probabilities) - 1e-9);
      assert.ok(result <= Math.max(...probabilities) + 1e-9);
      assert.ok(Math.abs(result - estimate(views.toReversed())) < 1e-9);
    }),
  );
});

test("the figure does not depend on the unit of volume, and NO mirrors YES", () => {
  fc.assert(
    fc.property(anyViews, fc.double({ min: 0.1, max: 10, noNaN: true }), (views, scale) => {
      const result = robustConsensus(views);
      if (result === null) return;
      const scaled = estimate(views.map(({ probability, usd }) => view(probability, usd * scale)));
      const mirrored = estimate(views.map(({ probability, usd }) => view(1 - probability, usd)));
      assert.ok(Math.abs(scaled - result) < 1e-6);
      assert.ok(Math.abs(mirrored - (1 - result)) < 1e-6);
    }),
  );
});

test("5 agents have equal weights, for any volumes", () => {
  const views = [10, 1e6, 3, 500, 77].map((usd, index) => view(0.5 + 0.02 * index, usd));
  assert.ok(Math.abs(estimate(views) - 0.54) < 1e-12);
});

test("known values: with up to 20 agents the smallest volume is the cap, with 21 to 40 the second smallest", () => {
  const small = view(0.45, 25);
  const weightOfSmall = (others: number) => {
    const mean = estimate([small, ...Array.from({ length: others }, () => view(0.4))]);
    return (others * (mean - 0.4)) / (0.45 - mean);
  };
  for (const [others, weight] of [
    [19, 1],
    [20, 0.5],
    [32, 0.5],
  ] as const)
    assert.ok(Math.abs(weightOfSmall(others) - weight) < 1e-6, `${others}: ${weightOfSmall(others)}`);
});

test("fewer than 5 agents have no robust figure", () => {
  assert.equal(robustConsensus(Array.from({ length: 4 }, () => view(0.5, 1e6))), null);
  assert.equal(robustConsensus([]), null);
});

test("probabilities and volumes outside their range are refused", () => {
  for (const bad of [view(1.1), view(Number.NaN), view(0.5, 0), view(0.5, -1), view(0.5, Infinity)])
    assert.throws(() => robustConsensus([bad]), RangeError);
});
