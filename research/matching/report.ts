/** Formats the scores of a matcher as Markdown and JSON. */
import { MATCH_DECISION_MIN } from "../../src/matching/decide.ts";
import { brierScore, expectedCalibrationError, reliabilityBins } from "../../src/quant/calibration.ts";
import { formatNumber, markdownTable } from "../report.ts";
import { type PairScores, type ScoredPair, scoreAtThreshold, toForecasts } from "./metrics.ts";
import type { PairRow } from "./rows.ts";

export interface ScoredRow extends ScoredPair {
  readonly row: PairRow;
}

export const GRAINS = ["market", "event"] as const;
const COMPARED_THRESHOLDS = [0.5, 0.7, 0.9];

/** Returns tables of the scores by grain and relation, of the scores by threshold, and of the calibration. */
export function describeScores(scored: readonly ScoredRow[]): string {
  const parts = GRAINS.filter((grain) => scored.some(({ row }) => row.grain === grain)).flatMap((grain) => {
    const pairs = scored.filter(({ row }) => row.grain === grain);
    return [
      `### ${grain === "market" ? "Markets" : "Events"}`,
      `A pair is matched if its probability is at least ${MATCH_DECISION_MIN[grain]}.`,
      describeRelations(pairs, MATCH_DECISION_MIN[grain]),
      describeThresholds(pairs),
    ];
  });
  return [...parts, "### Calibration", describeCalibration(scored)].join("\n\n");
}

function describeRelations(pairs: readonly ScoredRow[], threshold: number): string {
  const relations = [...new Set(pairs.map(({ row }) => row.relation))].sort();
  const line = (name: string, group: readonly ScoredRow[]) => {
    const { n, precision, recall, f1 } = scoreAtThreshold(group, threshold);
    const matched = group.filter(({ probability }) => probability >= threshold);
    return [
      name,
      n,
      group.filter(({ isSame }) => isSame).length,
      matched.length,
      matched.filter(({ isSame }) => !isSame).length,
      ...[precision, recall, f1, brierScore(toForecasts(group))].map((value) => formatNumber(value)),
    ];
  };
  return markdownTable(
    ["relation", "pairs", "same", "matched", "matched wrongly", "precision", "recall", "F1", "Brier score"],
    [
      line("all", pairs),
      ...relations.map((relation) =>
        line(
          relation,
          pairs.filter(({ row }) => row.relation === relation),
        ),
      ),
    ],
  );
}

function describeThresholds(pairs: readonly ScoredRow[]): string {
  return markdownTable(
    ["probability from", "precision", "recall", "F1"],
    COMPARED_THRESHOLDS.map((threshold) => {
      const { precision, recall, f1 } = scoreAtThreshold(pairs, threshold);
      return [threshold, formatNumber(precision), formatNumber(recall), formatNumber(f1)];
    }),
  );
}

function describeCalibration(pairs: readonly ScoredPair[]): string {
  const bins = reliabilityBins(toForecasts(pairs));
  const rows = bins
    .filter(({ count }) => count > 0)
    .map(({ lower, upper, count, meanPredicted, observedFrequency }) => [
      `${lower.toFixed(1)} to ${upper.toFixed(1)}`,
      count,
      formatNumber(meanPredicted),
      formatNumber(observedFrequency),
    ]);
  return [
    markdownTable(["probability", "pairs", "mean probability", "share same"], rows),
    `Expected calibration error: ${formatNumber(expectedCalibrationError(bins), 4)}.`,
  ].join("\n\n");
}

interface ScoreSummary {
  readonly market: PairScores;
  readonly event: PairScores;
  readonly ece: number | null;
}

/** Returns the scores by grain at the decision threshold, and the calibration error of all pairs, to four decimals. */
export function summariseScores(scored: readonly ScoredRow[]): ScoreSummary {
  const round = (value: number | null) => (value === null ? null : Number(value.toFixed(4)));
  const [market, event] = GRAINS.map((grain) => {
    const { n, precision, recall, f1 } = scoreAtThreshold(
      scored.filter(({ row }) => row.grain === grain),
      MATCH_DECISION_MIN[grain],
    );
    return { n, precision: round(precision), recall: round(recall), f1: round(f1) };
  }) as [PairScores, PairScores];
  return { market, event, ece: round(expectedCalibrationError(reliabilityBins(toForecasts(scored)))) };
}
