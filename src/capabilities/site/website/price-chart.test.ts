import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_AT } from "../../../../test/support/markets/market-samples.ts";
import { samplePoint } from "../../../../test/support/storage-samples.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import { renderPriceChart } from "./price-chart.ts";

const pointsOf = (prices: readonly (number | null)[]) =>
  prices.map((price, index) => samplePoint(SAMPLE_AT + index * HOUR_MS, SAMPLE_AT + (index + 1) * HOUR_MS, price));
const spanOf = (hours: number, isSettled = false) => ({
  fromMs: SAMPLE_AT + HOUR_MS,
  toMs: SAMPLE_AT + hours * HOUR_MS,
  isSettled,
  name: "7 days",
});
const draw = (prices: readonly (number | null)[]) => String(renderPriceChart(pointsOf(prices), spanOf(prices.length)));
const readLine = (svg: string) => /<path class="line" d="([^"]*)"/.exec(svg)?.[1];
const readPriceLabels = (svg: string) =>
  [...(/<div class="prices"[^>]*>([\s\S]*?)<\/div>/.exec(svg)?.[1] ?? "").matchAll(/>([^<]+)</g)]
    .map((label) => label[1]?.trim())
    .filter(Boolean);

test("the line starts at the left, ends at the right, and its heights are the prices on a round scale", () => {
  const svg = draw([0.4, 0.6, 0.5]);
  assert.equal(readLine(svg), "M0 200L300 0L600 100H600");
  assert.deepEqual(readPriceLabels(svg), ["60.0¢", "55.0¢", "50.0¢", "45.0¢", "40.0¢"]);
});

test("points without a price are skipped, and without any price there is no chart", () => {
  assert.equal(readLine(draw([null, 0.4, 0.6, 0.5])), "M0 200L300 0L600 100H600");
  assert.equal(renderPriceChart(pointsOf([null]), spanOf(1)), null);
  assert.equal(renderPriceChart([], spanOf(1)), null);
});

test("a constant price is drawn between two round prices, also at the ends of the range", () => {
  assert.equal(readLine(draw([0.5, 0.5])), "M0 100L600 100H600");
  assert.deepEqual(readPriceLabels(draw([0, 0])), ["0.1¢", "0.0¢"]);
  assert.deepEqual(readPriceLabels(draw([1, 1])), ["100.0¢", "99.9¢"]);
});

test("a single known price is named instead of drawn", () => {
  for (const prices of [[0.5], [null, 0.5, null, null]])
    assert.match(
      draw(prices),
      /^<p class="faint">Only one price of the last 7 days is known: 50\.0¢ on Nov 21, 0\d:00 UTC\.<\/p>$/,
    );
});

test("a chart within one day labels each minute once, without the date", () => {
  const points = pointsOf([0.4, 0.6]);
  const labelsOf = (toMs: number) =>
    [...String(renderPriceChart(points, { ...spanOf(0), toMs })).matchAll(/<span>(\d\d:\d\d)<\/span>/g)].map(
      (label) => label[1],
    );
  assert.deepEqual(labelsOf(SAMPLE_AT + 2.5 * HOUR_MS), ["01:00", "01:30", "02:00", "02:30"]);
  assert.deepEqual(labelsOf(SAMPLE_AT + HOUR_MS + 60_000), ["01:00", "01:01"]);
});

test("every range has two to five labels, and all coordinates are inside the drawing", () => {
  for (let low = 0; low < 1; low += 0.037)
    for (let high = low; high <= 1; high += 0.041) {
      const svg = draw([low, high]);
      const labels = readPriceLabels(svg);
      assert.ok(labels.length >= 2 && labels.length <= 5, `${low} to ${high}: ${labels.join()}`);
      for (const [, x = "", y = ""] of (readLine(svg) ?? "").matchAll(/[ML]([\d.e-]+) ([\d.e-]+)/g))
        assert.ok(Number(x) >= 0 && Number(x) <= 600 && Number(y) >= 0 && Number(y) <= 200, `${x} ${y}`);
    }
});

test("the text alternative names the first, last, lowest and highest price", () => {
  assert.match(
    draw([0.4, 0.35, 0.6, 0.5]),
    /aria-label="Yes price over 7 days: from 40\.0¢ to 50\.0¢ \(\+10\.0¢\), lowest 35\.0¢, highest 60\.0¢\."/,
  );
});

test("the axis ends now although the last interval of the history has not ended, and the line ends at the last price", () => {
  const svg = String(renderPriceChart(pointsOf([0.4, 0.6, 0.5]), { ...spanOf(0), toMs: SAMPLE_AT + 2.5 * HOUR_MS }));
  assert.equal(readLine(svg), "M0 200L400 0L600 100H600");
  assert.match(svg, /<span>01:00<\/span>[\s\S]*<span>02:30<\/span>\s*<\/div>/);
  const gap = String(renderPriceChart(pointsOf([0.4, 0.6, null]), spanOf(3)));
  assert.equal(readLine(gap), "M0 200L300 0H300");
});

test("the chart stops at the settlement", () => {
  const svg = String(renderPriceChart(pointsOf([0.4, 0.6, 0.5, 0.99]), spanOf(2, true)));
  assert.equal(readLine(svg), "M0 200L600 0H600");
  assert.match(svg, /Yes price since Nov 21, 01:00 until the settlement on Nov 21, 02:00: from 40\.0¢ to 60\.0¢/);
  const late = String(renderPriceChart(pointsOf([null, 0.4, 0.6, 0.5]), spanOf(3, true)));
  assert.match(
    late,
    /Yes price since Nov 21, 02:00, before which no price is known, until the settlement on Nov 21, 03:00: from/,
  );
});

test("the text says if the first price is later than the beginning of the period", () => {
  const svg = draw([null, null, 0.4, 0.6]);
  assert.match(svg, /Yes price since Nov 21, 03:00, before which no price is known: from/);
});
