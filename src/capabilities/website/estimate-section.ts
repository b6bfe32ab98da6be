import { type Html, html } from "../../http/html/index.ts";
import type { CurrentAnalysis } from "../analyses/index.ts";
import { formatDateTime } from "./format.ts";

/** Bars are at least this wide, in percent of the axis, so that a small step is visible. */
const BAR_WIDTH_MIN = 0.4;

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;

/** Difference of two probabilities in points, with its sign. */
function points(difference: number): string {
  const tenths = Math.round(1_000 * difference);
  const sign = tenths > 0 ? "+" : tenths < 0 ? "−" : "";
  return `${sign}${(Math.abs(tenths) / 10).toFixed(1)}`;
}

/**
 * Shows our estimate: its interval on an axis with the price, then one bar per factor from the probability
 * before it to the one after it (a waterfall). The figures are also in the text.
 */
export function renderEstimate(stored: CurrentAnalysis): Html {
  const { analysis } = stored.result;
  const { probability, marketPrice, interval, factors, summary } = analysis;
  const axis = axisOf([
    interval.low,
    interval.high,
    marketPrice,
    ...factors.flatMap((step) => [step.prior, step.posterior]),
  ]);
  const kind = stored.type === "full" ? "with research" : "from market data";
  return html`<section class="estimate" aria-labelledby="estimate-title">
<h2 id="estimate-title">Our estimate</h2>
<p class="headline"><strong>${percent(probability)}</strong> Yes <span class="faint">80% interval ${percent(interval.low)} to ${percent(interval.high)}, price ${percent(marketPrice)}</span></p>
${renderBar(axis, interval.low, interval.high, "interval", probability)}
<p>${summary}</p>
<ol class="factors">
${factors.map(
  ({
    claim,
    prior,
    posterior,
  }) => html`<li class="factor"><span>${claim}</span> <strong>${points(posterior - prior)}</strong>
${renderBar(axis, prior, posterior, posterior >= prior ? "up" : "down", posterior)}</li>`,
)}
</ol>
<p class="small faint">Analysed ${kind} on ${formatDateTime(stored.analysedAt)}, ${stored.freshness}, at the price of ${formatDateTime(stored.at)}. Axis: ${percent(axis.low)} to ${percent(axis.high)}. <a href="/docs/analyses">How it is computed</a></p>
</section>`;
}

interface Axis {
  readonly low: number;
  readonly high: number;
}

/** The range of the values, widened to whole 5%. */
function axisOf(values: readonly number[]): Axis {
  const low = Math.floor(20 * Math.min(...values)) / 20;
  const high = Math.ceil(20 * Math.max(...values)) / 20;
  return low === high ? { low: Math.max(0, low - 0.05), high: Math.min(1, high + 0.05) } : { low, high };
}

/** A bar between two probabilities, with a mark at one of them. */
function renderBar({ low, high }: Axis, from: number, to: number, name: string, mark: number): Html {
  const xOf = (value: number) => Math.round((1_000 * 100 * (value - low)) / (high - low)) / 1_000;
  const [left, right] = [xOf(Math.min(from, to)), xOf(Math.max(from, to))];
  const width = Math.max(BAR_WIDTH_MIN, Math.round(1_000 * (right - left)) / 1_000);
  return html`<svg class="bar ${name}" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="track" x="0" y="2.5" width="100" height="1"/><rect class="range" x="${Math.min(left, 100 - width)}" y="0.5" width="${width}" height="5"/><rect class="mark" x="${Math.min(99.6, xOf(mark))}" y="0" width="0.4" height="6"/></svg>`;
}
