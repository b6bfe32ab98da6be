import { type Html, html } from "../../../http/html/index.ts";
import { roundTo } from "../../../lib/numbers.ts";
import type { CalibrationReport } from "../../analysis/calibration/index.ts";
import { formatInteger, formatShare } from "./format.ts";

/** Width and height in units of the drawing. */
const SIZE = 400;
const LABELS = [0, 0.2, 0.4, 0.6, 0.8, 1];
const DOT_RADIUS = 5;

type Bin = CalibrationReport["bins"][number];

/** A bin with forecasts. */
interface FilledBin extends Bin {
  readonly meanPredicted: number;
  readonly observedFrequency: number;
  readonly low: number;
  readonly high: number;
}

const isFilled = (bin: Bin): bin is FilledBin => bin.count > 0;

/**
 * Renders the observed frequency of each bin with forecasts over its mean probability, with 95% intervals. On the
 * diagonal, both are equal. The table below the drawing contains the same figures.
 */
export function renderReliability(bins: readonly Bin[]): Html {
  const filled = bins.filter(isFilled);
  const isOnDiagonal = ({ low, high, meanPredicted }: FilledBin) => low <= meanPredicted && meanPredicted <= high;
  const consistent = filled.filter(isOnDiagonal).length;
  const summary = `Reliability diagram: in ${consistent} of ${filled.length} ranges with forecasts, the mean probability is within the 95% interval of the observed frequency.`;
  return html`<figure class="reliability">
<div class="diagram">
<div class="prices" aria-hidden="true">${LABELS.toReversed().map((label) => html`<span>${100 * label}%</span>`)}</div>
<svg viewBox="0 0 ${SIZE} ${SIZE}" role="img" aria-label="${summary}">
<title>${summary}</title>
<path class="grid" d="${LABELS.map((label) => `M0 ${drawY(label)}H${SIZE}M${drawX(label)} 0V${SIZE}`).join("")}"/>
<path class="diagonal" d="M0 ${SIZE}L${SIZE} 0"/>
${filled.map(renderBin)}
</svg>
<div class="times" aria-hidden="true">${LABELS.map((label) => html`<span>${100 * label}%</span>`)}</div>
</div>
<figcaption class="small faint">Across: mean probability. Up: share that resolved YES. Each bar is a 95% Wilson interval, in which an independent question is one observation. On the diagonal, probability and share are equal. ${consistent} of ${filled.length} bars reach the diagonal.</figcaption>
</figure>`;
}

const round = (value: number): number => roundTo(value, 1);
const drawX = (share: number): number => round(share * SIZE);
const drawY = (share: number): number => round(SIZE - share * SIZE);

function renderBin(bin: FilledBin): Html {
  const { meanPredicted, observedFrequency, low, high } = bin;
  const x = drawX(meanPredicted);
  return html`<g class="bin">
<title>${describeBin(bin)}</title>
<path d="M${x} ${drawY(low)}V${drawY(high)}"/>
<circle cx="${x}" cy="${drawY(observedFrequency)}" r="${DOT_RADIUS}"/>
</g>`;
}

const describeBin = ({ count, meanPredicted, observedFrequency, low, high }: FilledBin): string =>
  `Mean probability ${formatShare(meanPredicted)}, observed ${formatShare(observedFrequency)}, 95% interval ${formatShare(low)} to ${formatShare(high)}, ${formatInteger(count)} forecasts`;

/** The figures of the diagram, one row per range of probabilities. */
export const reliabilityRows = (bins: readonly Bin[]): readonly (readonly string[])[] =>
  bins.map(({ lower, upper, count, meanPredicted, observedFrequency, low, high }) => [
    `${Math.round(100 * lower)}–${Math.round(100 * upper)}%`,
    formatInteger(count),
    formatShare(meanPredicted),
    formatShare(observedFrequency),
    low === null ? formatShare(null) : `${formatShare(low)}–${formatShare(high)}`,
  ]);
