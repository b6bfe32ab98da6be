import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { createStartupProgress, describeFirstSweeps } from "./progress.ts";

test("a step is printed when it begins and every two seconds until the next one begins or the start ends", async () => {
  const clock = new FakeClock();
  const lines: string[] = [];
  const { begin, end } = createStartupProgress({ clock, print: (text) => lines.push(text.trim()) });
  let rows = 0;
  begin("Opening the store");
  await clock.advance(4_000);
  begin("Reading the markets", () => (rows === 0 ? "" : `${rows} rows`));
  await clock.advance(1_999);
  rows = 7;
  await clock.advance(1);
  end();
  await clock.advance(10_000);
  assert.deepEqual(lines, [
    "Opening the store …",
    "Opening the store … 2 s",
    "Opening the store … 4 s",
    "Reading the markets …",
    "Reading the markets … 2 s (7 rows)",
  ]);
});

test("the progress of the first sweeps names rows, their total if the venue reports it, and markets at the end", () => {
  const sweep = { rows: 40, total: null, completed: 0, incomplete: 0 };
  const text = describeFirstSweeps({
    alpha: { markets: 0, sweep },
    beta: { markets: 0, sweep: { ...sweep, total: 90 } },
    gamma: { markets: 12, sweep: { ...sweep, completed: 1 } },
  });
  assert.equal(text, "alpha 40 rows, beta 40 of 90 rows, gamma 12 markets");
});
