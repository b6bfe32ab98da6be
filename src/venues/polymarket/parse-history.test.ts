import assert from "node:assert/strict";
import { test } from "node:test";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { HOUR_MS } from "../../lib/durations.ts";
import { parseHistory } from "./parse-history.ts";
import { createPolymarketDriftDetectors, isHistoryReply } from "./wire.ts";

const readFixture = fixtureReader(import.meta.url);
const driftDetectors = createPolymarketDriftDetectors(() => {});

test("converts each point (Unix seconds) to an interval that ends at its time, and drops invalid rows and the settlement price 1", () => {
  const reply = readFixture("history/prices");
  assert.ok(isHistoryReply(reply));
  const { drops, countDrop } = countDrops();
  const points = parseHistory(reply.history, HOUR_MS, { countDrop, driftDetectors });
  assert.deepEqual(
    points.map((point) => [point.startAt, point.endAt, point.yesPrice]),
    [
      [1795216800000, 1795220400000, 0.41],
      [1795220400000, 1795224000000, 0.425],
      [1795227600000, 1795231200000, 0.44],
    ],
  );
  assert.ok(points.every((point) => point.bid === null && point.ask === null && point.volumeUsd === null));
  assert.deepEqual(drops, { price_out_of_range: 1, bad_row: 1 });
});

test("assigns samples taken some seconds after a minute to that minute, also if numbers are sent as text", () => {
  const { countDrop } = countDrops();
  const seconds = [1795220404, 1795220478, 1795220523, 1795220529];
  const rows = seconds.map((t, index) => ({ t: String(t), p: `0.41${index}` }));
  const points = parseHistory(rows, 60_000, { countDrop, driftDetectors });
  assert.deepEqual(
    points.map(({ startAt, endAt, yesPrice }) => [startAt / 1000, endAt / 1000, yesPrice]),
    [
      [1795220340, 1795220400, 0.41],
      [1795220400, 1795220460, 0.411],
      [1795220460, 1795220520, 0.413],
    ],
  );
});
