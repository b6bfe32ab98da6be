/** Creates docs/reports/matching.md: method, data, scores and coefficients. */
import type { LogisticModel, MatchingCoefficients } from "../../src/matching/decide.ts";
import type { WordWeights } from "../../src/matching/text/word-weights.ts";
import { formatNumber, markdownTable } from "../report.ts";
import { compareRow } from "./compare-rows.ts";
import { groupPairs } from "./groups.ts";
import { scoreAtThreshold } from "./metrics.ts";
import { describeScores, GRAINS, type ScoredRow } from "./report.ts";
import type { PairRow } from "./rows.ts";
import { FOLD_COUNT, RIDGE_PENALTY, WORD_COUNT_MIN, type WordCounts } from "./train.ts";

interface Fit {
  readonly rows: readonly PairRow[];
  readonly words: WordCounts;
  readonly weightOf: WordWeights;
  readonly coefficients: MatchingCoefficients;
  readonly crossValidated: readonly ScoredRow[];
  /** Candidate pairs from `board-pairs.ts`, with match probabilities from cross-validation. */
  readonly board: readonly ScoredRow[];
}

export function describeMatchingFit({ rows, words, weightOf, coefficients, crossValidated, board }: Fit): string {
  const groupCount = new Set(groupPairs(rows)).size;
  const sameCount = rows.filter(({ same }) => same).length;
  return `# How the matcher was fitted

\`npm run fit:matching\` writes this report, \`src/matching/coefficients.json\` and \`src/matching/word-counts.json\`. Two runs
with the same data write the same files.

## Method

The matcher reads typed facts from the texts of both sides: words, dates, quantities, places, and scopes such as the stage
of a contest or the type of a bet (\`src/matching/fingerprint.ts\`, \`event-fingerprint.ts\`). It compares the facts
(\`features.ts\`, \`event-features.ts\`). A fact that contradicts the other side is a veto (\`decide.ts\`). A logistic
regression gives the probability of the pairs without a veto. It minimises the negative log-likelihood plus
${RIDGE_PENALTY}/2 times the sum of the squared weights; the intercept is not penalised.

- Pairs: ${rows.length}, of which ${sameCount} are the same question, in ${groupCount} groups.
- Words: ${Object.keys(words.counts).length} stems that occur in at least ${WORD_COUNT_MIN} of ${words.titleCount} distinct titles. Rarer words weigh more.

## Scores

Cross-validated by group in ${FOLD_COUNT} folds: the model that scores a pair was fitted without the pair's group. Pairs that
share a question are in one group, and so are pairs whose questions differ only in numbers, months and the named outcome.
The vetoes are not fitted. They were written while reading these pairs, so expect lower scores on unseen pairs.
\`npm run evaluate:matching -- FILE\` scores the shipped coefficients on another file.

${describeScores(crossValidated)}

## At the base rate of a board

In a file of labelled pairs almost half are true. Among the candidates that the search finds on a board few are. The fit
therefore also learns from the ${board.length} candidates that no veto decides among the listed questions of several venues; ${board.filter(({ isSame }) => isSame).length}
of them ask the same question. Both titles of each were read by a language model, and pairs that the titles do not decide
are left out. Only hashes of the ids are kept (\`research/matching/board-labels.json\`).

| set | cross-validated | threshold | n | precision | recall |
|---|---|---|---|---|---|
${[0.5, 0.75, 0.9].map((threshold) => describeBoard(board, threshold)).join("\n")}

Confidences on a board are calibrated with these pairs:
log-odds = ${coefficients.board.slope} × log-odds of the model + ${coefficients.board.shift}.

## Vetoes

${describeVetoes(rows, weightOf)}

A pair can have several vetoes. "Only veto" counts the pairs that one veto alone decides.

## Coefficients

A missing feature counts as 0. Features that a veto decides already have no coefficient.

${describeModel("Markets", coefficients.market)}

${describeModel("Events", coefficients.event)}

## Data and licence

The labelled pairs and the listed titles are not part of this repository and are not shipped. Parts of them are CC BY-SA 4.0
(ForecastBench, Forecasting Research Institute) and parts state no licence. This repository contains only the fitted numbers
and the counts of single words. Most labels were read by a language model and not by a person.
`;
}

function describeBoard(board: readonly ScoredRow[], threshold: number): string {
  const { n, precision, recall } = scoreAtThreshold(board, threshold);
  return `| board candidates | yes | ${threshold} | ${n} | ${precision?.toFixed(3) ?? "-"} | ${recall?.toFixed(3) ?? "-"} |`;
}

function describeModel(name: string, { intercept, weights }: LogisticModel): string {
  const rows = Object.entries(weights).map(([feature, weight]) => [`\`${feature}\``, formatNumber(weight, 4)]);
  return `### ${name}\n\n${markdownTable(["feature", "coefficient"], [["intercept", formatNumber(intercept, 4)], ...rows])}`;
}

function describeVetoes(rows: readonly PairRow[], weightOf: WordWeights): string {
  const parts = GRAINS.map((grain) => {
    const vetoed = rows
      .filter((row) => row.grain === grain)
      .map((row) => ({ isSame: row.same, vetoes: compareRow(row, weightOf).findVetoes() }))
      .filter(({ vetoes }) => vetoes.length > 0);
    const names = [...new Set(vetoed.flatMap(({ vetoes }) => vetoes))].sort();
    const line = (name: string, group: typeof vetoed) => [
      name,
      group.length,
      group.filter(({ isSame }) => isSame).length,
      group.filter(({ vetoes }) => vetoes.length === 1).length,
      group.filter(({ vetoes, isSame }) => vetoes.length === 1 && isSame).length,
    ];
    return markdownTable(
      [`${grain} veto`, "pairs", "same question", "only veto", "only veto and same question"],
      [
        line("any", vetoed),
        ...names.map((name) =>
          line(
            name,
            vetoed.filter(({ vetoes }) => vetoes.includes(name)),
          ),
        ),
      ],
    );
  });
  return parts.join("\n\n");
}
