import assert from "node:assert/strict";
import { test } from "node:test";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { HOUR_MS } from "../../lib/durations.ts";
import { parseHistory } from "./parse-history.ts";
import { createLimitlessDriftDetectors } from "./wire.ts";

const fixture = fixtureReader(import.meta.url);
const END = 1795233600000;

/** The prices of a fixture by hours before `END`. */
function parseFixture(name: string, titles = ["Driver B"]) {
  const { drops, countDrop } = countDrops();
  const points = parseHistory(fixture(name), titles, {
    countDrop,
    driftDetectors: createLimitlessDriftDetectors(() => {}),
  });
  return { prices: points.map(({ at, price }) => [(END - at) / HOUR_MS, price]), drops };
}

for (const [name, expected] of [
  [
    "history/object-milliseconds",
    [
      [2, 0.41],
      [1, 0.42],
      [0, 0.44],
    ],
  ],
  [
    "history/array-per-token",
    [
      [1, 0.42],
      [0, 0.44],
    ],
  ],
  ["history/array-per-child-iso", [[0, 0.36]]],
  [
    "history/data-seconds-percent",
    [
      [2, 0.2],
      [1, 0.009],
      [0, 0.215],
    ],
  ],
] as const) {
  test(`reads YES prices, oldest first, from ${name}`, () => {
    const { prices, drops } = parseFixture(name);
    assert.deepEqual(prices, expected);
    assert.deepEqual(drops, {});
  });
}

test("drops and counts each invalid point", () => {
  const { prices, drops } = parseFixture("history/invalid-points");
  assert.deepEqual(prices, [[1, 0.42]]);
  assert.deepEqual(drops, { bad_history_point: 3, price_out_of_range: 1 });
});

test("returns no points if none of several series belongs to the market", () => {
  const { prices, drops } = parseFixture("history/array-per-child-iso", ["Driver C"]);
  assert.deepEqual(prices, []);
  assert.deepEqual(drops, { history_without_series: 1 });
});
