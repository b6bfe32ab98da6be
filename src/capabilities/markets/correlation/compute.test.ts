import assert from "node:assert/strict";
import { test } from "node:test";
import { HOUR_MS } from "../../../lib/durations.ts";
import { clamp, logit, sigmoid } from "../../../lib/numbers.ts";
import { relationshipOf } from "../../../quant/correlation.ts";
import { computeReport } from "./compute.ts";
import type { CorrelationTask } from "./model.ts";
import { encodeReport } from "./report.ts";

const STEP = HOUR_MS;
const GENERATED_AT = Date.UTC(2026, 10, 21);

/** Deterministic numbers in [0, 1): the generator of Park and Miller. */
function createGenerator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Random walks of markets that follow common factors and trade at irregular times. */
function createTask(marketCount: number, stepCount: number, seed = 7): CorrelationTask {
  const uniform = createGenerator(seed);
  const factors = Array.from({ length: 3 }, () => Array.from({ length: stepCount }, () => uniform() - 0.5));
  const series = Array.from({ length: marketCount }, (_, market) => {
    const times: number[] = [];
    const prices: number[] = [];
    let logOdds = uniform() - 0.5;
    for (let step = 0; step < stepCount; step++) {
      logOdds += 0.1 * (factors[market % 3]?.[step] ?? 0) + 0.1 * (uniform() - 0.5);
      if (uniform() < 0.2 || (market % 5 === 4 && step < stepCount / 2)) continue;
      times.push(step * STEP + Math.floor(uniform() * STEP));
      prices.push(sigmoid(logOdds));
    }
    return { times: Float64Array.from(times), prices: Float64Array.from(prices) };
  });
  return {
    marketIds: series.map((_, index) => `m-${index}`),
    platform: "alpha",
    period: "7d",
    matches: [],
    minCorrelation: null,
    limit: null,
    grid: { start: 0, step: STEP, count: stepCount + 1 },
    series,
    generatedAt: GENERATED_AT,
  };
}

type Moves = readonly (number | null)[];

/** Reference implementation: the changes of each series between the instants of the grid. */
function referenceMoves({ grid: { start, step, count }, series }: CorrelationTask): readonly Moves[] {
  return series.map(({ times, prices }) => {
    const at = Array.from({ length: count }, (_, instant) => {
      const last = times.findLastIndex((time) => time <= start + instant * step);
      const price = clamp(prices[last] ?? Number.NaN, 0.005, 0.995);
      return last < 0 ? null : logit(price);
    });
    return at.slice(1).map((value, index) => {
      const before = at[index] ?? null;
      return value === null || before === null ? null : value - before;
    });
  });
}

/** Reference implementation of the definition. Returns null for insufficient data. */
function referenceCorrelation(xs: Moves, ys: Moves) {
  const joint = xs.flatMap((x, index) => {
    const y = ys[index] ?? null;
    return x === null || y === null ? [] : [{ x, y }];
  });
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(joint.map(({ x }) => x)), mean(joint.map(({ y }) => y))];
  const sum = (term: (x: number, y: number) => number) =>
    joint.reduce((total, { x, y }) => total + term(x - meanX, y - meanY), 0);
  const correlation = sum((x, y) => x * y) / Math.sqrt(sum((x) => x * x) * sum((_, y) => y * y));
  const isSufficient = joint.filter(({ x, y }) => x !== 0 && y !== 0).length >= 30;
  return { correlation: isSufficient ? correlation : null, dataPoints: joint.length };
}

interface Body {
  readonly pairs: readonly {
    readonly market_a: string;
    readonly market_b: string;
    readonly correlation: number | null;
    readonly data_points: number;
    readonly relationship: string;
    readonly basis: string;
    readonly horizon_seconds: number | null;
  }[];
  readonly clusters: readonly (readonly string[])[];
  readonly concentration_warnings: readonly string[];
}

const decode = (task: CorrelationTask): Body => JSON.parse([...encodeReport(computeReport(task))].join(""));

test("with prices at irregular times, every coefficient equals a naive reference rounded to four decimals", () => {
  for (const [markets, steps] of [
    [2, 168],
    [3, 40],
    [13, 192],
    [17, 720],
  ] as const) {
    const task = createTask(markets, steps);
    const { pairs } = decode(task);
    assert.equal(pairs.length, (markets * (markets - 1)) / 2);
    const moves = referenceMoves(task);
    let compared = 0;
    for (const pair of pairs) {
      const [a, b] = [pair.market_a, pair.market_b].map((id) => Number(id.slice(2)));
      // The test of `stableCorrelations` covers the other horizons.
      if (pair.horizon_seconds !== null && pair.horizon_seconds !== 3_600) continue;
      const expected = referenceCorrelation(moves[a ?? -1] ?? [], moves[b ?? -1] ?? []);
      assert.equal(pair.data_points, expected.dataPoints);
      assert.equal(pair.correlation === null, expected.correlation === null, `${pair.market_a} ${pair.market_b}`);
      if (pair.correlation === null || expected.correlation === null) continue;
      compared += 1;
      assert.ok(Math.abs(pair.correlation - expected.correlation) < 0.5e-4 + 1e-9);
      assert.equal(pair.correlation, Number(pair.correlation.toFixed(4)));
    }
    assert.ok(steps < 100 || compared > 0);
  }
});

test("a pair with too little joint movement is `insufficient_data` with null, never 0", () => {
  const task = createTask(4, 168);
  const still = { times: Float64Array.of(0), prices: Float64Array.of(0.5) };
  const unknown = { times: new Float64Array(), prices: new Float64Array() };
  const { pairs, clusters, concentration_warnings } = decode({ ...task, series: [still, unknown, still, still] });
  assert.equal(pairs.length, 6);
  for (const { correlation, relationship } of pairs)
    assert.deepEqual([correlation, relationship], [null, "insufficient_data"]);
  assert.deepEqual([clusters, concentration_warnings], [[], []]);
  assert.deepEqual(
    pairs.map(({ data_points }) => data_points),
    [0, 168, 168, 0, 0, 168],
  );
});

test("markets that move together are in one cluster, and each pair of at least 0.7 has a warning with its figures", () => {
  const task = createTask(4, 168);
  const [first, second] = task.series;
  assert.ok(first !== undefined && second !== undefined);
  const opposite = { times: second.times, prices: second.prices.map((price) => 1 - price) };
  const body = decode({ ...task, series: [first, second, first, opposite] });
  const relationships = Object.fromEntries(
    body.pairs.map(({ market_a, market_b, relationship }) => [`${market_a} ${market_b}`, relationship]),
  );
  assert.equal(relationships["m-0 m-2"], "strong_positive");
  assert.equal(relationships["m-1 m-3"], "strong_negative");
  assert.deepEqual(body.clusters, [["m-0", "m-2"]]);
  assert.equal(body.concentration_warnings.length, 1);
  assert.match(
    body.concentration_warnings[0] ?? "",
    /^m-0 and m-2 move together: correlation (1\.00|0\.99) over 7d \(\d+ data points\)\. Positions on the same side/,
  );
});

test("relationships, clusters, warnings and `minCorrelation` agree with the coefficients that are shown", () => {
  const task = createTask(30, 400);
  const body = decode(task);
  const coefficients = body.pairs.flatMap(({ correlation }) => correlation ?? []);
  assert.ok(coefficients.length > 100);
  for (const { correlation, relationship } of body.pairs) assert.equal(relationship, relationshipOf(correlation));
  // A bound equal to a coefficient of the body detects errors of rounding.
  for (const bound of coefficients.slice(0, 40).map(Math.abs)) {
    const { pairs } = decode({ ...task, minCorrelation: bound });
    const expected = coefficients.filter((correlation) => Math.abs(correlation) >= bound);
    assert.equal(pairs.length, expected.length);
  }
});

test("an encoded report consists of pieces of at most 33 KiB", () => {
  const pieces = [...encodeReport(computeReport(createTask(100, 168)))];
  const lengths = pieces.map(({ length }) => length);
  assert.ok(lengths.length > 10 && Math.max(...lengths) <= 33 * 1024, String(lengths));
});

test("markets with the same or opposite question have the basis `logic`, regardless of their moves", () => {
  const task = createTask(4, 168);
  const matches = [
    { a: 0, b: 1, correlation: 0.97 },
    { a: 2, b: 3, correlation: -0.92 },
  ];
  const body = decode({ ...task, matches });
  const tied = body.pairs.filter(({ basis }) => basis === "logic");
  assert.deepEqual(
    tied.map(({ market_a, market_b, correlation, relationship, horizon_seconds }) => [
      ...[market_a, market_b, correlation, relationship, horizon_seconds],
    ]),
    [
      ["m-0", "m-1", 0.97, "strong_positive", null],
      ["m-2", "m-3", -0.92, "strong_negative", null],
    ],
  );
  assert.ok(body.clusters.some((cluster) => cluster.includes("m-0") && cluster.includes("m-1")));
  const [same, opposite] = ["m-0 and m-1", "m-2 and m-3"].map((names) =>
    body.concentration_warnings.find((warning) => warning.startsWith(names)),
  );
  assert.match(same ?? "", /ask the same question, with a confidence of 0\.97\. Positions on the same side/);
  assert.match(opposite ?? "", /ask opposite questions, with a confidence of 0\.92\. Positions on opposite sides/);
});

test("`minCorrelation` and `limit` choose the strongest pairs, and change no cluster or warning", () => {
  const task = createTask(6, 168);
  const all = decode(task);
  const strength = ({ correlation }: { readonly correlation: number | null }) => Math.abs(correlation ?? -1);
  const strong = decode({ ...task, minCorrelation: 0.3 });
  assert.deepEqual(
    strong.pairs,
    all.pairs.filter(({ correlation }) => correlation !== null && Math.abs(correlation) >= 0.3),
  );
  const { pairs, ...rest } = decode({ ...task, limit: 3 });
  const { pairs: allPairs, ...expected } = all;
  assert.deepEqual(rest, expected);
  assert.deepEqual(pairs, allPairs.toSorted((x, y) => strength(y) - strength(x)).slice(0, 3));
});
