/** Formats the scores as tables of text and numbers, for the terminal, Markdown and HTML. */

import { formatInterval, formatNumber, type ReportSection } from "../report.ts";
import type { Evaluation, NamedScoreComparison } from "./evaluation.ts";
import type { LaterPriceScores } from "./later-price.ts";
import type { BrierDecomposition, ScoreComparison } from "./scores.ts";
import { ASSUMED_FEE, ASSUMED_HALF_SPREAD } from "./trading.ts";

/** Brier skill score against the market price, in percent. */
const skillOf = ({ diff, marketBrier }: ScoreComparison): string =>
  diff === null || marketBrier === null || marketBrier === 0
    ? "–"
    : `${formatNumber((-100 * diff.value) / marketBrier, 2)}%`;

const COMPARISON_HEADER =
  "n, groups, Brier score, of the price, difference, 95% interval, skill, log score, of the price".split(", ");
const comparisonCells = (comparison: ScoreComparison): ReportSection["rows"][number] => [
  comparison.n,
  comparison.groups,
  formatNumber(comparison.brier, 4),
  formatNumber(comparison.marketBrier, 4),
  formatNumber(comparison.diff?.value, 5),
  formatInterval(comparison.diff, 5),
  skillOf(comparison),
  formatNumber(comparison.logScore, 4),
  formatNumber(comparison.marketLogScore, 4),
];

export function describeEvaluation(evaluation: Evaluation): ReportSection[] {
  const later = describeLaterPriceScores(evaluation.later);
  return evaluation.kind === "resolved" ? [...describeOutcomes(evaluation), later] : [later];
}

function describeOutcomes(evaluation: Evaluation): ReportSection[] {
  const { all, horizons, venues, categories, factors } = evaluation;
  const comparison = (
    title: string,
    text: readonly string[],
    name: string,
    parts: readonly NamedScoreComparison[],
  ): ReportSection => ({
    title,
    text,
    header: [name, ...COMPARISON_HEADER],
    rows: parts.map((part) => [part.name, ...comparisonCells(part.comparison)]),
  });
  return [
    comparison(
      "Against the price",
      [
        "A row is a question at a time before its resolution. A difference below 0 is better than the price.",
        "Intervals: cluster bootstrap by group, paired, with a fixed seed. Skill: minus the difference, relative to the price's score.",
      ],
      "horizon",
      [
        { name: "all together", comparison: all },
        ...horizons.map((horizon) => ({ name: `${horizon.days} d`, comparison: horizon.comparison })),
      ],
    ),
    describeDecomposition(evaluation),
    comparison("By venue", [], "venue", venues),
    comparison("By category", ["Categories as the file states them; some are guesses."], "category", categories),
    comparison(
      "By factor",
      ["The prior changed by one factor alone, on the rows to which it applies."],
      "factor",
      factors,
    ),
    describeTrading(evaluation),
  ];
}

function describeDecomposition({ all, decomposition }: Evaluation): ReportSection {
  const row = (name: string, parts: BrierDecomposition | null, brier: number | null) => [
    name,
    ...[parts?.reliability, parts?.resolution, parts?.uncertainty, parts?.withinBins, brier].map((part) =>
      formatNumber(part, 5),
    ),
  ];
  return {
    title: "Murphy decomposition",
    text: [
      "Brier score = reliability - resolution + uncertainty + within bins. Ten bins of equal width; the last term is what such bins cannot show.",
    ],
    header: ["", "reliability", "resolution", "uncertainty", "within bins", "Brier score"],
    rows: [row("model", decomposition.model, all.brier), row("price", decomposition.market, all.marketBrier)],
  };
}

function describeTrading({ trading }: Evaluation): ReportSection {
  const { offers, signals, cost, fees, profit, profitShare } = trading;
  return {
    title: "Signals after costs",
    text: [
      `One contract per signal, held to the resolution. A signal has an edge of at least one cent after costs. Assumed: a bid and an ask ${ASSUMED_HALF_SPREAD} from the price, enough size, the venue's taker fee today, and ${ASSUMED_FEE.rate} p (1 - p) where it is unknown. No cost of capital.`,
    ],
    header: ["rows in money", "signals", "spent", "fees", "net profit", "profit / spent", "95% interval"],
    rows: [
      [
        offers,
        signals,
        formatNumber(cost, 2),
        formatNumber(fees, 2),
        formatNumber(profit, 2),
        formatNumber(profitShare?.value, 4),
        formatInterval(profitShare, 4),
      ],
    ],
  };
}

/** Table of the `LaterPriceScore` ratios of the engine, the prior and each factor. */
export function describeLaterPriceScores({ model, parts }: LaterPriceScores): ReportSection {
  return {
    title: "Against later prices",
    text: [
      "Sum of squared errors against the price some hours later, divided by the price's own. Below 1 is better. A factor's line contains only the rows to which it applies.",
    ],
    header: ["", "hours", "n", "ratio", "95% interval by contract", "95% interval by event"],
    rows: [["model", model] as const, ...parts].flatMap(([name, scores]) =>
      scores.map(({ hours, n, ratio, ratioByEvent }) => [
        name,
        hours,
        n,
        formatNumber(ratio?.value, 4),
        formatInterval(ratio, 4),
        formatInterval(ratioByEvent, 4),
      ]),
    ),
  };
}
