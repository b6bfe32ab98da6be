import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DAY_MS } from "../../../lib/durations.ts";
import type { DayTotals } from "../../../trading/index.ts";
import { monthlyProfitRows, renderProfitChart } from "./profit-chart.ts";

const daysOf = (profits: readonly number[]): DayTotals[] =>
  profits.map((pnlUsd, index) => ({
    date: new Date(Date.UTC(2025, 0, 1) + index * DAY_MS).toISOString().slice(0, 10),
    pnlUsd,
    enteredTrades: 1,
    resolvedTrades: 1,
    wonTrades: 0,
  }));
const render = (profits: readonly number[]) => String(renderProfitChart(daysOf(profits)));
const pathOf = (chart: string, name: string) => new RegExp(`<path class="${name}" d="([^"]*)"`).exec(chart)?.[1] ?? "";

test("there is no chart for fewer than two days", () => {
  assert.equal(renderProfitChart([]), null);
  assert.equal(renderProfitChart(daysOf([5])), null);
});

test("a chart of few days labels each day once", () => {
  const labelsOf = (days: number) =>
    [
      ...(
        /<div class="times"[^>]*>([\s\S]*?)<\/div>/.exec(render(Array.from({ length: days }, () => 1)))?.[1] ?? ""
      ).matchAll(/<span>([^<]*)<\/span>/g),
    ].map((match) => match[1]);
  assert.deepEqual(labelsOf(2), ["Jan 1, 2025", "Jan 2, 2025"]);
  assert.equal(labelsOf(30).length, 4);
});

test("the line is the cumulative profit, and the shaded area reaches up to the earlier peak", () => {
  // Cumulative: 10, 4, 14. The scale is 0 to 15 in steps of 5.
  const chart = render([10, -6, 10]);
  assert.equal(pathOf(chart, "line"), "M0 66.7L300 146.7L600 13.3");
  assert.equal(pathOf(chart, "drawdown"), "M0 66.7L300 66.7L600 13.3L600 13.3L300 146.7L0 66.7Z");
  assert.deepEqual([...chart.matchAll(/<span>([^<]*)<\/span>/g)].map((match) => match[1]).slice(0, 4), [
    "+$15",
    "+$10",
    "+$5",
    "$0",
  ]);
});

test("the peak is 0 if there are only losses", () => {
  const chart = render([-10, -10]);
  assert.equal(pathOf(chart, "zero"), "M0 0H600");
  assert.match(chart, /Largest decline from an earlier maximum: −\$20\.00/);
});

test("days without profit have a flat line", () => {
  assert.match(pathOf(render([0, 0]), "line"), /^M0 ([\d.]+)L600 \1$/);
  assert.doesNotMatch(render([0, 0]), /NaN|Infinity/);
});

test("for any profits, every point lies in the drawing and the number of points is bounded", () => {
  const profits = fc.array(fc.double({ min: -1e9, max: 1e9, noNaN: true }), { minLength: 2, maxLength: 3_000 });
  fc.assert(
    fc.property(profits, (list) => {
      const chart = render(list);
      const corners = [...`${pathOf(chart, "line")}${pathOf(chart, "drawdown")}`.matchAll(/([\d.-]+) ([\d.-]+)/g)];
      assert.ok(corners.length > 0 && corners.length <= 3 * 600);
      for (const [, x, y] of corners) {
        assert.ok(Number(x) >= 0 && Number(x) <= 600, `x ${x}`);
        assert.ok(Number(y) >= -0.1 && Number(y) <= 200.1, `y ${y}`);
      }
    }),
    { numRuns: 40 },
  );
});

test("the table has the latest 24 months", () => {
  const rows = monthlyProfitRows(daysOf(Array.from({ length: 900 }, () => 1)));
  assert.equal(rows.length, 24);
  assert.deepEqual(rows[0], ["2027-06", "+$19.00", "19", "19", "0"]);
});
