/** Creates docs/reports/engine.md: data, method and scores. */
import { FACTOR_NAMES } from "../../../src/engine/model.ts";
import { formatInterval, formatNumber, markdownTable, toMarkdown } from "../../report.ts";
import { describeEvaluation, describeLaterPriceScores } from "../report-text.ts";
import type { EngineData, EngineFit } from "./fit-engine.ts";
import type { RecordingFactorTest } from "./fit-recordings.ts";
import { FOLD_COUNT } from "./folds.ts";
import { RIDGE_PENALTY } from "./ridge.ts";
import type { FactorTest } from "./train.ts";

export function describeEngineFit(fit: EngineFit, data: EngineData): string {
  const { coefficients, fitted, outOfFold, tails } = fit;
  const groups = new Set(data.resolved.rows.map(({ group }) => group)).size;
  return `# How the probability engine was fitted

\`npm run fit\` writes this report and \`src/engine/coefficients.json\`. Two runs with the same data write the same files.
\`npm run evaluate -- FILE\` scores the shipped coefficients on another file.

## Data

- Resolved questions: ${data.resolved.rows.length} in ${groups} groups. Rows of a group depend on each other: the sides of a contest, the ranges
  of a measure, near-duplicates at several venues.
- Recorded quotes of the same contracts at two venues: ${data.quotes.rows.length} rows, July 2026.
- Recorded order books of one venue: ${data.depth.rows.length} rows, July 2026.

The data is not part of this repository and is not shipped. Parts of it are CC BY-SA 4.0 (ForecastBench, Forecasting Research
Institute) and parts state no licence. This repository contains only the fitted numbers.

## Method

The estimate adds up log-odds: prior plus the sum of weight × confidence × lambda over the factors
(\`src/engine/estimate.ts\`). A question is replayed at 0.25, 1, 7, 30 and 90 days before its resolution by the engine that the service
runs, over a view that contains only what was known then. Outcome, time of resolution, final volume, guessed categories
and deadlines after the end of the data are not in the view: a file of resolved questions contains a later deadline only if the
event came early.

- Weights of factors that apply to resolved questions: ridge logistic regression on confidence × lambda, with the log-odds of
  the prior as offset and without intercept. Features are standardised and the penalty is ${RIDGE_PENALTY}/2 times the sum of the squared
  weights. Weights are limited to [-1, 1].
- A factor is kept if, out of fold, it lowers the log loss by at least one standard error (by group), lowers the Brier
  score, and lowers the log loss also in the time-respecting test. Otherwise its weight is 0. The selection is repeated
  inside every fold, so the scores out of fold include its cost.
- Folds by group: ${FOLD_COUNT}. Time-respecting: eight blocks by time; a block is tested with a fit to the questions that were resolved
  before it begins, without the groups of the block.
- Shares from recordings are fitted to later prices by least squares. The shipped share is the lower end of the slope's 95%
  interval, clustered by contest or event: after a day for the prices of peers, and for an order book the smaller of the values
  after an hour and after a day. It is kept if its out-of-fold gain is at least one standard error.
- Factors to which no data applies, \`reported_consensus\` and \`research\`, keep the weight that they had. It was set by hand, and the
  interval of an estimate does not contain its uncertainty.

## Out of fold, by group

${toMarkdown(describeEvaluation(outOfFold.resolved), "###")}

### Time-respecting

All horizons together, without the first block: n ${outOfFold.byTime.n}, Brier score ${formatNumber(outOfFold.byTime.brier, 5)}, of the price
${formatNumber(outOfFold.byTime.marketBrier, 5)}, difference ${formatNumber(outOfFold.byTime.diff?.value, 5)} (${formatInterval(outOfFold.byTime.diff, 5)}).

## Later prices of the recorded quotes, out of fold by contest

${toMarkdown([describeLaterPriceScores(outOfFold.quotes.later)], "###")}

## Later prices of the recorded order books, out of fold by event

${toMarkdown([describeLaterPriceScores(outOfFold.depth.later)], "###")}

## Gain of each factor

Gain: mean log loss without the factor minus that with it, out of fold, over all rows; above 0 is better.

${describeTrials(fitted.trials)}

${describeRecordings(fit.recordingTrials)}

A change is relative to the squared error of the price; below 0 is better. \`microprice\` moves the prior; the slope of \`cross_venue\` is
the share of the gap that closes within a day. Momentum is fitted to resolved questions; its line for the recording is a check.

Leadership: share of the gap to a peer that a price is expected to close.

${markdownTable(
  ["venue", "peer", "own slope", "standard error", "shipped share"],
  fit.leadership.pairs.map(({ venue, peer, slope, share }) => [
    venue,
    peer,
    formatNumber(slope.value, 3),
    formatNumber(slope.error, 3),
    formatNumber(share, 2),
  ]),
)}

The pairs do not differ by more than chance, so each is close to the share of all, ${formatNumber(fit.leadership.pooled.value, 3)} ± ${formatNumber(fit.leadership.pooled.error, 3)}, of which the
lower end of the 95% interval is used. Other pairs of venues have the default. For play money and forecasts there is no
recording; their default is a quarter of it.

## Shipped

${markdownTable(
  ["factor", "weight"],
  FACTOR_NAMES.map((name) => [`\`${name}\``, formatNumber(coefficients.weights[name], 4)]),
)}

Share of the way from the mid to the microprice: ${coefficients.micropriceShare}.

Other calibrations and penalties were tried without success (\`docs/decisions/0013-log-odds-factors.md\`).

## What the figures mean

- The gain over the price is small: prices alone give no more. A signal from prices alone almost never covers
  the spread and the fee.
- The time-respecting test is the closest to live use. Its difference to the price is ${formatNumber(outOfFold.byTime.diff?.value, 5)} (${formatInterval(outOfFold.byTime.diff, 5)}): ${
    (outOfFold.byTime.diff?.high ?? 0) < 0 ? "a gain" : "no gain"
  }.
- Calibration predicts outcomes and not prices: the price a day later has the same bias. Its ratio against later prices is
  therefore above 1 on resolved questions. The recordings contain no close, so it does not apply there.
- Two choices were made with knowledge of these rows: calibration grows with the time left, and the penalty. The scores out
  of fold do not include the cost of these choices and are a little too good.
- One election (2020) and three weeks of one venue (July 2026) are most of the data, and the questions of each depend on
  common shocks. The intervals treat groups as independent and are therefore too narrow.
- At 30 and 90 days, calibration applies to ${tails.rows} rows in ${tails.groups} groups. By their prices, the
  unlikely side should have won ${formatNumber(tails.expectedWins, 1)} times; it won ${tails.wins} times. One win at a price of 5% would cost about a fifth of the gain at 30 days.
`;
}

function describeTrials(trials: readonly FactorTest[]): string {
  return markdownTable(
    ["factor", "rows", "groups", "weight", "gain by group", "standard error", "Brier gain", "gain by time", "kept"],
    trials.map(({ name, rows, groups, weight, byGroup, byTime, isKept }) => [
      `\`${name}\``,
      rows,
      groups,
      formatNumber(weight, 3),
      formatNumber(byGroup.logLoss, 6),
      formatNumber(byGroup.error, 6),
      formatNumber(byGroup.brier, 6),
      formatNumber(byTime.logLoss, 6),
      isKept ? "yes" : "no",
    ]),
  );
}

function describeRecordings(trials: readonly RecordingFactorTest[]): string {
  const change = ({ value, error }: RecordingFactorTest["afterHour"]) =>
    `${formatNumber(value, 5)} ± ${formatNumber(error, 5)}`;
  return markdownTable(
    ["on a recording", "n", "slope", "standard error", "change after 1 h", "change after 24 h", "shipped"],
    trials.map(({ name, slope, afterHour, afterDay, shipped }) => [
      `\`${name}\``,
      slope.n,
      formatNumber(slope.value, 3),
      formatNumber(slope.error, 3),
      change(afterHour),
      change(afterDay),
      formatNumber(shipped, 2),
    ]),
  );
}
