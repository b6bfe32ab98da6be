/** Renders the cumulative profit by day as an SVG chart. */
import { type DayTotals, sumUsd } from "../../src/trading/index.ts";
import { formatNumber } from "../report.ts";

const WIDTH = 720;
const HEIGHT = 280;
const MARGIN = { left: 70, right: 15, top: 15, bottom: 30 };
const GRID_LINES = 4;

/** Returns an HTML `figure` element; an empty string if `days` is empty. */
export function renderProfitChart(days: readonly Pick<DayTotals, "date" | "pnlUsd">[]): string {
  const first = days[0];
  const last = days.at(-1);
  if (first === undefined || last === undefined) return "";
  const totals = [0];
  for (const { pnlUsd } of days) totals.push(sumUsd([totals.at(-1) ?? 0, pnlUsd]));
  const low = Math.min(...totals);
  const range = Math.max(...totals) - low || 1;
  const x = (index: number) => MARGIN.left + (index / days.length) * (WIDTH - MARGIN.left - MARGIN.right);
  const y = (value: number) => MARGIN.top + (1 - (value - low) / range) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const points = totals.map((total, index) => `${formatNumber(x(index), 1)},${formatNumber(y(total), 1)}`).join(" ");
  const grid = Array.from({ length: GRID_LINES + 1 }, (_, line) => {
    const value = low + (line / GRID_LINES) * range;
    const height = formatNumber(y(value), 1);
    return `<line x1="${MARGIN.left}" y1="${height}" x2="${WIDTH - MARGIN.right}" y2="${height}" stroke="#d8dee6"/><text x="${MARGIN.left - 8}" y="${height}" dy="4" text-anchor="end">${formatNumber(value, 2)}</text>`;
  }).join("");
  const zero = `<line x1="${MARGIN.left}" y1="${formatNumber(y(0), 1)}" x2="${WIDTH - MARGIN.right}" y2="${formatNumber(y(0), 1)}" stroke="#8a94a3"/>`;
  const label = `Cumulative profit from ${first.date} to ${last.date}: ${formatNumber(totals.at(-1), 2)} USD`;
  return `<figure><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${label}" font-size="11" font-family="system-ui, sans-serif">
${grid}${zero}
<polyline points="${points}" fill="none" stroke="#1f5fbf" stroke-width="2"/>
<text x="${MARGIN.left}" y="${HEIGHT - 8}">${first.date}</text><text x="${WIDTH - MARGIN.right}" y="${HEIGHT - 8}" text-anchor="end">${last.date}</text>
</svg><figcaption>Cumulative profit or loss in USD after fees. Grey line: 0.</figcaption></figure>`;
}
