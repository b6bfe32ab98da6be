import { fromMicros, toMicros } from "../../../domain/price.ts";
import type { HistoryPoint } from "../../../domain/trade.ts";
import { type Html, html } from "../../../http/html/index.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import { roundTo } from "../../../lib/numbers.ts";
import { formatChange, formatDate, formatMinute, formatPrice, formatTime } from "./format.ts";

const WIDTH = 600;
const HEIGHT = 200;
const TIME_LABELS = 4;
const INTERVALS_MAX = 4;
const MICROS_MAX = 1_000_000;
/** Possible distances of the horizontal lines: 0.1 to 25 cents, in micros. */
const STEPS_MICROS = [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 250_000];

/** If the first known price is later than this share of the span, the text contains its time. */
const PARTIAL_SHARE = 0.05;

/** The time that a chart covers, in Unix milliseconds. */
export interface ChartSpan {
  readonly fromMs: number;
  /** Now, or the time of the settlement. */
  readonly toMs: number;
  readonly isSettled: boolean;
  /** For example "7 days". */
  readonly name: string;
}

interface PricePoint {
  readonly at: number;
  readonly micros: number;
}

/**
 * Renders the price history as SVG, with its labels as text beside it, because text in a stretched SVG would be
 * unreadable on narrow screens. The caption has the same information in words. A single known price is given as text
 * only. Returns null without a known price.
 *
 * The axis begins at the first known price of the span and ends at the end of the span. The line ends at the last known
 * price.
 *
 * @param points  oldest first
 */
export function renderPriceChart(points: readonly HistoryPoint[], span: ChartSpan): Html | null {
  const prices = points.flatMap(({ startAt, endAt, yesPrice }): PricePoint[] =>
    // The last interval of a history may end in the future.
    yesPrice === null || startAt >= span.toMs || endAt < span.fromMs
      ? []
      : [{ at: Math.min(endAt, span.toMs), micros: toMicros(yesPrice) }],
  );
  const [first, last] = [prices[0], prices.at(-1)];
  if (first === undefined || last === undefined) return null;
  if (first === last)
    return html`<p class="faint">Only one price of the last ${span.name} is known: ${formatPrice(fromMicros(first.micros))} on ${formatMinute(first.at)} UTC.</p>`;
  const values = prices.map(({ micros }) => micros);
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  const scale = chooseScale(lowest, highest);
  const duration = span.toMs - first.at;
  const isOneDay = formatDate(first.at) === formatDate(span.toMs);
  const labelTime = duration > 3 * DAY_MS ? formatDay : isOneDay ? formatTime : formatMinute;
  const times = Array.from({ length: TIME_LABELS }, (_, index) => first.at + (duration * index) / (TIME_LABELS - 1));
  const price = (micros: number) => formatPrice(fromMicros(micros));
  const summary = `Yes price ${describeSpan(span, first.at)}: from ${price(first.micros)} to ${price(last.micros)} (${formatChange(fromMicros(last.micros - first.micros))}), lowest ${price(lowest)}, highest ${price(highest)}.`;
  return html`<figure class="chart">
<div class="plot">
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${summary}">
<path class="grid" d="${drawGrid(scale)}" vector-effect="non-scaling-stroke"/>
${renderLine(prices, scale, span.toMs)}
</svg>
<div class="prices" aria-hidden="true">${scale.lines.toReversed().map((micros) => html`<span>${price(micros)}</span>`)}</div>
</div>
<div class="times" aria-hidden="true">${[...new Set(times.map(labelTime))].map((label) => html`<span>${label}</span>`)}</div>
<figcaption class="small faint">${summary} Times are UTC.</figcaption>
</figure>`;
}

/**
 * Describes the period of the chart. For a settled market it is shorter than the chosen one, so it contains the start.
 */
function describeSpan({ fromMs, toMs, isSettled, name }: ChartSpan, firstAt: number): string {
  const isPartial = firstAt - fromMs > PARTIAL_SHARE * (toMs - fromMs);
  if (!isPartial && !isSettled) return `over ${name}`;
  const since = `since ${formatMinute(firstAt)}${isPartial ? ", before which no price is known" : ""}`;
  return isSettled ? `${since}${isPartial ? "," : ""} until the settlement on ${formatMinute(toMs)}` : since;
}

interface Scale {
  readonly low: number;
  readonly high: number;
  /** Prices of the horizontal lines in micros, ascending. */
  readonly lines: readonly number[];
}

/** Chooses round prices around the range with at most `INTERVALS_MAX` intervals. */
function chooseScale(lowest: number, highest: number): Scale {
  for (const step of STEPS_MICROS) {
    let low = Math.floor(lowest / step) * step;
    let high = Math.ceil(highest / step) * step;
    if (low === high) {
      low = Math.max(0, low - step);
      high = Math.min(MICROS_MAX, high + step);
    }
    const intervals = Math.round((high - low) / step);
    if (intervals <= INTERVALS_MAX)
      return { low, high, lines: Array.from({ length: intervals + 1 }, (_, index) => low + index * step) };
  }
  return { low: 0, high: MICROS_MAX, lines: [0, MICROS_MAX / 2, MICROS_MAX] };
}

const round = (value: number): number => roundTo(value, 1);

const drawY = (micros: number, { low, high }: Scale): number =>
  round(HEIGHT - ((micros - low) / (high - low)) * HEIGHT);

const drawGrid = (scale: Scale): string => scale.lines.map((micros) => `M0 ${drawY(micros, scale)}H${WIDTH}`).join("");

function renderLine(prices: readonly PricePoint[], scale: Scale, endAt: number): Html {
  const startAt = prices[0]?.at ?? 0;
  const duration = endAt - startAt;
  const drawX = (at: number) => round(((at - startAt) / duration) * WIDTH);
  const corners = prices.map(({ at, micros }) => `${drawX(at)} ${drawY(micros, scale)}`);
  const line = `M${corners.join("L")}H${drawX(prices.at(-1)?.at ?? endAt)}`;
  return html`<path class="area" d="${line}V${HEIGHT}H0Z"/>
<path class="line" d="${line}" vector-effect="non-scaling-stroke"/>`;
}

/** @example "Nov 15" */
const formatDay = (unixMs: number): string => formatDate(unixMs).replace(/, \d+$/, "");
