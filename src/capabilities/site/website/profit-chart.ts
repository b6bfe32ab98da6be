import { type Html, html } from "../../../http/html/index.ts";
import { roundTo } from "../../../lib/numbers.ts";
import type { DayTotals } from "../../../trading/index.ts";
import { formatDate, formatProfit } from "./format.ts";

const WIDTH = 600;
const HEIGHT = 200;
const TIME_LABELS = 4;
const INTERVALS_MAX = 5;
/** Maximum number of points. More points than pixels would only make the page larger. */
const POINTS_MAX = 600;

interface Point {
  /** Unix milliseconds. */
  readonly at: number;
  /** Cumulative profit in USD. */
  readonly profit: number;
  /** Largest cumulative profit so far, at least 0. */
  readonly peak: number;
}

/**
 * Renders the cumulative profit of a portfolio and its drawdown, the distance from the largest earlier profit. Returns
 * null for fewer than two days, because a line needs two points.
 *
 * @param days  oldest first
 */
export function renderProfitChart(days: readonly DayTotals[]): Html | null {
  const points = thin(accumulate(days));
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || first === last) return null;
  const lowest = Math.min(0, ...points.map(({ profit }) => profit));
  const highest = Math.max(0, ...points.map(({ peak }) => peak));
  const scale = chooseScale(lowest, highest);
  const deepest = points.reduce((most, { profit, peak }) => Math.min(most, profit - peak), 0);
  const summary = `Cumulative profit from ${formatDate(first.at)} to ${formatDate(last.at)}: ${formatProfit(last.profit)}. Largest decline from an earlier maximum: ${formatProfit(deepest)}.`;
  const labels = Math.min(TIME_LABELS, days.length);
  const times = Array.from({ length: labels }, (_, index) => first.at + ((last.at - first.at) * index) / (labels - 1));
  const drawX = (at: number) => round(((at - first.at) / (last.at - first.at)) * WIDTH);
  const drawY = (usd: number) => round(HEIGHT - ((usd - scale.low) / (scale.high - scale.low)) * HEIGHT);
  const cornersOf = (list: readonly Point[], read: (point: Point) => number) =>
    list.map((point) => `${drawX(point.at)} ${drawY(read(point))}`).join("L");
  const line = cornersOf(points, ({ profit }) => profit);
  const drawdown = `M${cornersOf(points, ({ peak }) => peak)}L${cornersOf(points.toReversed(), ({ profit }) => profit)}Z`;
  return html`<figure class="chart profit">
<div class="plot">
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${summary}">
<title>${summary}</title>
<path class="grid" d="${scale.lines.map((usd) => `M0 ${drawY(usd)}H${WIDTH}`).join("")}" vector-effect="non-scaling-stroke"/>
<path class="zero" d="M0 ${drawY(0)}H${WIDTH}" vector-effect="non-scaling-stroke"/>
<path class="drawdown" d="${drawdown}"/>
<path class="line" d="M${line}" vector-effect="non-scaling-stroke"/>
</svg>
<div class="prices" aria-hidden="true">${scale.lines.toReversed().map((usd) => html`<span>${formatAxis(usd)}</span>`)}</div>
</div>
<div class="times" aria-hidden="true">${times.map((at) => html`<span>${formatDate(at)}</span>`)}</div>
<figcaption class="small faint">${summary} The shaded area is the decline. Days are UTC.</figcaption>
</figure>`;
}

function accumulate(days: readonly DayTotals[]): readonly Point[] {
  let profit = 0;
  let peak = 0;
  return days.map(({ date, pnlUsd }) => {
    profit += pnlUsd;
    peak = Math.max(peak, profit);
    return { at: Date.parse(date), profit, peak };
  });
}

/** Keeps the last point of each of at most `POINTS_MAX` groups of equal size. */
function thin(points: readonly Point[]): readonly Point[] {
  const step = Math.ceil(points.length / POINTS_MAX);
  return points.filter((_, index) => (points.length - 1 - index) % step === 0);
}

/** Chooses round amounts around the range, which contains 0, with at most `INTERVALS_MAX` intervals. */
function chooseScale(
  lowest: number,
  highest: number,
): { readonly low: number; readonly high: number; readonly lines: readonly number[] } {
  for (let power = 1; ; power *= 10)
    for (const factor of [1, 2, 5]) {
      const step = factor * power;
      const low = Math.floor(lowest / step);
      const high = Math.max(Math.ceil(highest / step), low + 1);
      if (high - low > INTERVALS_MAX) continue;
      const lines = Array.from({ length: high - low + 1 }, (_, index) => (low + index) * step);
      return { low: low * step, high: high * step, lines };
    }
}

const round = (value: number): number => roundTo(value, 1);
const formatAxis = (usd: number): string => formatProfit(usd).replace(/\.00$/, "");

const MONTHS_MAX = 24;

/** The figures of the chart by month, the latest first: month, profit, trades entered, resolved, won. */
export function monthlyProfitRows(days: readonly DayTotals[]): readonly (readonly string[])[] {
  const months = Map.groupBy(days, ({ date }) => date.slice(0, "YYYY-MM".length));
  return [...months]
    .toReversed()
    .slice(0, MONTHS_MAX)
    .map(([month, list]) => {
      const sum = (read: (day: DayTotals) => number) => list.reduce((total, day) => total + read(day), 0);
      const [entered, resolved, won] = [
        sum((day) => day.enteredTrades),
        sum((day) => day.resolvedTrades),
        sum((day) => day.wonTrades),
      ];
      return [month, formatProfit(sum((day) => day.pnlUsd)), String(entered), String(resolved), String(won)];
    });
}
