import type { BoardMarket } from "../../../board/index.ts";
import { type Html, html, renderCode } from "../../../http/html/index.ts";
import { type FormSecrets, renderHiddenFields } from "../../accounts/account-pages/index.ts";
import type { AnalysisRun, CurrentAnalysis } from "../../analysis/analyses/index.ts";
import { formatDateTime, formatShare } from "./format.ts";
import { writeCurl } from "./landing-page.ts";
import { ANALYSE_PATH_SUFFIX, buildMarketPath, ESTIMATE_SECTION_ID } from "./market-table.ts";

export interface EstimateView {
  readonly market: BoardMarket;
  /** The latest analysis; null if there is none, "unavailable" if it cannot be read. */
  readonly analysis: CurrentAnalysis | "unavailable" | null;
  /** The run that the section reports: the running one, or else the visitor's; null if there is none. */
  readonly run: AnalysisRun | null;
  /** Secrets of the form that starts an analysis; null unless the visitor is signed in. */
  readonly form: FormSecrets | null;
  /** Why the submitted form started no analysis; null if none was submitted. */
  readonly refusal: Html | null;
  readonly origin: string;
  readonly demoKey: string | null;
}

/** Returns the analysis whose estimate the page shows; null if there is none. An expired estimate is not shown. */
const findShown = ({ analysis }: Pick<EstimateView, "analysis">): CurrentAnalysis | null =>
  analysis === null || analysis === "unavailable" || analysis.freshness === "expired" ? null : analysis;

/** Whether the page offers to start an analysis. */
export const offersAnalysis = (view: Pick<EstimateView, "market" | "analysis" | "run">): boolean =>
  findShown(view) === null &&
  view.analysis !== "unavailable" &&
  view.run?.status !== "running" &&
  view.market.listing.status === "active" &&
  view.market.yesPrice !== null;

/** Renders the estimate or, without one, the reason and the form that starts an analysis. */
export function renderEstimateSection(view: EstimateView): Html {
  const shown = findShown(view);
  return html`<section class="estimate" id="${ESTIMATE_SECTION_ID}" aria-labelledby="estimate-title">
<h2 id="estimate-title">Our estimate</h2>
${view.refusal === null ? null : html`<p class="warn" role="alert">${view.refusal}</p>`}
${renderRun(view.run)}
${shown === null ? renderMissing(view) : renderEstimate(shown)}
</section>`;
}

function renderRun(run: AnalysisRun | null): Html | null {
  const since = formatDateTime(run?.requestedAt ?? null);
  if (run?.status === "running")
    return html`<p role="status">An analysis of this market has been running since ${since}. This page reloads itself and shows the estimate when the analysis is complete.</p>`;
  if (run?.status === "error")
    return html`<p class="warn" role="alert">The analysis requested on ${since} has ended without a result. ${run.errorMessage ?? ""}</p>`;
  return null;
}

function renderMissing(view: EstimateView): Html {
  const isRunning = view.run?.status === "running";
  return html`${isRunning && view.analysis === null ? null : html`<p>${describeMissing(view)}</p>`}
${offersAnalysis(view) ? renderOffer(view) : null}`;
}

function describeMissing({ analysis, market: { listing, yesPrice } }: EstimateView): string {
  if (analysis === "unavailable")
    return "The estimate is not available at the moment. Reload this page in a few seconds.";
  if (listing.status !== "active") return "Trading has ended, so no estimate is made any more.";
  if (yesPrice === null) return "The market has no price at present. An estimate starts from the price.";
  if (analysis !== null)
    return `The last analysis, of ${formatDateTime(analysis.analysedAt)}, has expired: its estimate says nothing about the price of now.`;
  return "Nobody has analysed this market yet. The service analyses the most traded markets by itself.";
}

function renderOffer({ market, form, origin, demoKey }: EstimateView): Html {
  const path = buildMarketPath(market);
  const howTo = html`<a href="/docs/analyses">How it is computed</a>`;
  if (form !== null)
    return html`<form method="post" action="${path}${ANALYSE_PATH_SUFFIX}#${ESTIMATE_SECTION_ID}">
${renderHiddenFields(form)}
<p class="actions"><button type="submit">Analyse this market</button></p>
</form>
<p class="small faint">An analysis counts as one call of your INSIGHT quota. The estimate appears here when it is complete. ${howTo}</p>`;
  const request = writeCurl(`${origin}/v1${path}/analyze`, demoKey).replace("curl ", "curl -X POST ");
  return html`<h3>Analyse this market</h3>
<p><a href="/account">Sign in</a> to analyse it on this page, or send this request:</p>
${renderCode("analyse-request", request)}
<p class="small faint">${demoKey === null ? html`<a href="/account">Get an API key</a>. ` : null}The estimate appears here when the analysis is complete. ${howTo}</p>`;
}

/** Bars are at least this wide, in percent of the axis, so that a small step is visible. */
const BAR_WIDTH_MIN = 0.4;

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
function renderEstimate(stored: CurrentAnalysis): Html {
  const { analysis } = stored.result;
  const { probability, marketPrice, interval, factors, summary } = analysis;
  const axis = axisOf([
    interval.low,
    interval.high,
    marketPrice,
    ...factors.flatMap((step) => [step.prior, step.posterior]),
  ]);
  const kind = stored.type === "full" ? "with research" : "from market data";
  return html`<p class="headline"><strong>${formatShare(probability)}</strong> Yes <span class="faint">80% interval ${formatShare(interval.low)} to ${formatShare(interval.high)}, price ${formatShare(marketPrice)}</span></p>
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
<p class="small faint">Analysed ${kind} on ${formatDateTime(stored.analysedAt)}, ${stored.freshness}, at the price of ${formatDateTime(stored.at)}. Axis: ${formatShare(axis.low)} to ${formatShare(axis.high)}. <a href="/docs/analyses">How it is computed</a></p>`;
}

interface Axis {
  readonly low: number;
  readonly high: number;
}

/** The range of the values, rounded outwards to multiples of 5%. */
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
