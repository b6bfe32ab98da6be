/** Creates docs/reports/matching.md: method, data, scores and coefficients. */
import { type LogisticModel, MATCH_DECISION_MIN, type MatchingCoefficients } from "../../src/matching/decide.ts";
import type { WordWeights } from "../../src/matching/text/word-weights.ts";
import { formatNumber, markdownTable } from "../report.ts";
import { compareRow, predictRow } from "./compare-rows.ts";
import { foldsBySource } from "./folds.ts";
import { groupPairs } from "./groups.ts";
import { scoreAtThreshold } from "./metrics.ts";
import { paraphraseRows } from "./paraphrase.ts";
import { describeScores, GRAINS, type ScoredRow } from "./report.ts";
import type { PairRow } from "./rows.ts";
import { crossValidate, RIDGE_PENALTY, WORD_COUNT_MIN, type WordCounts } from "./train.ts";

interface Fit {
  readonly rows: readonly PairRow[];
  readonly words: WordCounts;
  readonly weightOf: WordWeights;
  readonly coefficients: MatchingCoefficients;
  /** The labelled pairs and the candidates of the board. */
  readonly all: readonly PairRow[];
  readonly byGroup: readonly ScoredRow[];
  readonly bySource: readonly ScoredRow[];
  /** Candidate pairs from `board-pairs.ts`, with match probabilities from cross-validation. */
  readonly board: readonly ScoredRow[];
}

export function describeMatchingFit(fit: Fit): string {
  const { rows, words, weightOf, coefficients, byGroup, bySource, board } = fit;
  const groupCount = new Set(groupPairs(rows)).size;
  const sameCount = rows.filter(({ same }) => same).length;
  return `# How the matcher was fitted

\`npm run fit:matching\` writes this report, \`src/matching/coefficients.json\` and \`src/matching/word-counts.json\`. Two runs
with the same data write the same files.

## Method

The matcher reads typed facts from the texts of both sides: names, words, dates, quantities, places, sides of a contest, and
scopes such as the stage of a contest, the type of a bet or what must happen (\`src/matching/fingerprint.ts\`,
\`event-fingerprint.ts\`). Tables in \`src/matching/knowledge\` give one word to each name that titles write in several ways.
It compares the facts (\`features.ts\`, \`event-features.ts\`). A contradiction of facts that both sides state with certainty
is a veto (\`decide.ts\`); everything else is a feature of a logistic regression. It minimises the negative log-likelihood
plus ${RIDGE_PENALTY}/2 times the sum of the squared differences of the weights from prior weights, which say what a
feature means before any pair is seen (\`research/matching/train.ts\`); the intercept has no prior. A feature whose fitted
weight has the wrong sign is dropped.

- Pairs: ${rows.length}, of which ${sameCount} are the same question, in ${groupCount} groups.
- Words: ${Object.keys(words.counts).length} stems that occur in at least ${WORD_COUNT_MIN} of ${words.titleCount} distinct titles. Rarer words weigh more.

## Scores on sources that the fit did not see

Cross-validated by source: the model that scores a pair was fitted without the pairs of its source. Sources with fewer
than 20 pairs are one fold, and sources that share a pair are one fold. The facts are read by rules that were written while
reading pairs of all these sources, so expect somewhat lower scores on a new source.

${describeScores(bySource)}

### By source

${describeSources(bySource)}

## Scores by group

Cross-validated in 10 folds of groups. Pairs that share a question are in one group, and so are pairs whose questions differ
only in numbers, months and the named outcome. \`npm run evaluate:matching -- FILE\` scores the shipped coefficients on
another file.

${describeScores(byGroup)}

## In other words

Both titles of each labelled pair are rewritten by tables that the matcher does not contain (\`research/matching/paraphrases.json\`:
synonyms, order, abbreviations, forms of dates and numbers), ${PARAPHRASE_COUNT} times. Scores of the shipped coefficients:

${describeParaphrases(fit)}

## What each part gives

Scores on unseen sources if a part is not used: its features are 0 in the fit and in the prediction. Vetoes stay.

${describeParts(fit)}

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

## What still fails

- A short name of a bill against the description of its content ("Credit-card routing competition" and "legislation that
  requires two unaffiliated networks"): without shared words, only a reader joins them.
- Periods relative to the listing ("in the next year"), and questions without a date whose venues state ends years apart.
- Titles that leave the outcome to a field that the pair does not have ("Who will recognize Palestine?").
- One common word that changes the question ("a foldable phone" and "a new phone", "deliveries" and "production").
- A city with two teams in one league ("New York") counts as either team; the venue's other markets decide.

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

const PARAPHRASE_COUNT = 5;

function describeParaphrases({ rows, coefficients, weightOf }: Fit): string {
  const score = (of: readonly PairRow[]): ScoredRow[] =>
    of.map((row) => ({ row, isSame: row.same, probability: predictRow(row, coefficients, weightOf).probability }));
  const original = score(rows);
  const rewritten = score(
    Array.from({ length: PARAPHRASE_COUNT }, (_, index) => paraphraseRows(rows, index + 1)).flat(),
  );
  const lines = [...GRAINS, "inverse"].map((name) => {
    const grain = name === "event" ? "event" : "market";
    const isIn = ({ row }: ScoredRow) => (name === "inverse" ? row.relation === name : row.grain === grain);
    const cells = [original, rewritten].flatMap((scored) => {
      const { precision, recall } = scoreAtThreshold(scored.filter(isIn), MATCH_DECISION_MIN[grain]);
      return [formatNumber(precision), formatNumber(recall)];
    });
    return [name, ...cells];
  });
  return markdownTable(["pairs", "precision", "recall", "precision in other words", "recall in other words"], lines);
}

function describeSources(scored: readonly ScoredRow[]): string {
  const folds = foldsBySource(scored.map(({ row }) => row));
  const lines = [...new Set(folds)].flatMap((fold) =>
    GRAINS.flatMap((grain) => {
      const pairs = scored.filter(({ row }, index) => folds[index] === fold && row.grain === grain);
      if (pairs.length === 0) return [];
      const { n, precision, recall } = scoreAtThreshold(pairs, MATCH_DECISION_MIN[grain]);
      const same = pairs.filter(({ isSame }) => isSame).length;
      return [[fold, grain, n, same, formatNumber(precision), formatNumber(recall)]];
    }),
  );
  return markdownTable(["source", "grain", "pairs", "same", "precision", "recall"], lines);
}

/** The features of each part, by the start of their names. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  "names and words": ["same_core", "coverage", "names", "words"],
  outcome: ["subject", "outcome"],
  "dates and ends": ["period", "close_gap", "other_day"],
  quantities: ["quantity"],
  "stage, bet and action": ["stage", "bet", "action"],
  "other scopes": ["scopes", "strict", "general", "condition", "number"],
  places: ["place"],
  contests: ["fixture"],
};

function describeParts({ rows, all, weightOf }: Fit): string {
  const folds = foldsBySource(all);
  const score = (prefixes: readonly string[]) => {
    const isUsed = (name: string) => !prefixes.some((prefix) => name.startsWith(prefix));
    const scored = crossValidate(all, folds, weightOf, isUsed).slice(0, rows.length);
    return GRAINS.flatMap((grain) => {
      const pairs = scored.filter(({ row }) => row.grain === grain);
      const { precision, recall } = scoreAtThreshold(pairs, MATCH_DECISION_MIN[grain]);
      return [formatNumber(precision), formatNumber(recall)];
    });
  };
  return markdownTable(
    ["without", "market precision", "market recall", "event precision", "event recall"],
    [["(all parts)", ...score([])], ...Object.entries(PARTS).map(([part, prefixes]) => [part, ...score(prefixes)])],
  );
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
