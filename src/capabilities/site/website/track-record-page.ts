import { type Html, html, type Page } from "../../../http/html/index.ts";
import { SKILL_QUESTIONS_MIN } from "../../../quant/calibration.ts";
import type { Calibration, Horizon } from "../../analysis/calibration/index.ts";
import { hasSkillFigures, type PerformanceReport } from "../../strategy/track-record/index.ts";
import {
  formatDateTime,
  formatInteger,
  formatProfit,
  formatScore,
  formatScoreChange,
  formatShare,
  ROUNDING_ERROR,
} from "./format.ts";
import { monthlyProfitRows, renderProfitChart } from "./profit-chart.ts";
import { reliabilityRows, renderReliability } from "./reliability-diagram.ts";
import { WEBSITE_STYLES } from "./styles.ts";

/** With fewer independent questions, the page warns that the figures are uncertain. */
const QUESTIONS_FEW = 200;

/** Performance of the shadow book. */
export type ShownPerformance = Pick<PerformanceReport, "performance" | "days" | "questions" | "scheduled">;

export interface TrackRecordView {
  /** Null if it cannot be read at present. */
  readonly calibration: Calibration | null;
  /** Null if it cannot be read at present. */
  readonly performance: ShownPerformance | null;
  readonly isSandbox: boolean;
}

const HORIZON_NAMES: Readonly<Record<Horizon, string>> = {
  under_24h: "Under 24 hours",
  "1d_7d": "1 to 7 days",
  "7d_30d": "7 to 30 days",
  "30d_90d": "30 to 90 days",
  over_90d: "Over 90 days",
};

const UNAVAILABLE = "These figures are not available at the moment. Reload this page in a few seconds.";

export function createTrackRecordPage({ calibration, performance, isSandbox }: TrackRecordView): Page {
  return {
    title: "Track record",
    description:
      "How the probabilities of Parallax compare with the results of settled markets and with the prices at the same times, and what its signals would have earned.",
    path: "/track-record",
    section: "track-record",
    head: WEBSITE_STYLES,
    body: html`<p class="lead">We compare every probability with the result of its market, and with the price at the same time. A probability is useful only if it is better than the price.</p>
${isSandbox ? html`<p class="faint">This server is a sandbox. Its markets and results are simulated, so these figures say nothing about real markets.</p>` : null}
${calibration === null ? html`<section><h2>Probabilities</h2><p>${UNAVAILABLE}</p></section>` : renderProbabilities(calibration)}
${renderPerformance(performance)}
${renderMethod()}`,
  };
}

function renderProbabilities(calibration: Calibration): Html {
  const { sampleSize, markets, questions } = calibration.total;
  if (sampleSize === 0) return renderEmpty();
  if (questions >= SKILL_QUESTIONS_MIN) return renderCalibration(calibration);
  return html`<section class="notice">
<h2>Probabilities against prices</h2>
<p>${countOf(sampleSize, "forecast")} of ${countOf(markets, "settled market")}: ${countOf(questions, "independent question")}. ${REQUIREMENT}</p>
</section>`;
}

const REQUIREMENT = `Figures are shown from ${SKILL_QUESTIONS_MIN} independent questions on, because fewer cannot tell skill from chance. Markets of one event, and markets that are matched at different venues, are one question.`;

const renderEmpty = (): Html => html`<section class="notice">
<h2>No settled markets yet</h2>
<p>No market that we analysed has been settled yet. The scores appear here as soon as the first result is known.</p>
</section>`;

function renderCalibration(calibration: Calibration): Html {
  const { total, brierDifference, bins, byHorizon, byCategory, generatedAt } = calibration;
  return html`<section aria-labelledby="scores-title">
<h2 id="scores-title">Probabilities against prices</h2>
<dl class="figures">
${renderFigure("Forecasts", formatInteger(total.sampleSize), `of ${countOf(total.markets, "settled market")}, ${countOf(total.questions, "independent question")}`)}
${renderFigure("Brier score", formatScore(total.brierScore), `price: ${formatScore(total.marketBrierScore)}`)}
${renderFigure("Brier difference", formatScoreChange(brierDifference?.value ?? null), describeInterval(brierDifference))}
${renderFigure("Brier skill", formatShare(total.brierSkillScore), "improvement over the price’s score")}
${renderFigure("Log loss", formatScore(total.logLoss), `price: ${formatScore(total.marketLogLoss)}`)}
${renderFigure("Calibration error", formatShare(total.expectedCalibrationError), "mean distance to the diagonal")}
</dl>
<p>${interpretDifference(brierDifference)} For Brier score and log loss, lower is better.</p>
${total.questions < QUESTIONS_FEW ? html`<p class="warn">The sample has only ${countOf(total.questions, "independent question")}. All figures on this page are uncertain.</p>` : null}
<p class="small faint">Computed at ${formatDateTime(generatedAt)} from all settled markets. The same figures are in the API: <code>GET /v1/calibration</code>.</p>
</section>
<div class="columns">
<section aria-labelledby="reliability-title">
<h2 id="reliability-title">Reliability</h2>
${renderReliability(bins)}
<details><summary>Table of the diagram</summary>
${renderNumberTable(["Range", "n", "Mean", "YES", "95% interval"], reliabilityRows(bins))}
</details>
</section>
<section aria-labelledby="horizon-title">
<h2 id="horizon-title">By time to resolution</h2>
${renderScoreTable(
  "Horizon",
  byHorizon.map((scores) => ({ name: HORIZON_NAMES[scores.horizon], ...scores })),
)}
<h2>By category</h2>
${renderScoreTable(
  "Category",
  byCategory.map((scores) => ({ name: scores.category ?? "Unknown", ...scores })),
)}
</section>
</div>`;
}

const countOf = (count: number, noun: string): string => `${formatInteger(count)} ${noun}${count === 1 ? "" : "s"}`;

const renderFigure = (name: string, value: string, note: string): Html =>
  html`<div><dt>${name}</dt><dd><strong>${value}</strong> <span class="small faint">${note}</span></dd></div>`;

function describeInterval(difference: Calibration["brierDifference"]): string {
  if (difference === null || difference.low === null || difference.high === null) return "the interval is unknown";
  return `95% interval ${formatScoreChange(difference.low)} to ${formatScoreChange(difference.high)}`;
}

/** Returns a sentence that interprets the difference of the Brier scores. The bounds are not rounded. */
function interpretDifference(difference: Calibration["brierDifference"]): string {
  if (difference === null || difference.low === null || difference.high === null)
    return "The sample cannot show whether our probabilities are better than the price.";
  if (difference.high < -ROUNDING_ERROR)
    return "Our probabilities were better than the price: the whole interval is below 0.";
  if (difference.low > ROUNDING_ERROR)
    return "Our probabilities were worse than the price: the whole interval is above 0.";
  return "The interval contains 0, so this sample does not show whether our probabilities are better than the price.";
}

interface ScoreRow {
  readonly name: string;
  readonly sampleSize: number;
  readonly brierScore: number | null;
  readonly marketBrierScore: number | null;
}

const renderScoreTable = (firstColumn: string, rows: readonly ScoreRow[]): Html =>
  renderNumberTable(
    [firstColumn, "n", "Brier", "Brier of price"],
    rows.map(({ name, sampleSize, brierScore, marketBrierScore }) => [
      name,
      formatInteger(sampleSize),
      formatScore(brierScore),
      formatScore(marketBrierScore),
    ]),
  );

/** Renders a table with few narrow columns, which keeps its layout on narrow screens. */
const renderNumberTable = (columns: readonly string[], rows: readonly (readonly string[])[]): Html =>
  html`<table class="scores" role="table">
<thead role="rowgroup"><tr role="row">${columns.map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows.map((cells) => html`<tr role="row">${cells.map((cell) => html`<td role="cell">${cell}</td>`)}</tr>`)}
</tbody>
</table>`;

function renderPerformance(shown: ShownPerformance | null): Html {
  return html`<section aria-labelledby="performance-title">
<h2 id="performance-title">Shadow book</h2>
<p>Every signal to buy is entered into a book of imaginary trades, at the price that the order book offered then, fees included. No trade can be removed. Open trades are valued at the last price on every day, today included.</p>
${shown === null ? html`<p>${UNAVAILABLE}</p>` : renderBook(shown)}
</section>`;
}

function renderBook(shown: ShownPerformance): Html {
  const { performance, days, questions = 0 } = shown;
  if (performance.totalTrades === 0) return html`<p>No signal has been entered yet.</p>`;
  if (!hasSkillFigures(shown))
    return html`<p>${countOf(performance.totalTrades, "trade")}, ${formatInteger(performance.resolvedTrades)} resolved: ${countOf(questions, "independent question")}. ${REQUIREMENT}</p>`;
  const { maxDrawdownUsd, sharpeRatio } = performance;
  return html`${renderProfitChart(days)}
<dl class="figures">
${renderTradeFigures({ ...performance, questions })}
${renderFigure("Largest decline", formatProfit(maxDrawdownUsd), "from an earlier maximum")}
${renderFigure("Sharpe ratio", sharpeRatio === null ? "–" : sharpeRatio.toFixed(2), sharpeRatio === null ? "needs 30 days" : "of daily profits, per year")}
</dl>
${questions < QUESTIONS_FEW ? html`<p class="warn">Only ${countOf(questions, "independent question")} ${questions === 1 ? "is" : "are"} resolved. That is too few to tell skill from chance.</p>` : null}
${renderScheduled(shown)}
<details><summary>Table by month</summary>
${renderNumberTable(["Month", "Profit", "Entered", "Resolved", "Won"], monthlyProfitRows(days))}
</details>`;
}

/** Renders the figures of all shadow trades, or only of those without a request. */
function renderTradeFigures(figures: Omit<NonNullable<ShownPerformance["scheduled"]>, "markets">): Html {
  const { totalTrades, resolvedTrades, questions, totalPnlUsd, roiPct, winRate, averageEdge } = figures;
  return html`${renderFigure("Trades", formatInteger(totalTrades), `${formatInteger(resolvedTrades)} resolved, ${countOf(questions, "independent question")}`)}
${renderFigure("Profit or loss", formatProfit(totalPnlUsd), "open trades at their last price")}
${renderFigure("Return", formatShare(roiPct === null ? null : roiPct / 100), "of the cost of resolved trades")}
${renderFigure("Won", formatShare(winRate), "of resolved trades")}
${renderFigure("Mean edge", formatShare(averageEdge), "expected at the entry, after fees")}`;
}

/** Renders the figures of the trades without a request. */
function renderScheduled({ scheduled }: ShownPerformance): Html | null {
  if (scheduled === undefined) return null;
  const { totalTrades, resolvedTrades, questions } = scheduled;
  const counts = `${countOf(totalTrades, "trade")}, ${formatInteger(resolvedTrades)} resolved, ${countOf(questions, "independent question")}`;
  return html`<h3>Without requested signals</h3>
<p>Trades that exist because a customer requested a signal or an analysis are left out here, because the choice of the customer is part of their result.</p>
${
  hasSkillFigures(scheduled)
    ? html`<dl class="figures">
${renderTradeFigures(scheduled)}
</dl>`
    : html`<p>${counts}. ${REQUIREMENT}</p>`
}`;
}

const renderMethod = (): Html => html`<section aria-labelledby="method-title">
<h2 id="method-title">What is counted</h2>
<ul>
<li>For each settled market and each time to resolution, the latest analysis counts, even without a recommendation.</li>
<li>A job analyses the most liquid markets every hour, so the sample does not depend on the requests of customers.</li>
<li>The price is the market’s price at the time of the analysis.</li>
<li>A market that was settled in part counts with its payout. If a venue corrects a result, the corrected result counts.</li>
</ul>
<h3>What is not counted</h3>
<ul>
<li>Analyses made at or after the resolution, because the result could be known.</li>
<li>Markets that are still open, and void markets whose stakes were refunded.</li>
<li>Analyses older than 400 days, because they are deleted.</li>
</ul>
<h3>How to read it</h3>
<ul>
<li>The Brier score is the mean squared distance of a probability to the result. A constant 50% scores 0.25.</li>
<li>Forecasts of one question share its result. For that reason, intervals count each independent question as one observation: the markets of one event, and markets that are matched at different venues.</li>
<li>Past results do not predict future ones. Nothing here is financial advice.</li>
</ul>
</section>`;
