import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseHistory } from "./parse-history.ts";
import { detectLimitlessDrift } from "./wire.ts";

const HOUR_MS = 3_600_000;
const END = 1795233600000;
const QUERY = { fromMs: END - 3 * HOUR_MS, toMs: END, stepMs: HOUR_MS, titles: ["Driver B"] };

function read(name: string, query = QUERY) {
  const dropped: Record<string, number> = {};
  const json: unknown = JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), "utf8"));
  const points = parseHistory(json, query, {
    drop(reason, count = 1) {
      dropped[reason] = (dropped[reason] ?? 0) + count;
    },
    watch: detectLimitlessDrift(() => {}),
  });
  return { prices: points.map((point) => [(END - point.endAt) / HOUR_MS, point.yesPrice]), points, dropped };
}

for (const [name, prices] of [
  [
    "history-object-milliseconds",
    [
      [2, 0.41],
      [1, 0.42],
      [0, 0.44],
    ],
  ],
  [
    "history-array-per-token",
    [
      [1, 0.42],
      [0, 0.44],
    ],
  ],
  ["history-array-per-child-iso", [[0, 0.36]]],
  [
    "history-data-seconds-percent",
    [
      [2, 0.2],
      [1, 0.009],
      [0, 0.215],
    ],
  ],
] as const) {
  test(`${name} gives YES prices oldest first`, () => {
    const { prices: read_, dropped } = read(name);
    assert.deepEqual(read_, prices);
    assert.deepEqual(dropped, {});
  });
}

test("points are intervals that end at their time, do not overlap and lie within what was asked", () => {
  const { points } = read("history-object-milliseconds", { ...QUERY, fromMs: END - 1.5 * HOUR_MS });
  assert.deepEqual(
    points.map(({ startAt, endAt }) => [startAt - END, endAt - END]),
    [
      [-1.5 * HOUR_MS, -HOUR_MS],
      [-HOUR_MS, 0],
    ],
  );
});

test("garbage points are dropped one by one and counted", () => {
  const { prices, dropped } = read("history-garbage-points");
  assert.deepEqual(prices, [[1, 0.42]]);
  assert.deepEqual(dropped, { bad_history_point: 3, price_out_of_range: 1 });
});

test("several series of which none is this market's give nothing rather than another one's prices", () => {
  const { prices, dropped } = read("history-array-per-child-iso", { ...QUERY, titles: ["Driver C"] });
  assert.deepEqual(prices, []);
  assert.deepEqual(dropped, { history_without_series: 1 });
});
