import { type Html, html } from "../../../http/html/index.ts";
import { roundTo, sumOf } from "../../../lib/numbers.ts";
import { formatShortDay } from "./format.ts";
import { formatInteger } from "./tier-endpoints.ts";

/** Size of the drawing in its own units; the stylesheet stretches it to the width of the page. */
const HEIGHT = 100;
const DAY_WIDTH = 10;
const BAR_WIDTH = 8;

/** Calls per day of one key, or of all keys that share a colour. */
export interface ChartSeries {
  readonly name: string;
  readonly calls: readonly number[];
}

/**
 * Renders stacked bars, one per day, without a script. The text is outside of the drawing, so that it stays readable on
 * narrow screens.
 *
 * @param days  for example "2026-11-22", oldest first
 * @param series  at most six
 */
export function renderUsageChart(days: readonly string[], series: readonly ChartSeries[]): Html {
  const totals = days.map((_, index) => series.reduce((sum, { calls }) => sum + (calls[index] ?? 0), 0));
  const scaleMax = roundUp(Math.max(...totals, 1));
  const [first = "", last = ""] = [days[0], days.at(-1)];
  return html`<div class="chart">
<div class="scale" aria-hidden="true"><span>${formatInteger(scaleMax)}</span><span>${formatInteger(scaleMax / 2)}</span><span>0</span></div>
<svg viewBox="0 0 ${days.length * DAY_WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${describeChart(days, totals)}">
${[0, 0.5, 1].map((share) => html`<line x1="0" x2="${days.length * DAY_WIDTH}" y1="${share * HEIGHT}" y2="${share * HEIGHT}" />`)}
${days.map((day, index) => renderBar(day, index, series, scaleMax))}
</svg>
<div class="days" aria-hidden="true"><span>${formatShortDay(first)}</span><span>${formatShortDay(days[Math.floor(days.length / 2)] ?? "")}</span><span>${formatShortDay(last)}</span></div>
</div>
<ul class="legend">
${series.map(({ name, calls }, index) => html`<li><svg viewBox="0 0 1 1" aria-hidden="true"><rect class="s${index}" width="1" height="1" /></svg>${name} <span class="faint">${formatInteger(sumOf(calls))}</span></li>`)}
</ul>`;
}

function renderBar(day: string, index: number, series: readonly ChartSeries[], scaleMax: number): Html {
  let top = HEIGHT;
  const parts = series.map(({ name, calls }, seriesIndex) => {
    const count = calls[index] ?? 0;
    if (count === 0) return null;
    const height = (count / scaleMax) * HEIGHT;
    top -= height;
    const x = index * DAY_WIDTH + (DAY_WIDTH - BAR_WIDTH) / 2;
    return html`<rect class="s${seriesIndex}" x="${x}" y="${round(top)}" width="${BAR_WIDTH}" height="${round(height)}"><title>${formatShortDay(day)}, ${name}: ${formatInteger(count)}</title></rect>`;
  });
  return html`${parts.filter((part) => part !== null)}`;
}

function describeChart(days: readonly string[], totals: readonly number[]): string {
  const busiest = totals.indexOf(Math.max(...totals));
  const range = `Calls per day from ${days[0]} to ${days.at(-1)}: ${formatInteger(sumOf(totals))} in total`;
  return `${range}, at most ${formatInteger(totals[busiest] ?? 0)} on ${days[busiest]}.`;
}

/** Rounds up to 2, 4 or 10 times a power of ten, so that half of it, the middle label, is round as well. */
function roundUp(value: number): number {
  for (let power = 1; ; power *= 10)
    for (const factor of [2, 4, 10]) if (value <= factor * power) return factor * power;
}

const round = (value: number): number => roundTo(value, 3);
