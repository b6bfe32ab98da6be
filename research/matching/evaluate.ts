/** `npm run evaluate:matching -- FILE`: scores the shipped matcher on labelled pairs, without fitting. */

import { isSameProposition } from "../../src/matching/decide.ts";
import { MATCHING_COEFFICIENTS, WORD_WEIGHTS } from "../../src/matching/model-data.ts";
import { formatNumber } from "../report.ts";
import { runCommand, stringOption } from "../run-command.ts";
import { type Prediction, predictRow } from "./compare-rows.ts";
import { paraphraseRows } from "./paraphrase.ts";
import { describeScores, type ScoredRow, summariseScores } from "./report.ts";
import { type PairRow, readLabelledPairs } from "./rows.ts";

const USAGE = `Usage: npm run evaluate:matching -- FILE [--mistakes N] [--paraphrases N] [--json]

Scores the shipped matcher on labelled pairs, one JSON object per line, gzipped or not. The last line of the output is one
JSON object with the scores.
  --mistakes     number of mistakes to list (default 20)
  --paraphrases  number of times that all pairs are scored again in other words (default 0)
  --json         print only the last line
`;
/** Maximum number of log-odds contributions listed per mistake. */
const CONTRIBUTIONS_MAX = 5;

interface EvaluatedRow extends ScoredRow {
  readonly prediction: Prediction;
}

await runCommand(
  {
    usage: USAGE,
    options: {
      mistakes: stringOption("20"),
      paraphrases: stringOption("0"),
      json: { type: "boolean", default: false },
    },
    isOfFile: true,
  },
  async ({ mistakes, paraphrases, json }, [path, ...others]) => {
    if (path === undefined || others.length > 0) throw new Error(`expected one file\n\n${USAGE}`);
    for (const [option, value] of Object.entries({ mistakes, paraphrases }))
      if (!/^[0-9]{1,4}$/.test(value)) throw new Error(`--${option} must be a whole number from 0 to 9999`);
    await evaluate(path, json, Number(mistakes), Number(paraphrases));
  },
);

async function evaluate(path: string, isJson: boolean, mistakesMax: number, paraphraseCount: number): Promise<void> {
  const rows = await readLabelledPairs(path);
  const evaluated = rows.map(evaluateRow);
  const paraphrased = Array.from({ length: paraphraseCount }, (_, index) => paraphraseRows(rows, index + 1))
    .flat()
    .map(evaluateRow);
  const parts = [
    `## Scores of the shipped matcher\n\n${describeScores(evaluated)}`,
    describeMistakes(evaluated, mistakesMax),
    ...(paraphraseCount === 0 ? [] : [`## Scores in other words\n\n${describeScores(paraphrased)}`]),
  ];
  const summary = {
    ...summariseScores(evaluated),
    ...(paraphraseCount === 0 ? {} : { paraphrased: summariseScores(paraphrased) }),
  };
  process.stdout.write(`${isJson ? "" : `${parts.join("\n\n")}\n\n`}${JSON.stringify(summary)}\n`);
}

function evaluateRow(row: PairRow): EvaluatedRow {
  const prediction = predictRow(row, MATCHING_COEFFICIENTS, WORD_WEIGHTS);
  return { row, isSame: row.same, probability: prediction.probability, prediction };
}

/** Lists false positives and false negatives, largest error first. */
function describeMistakes(evaluated: readonly EvaluatedRow[], mistakesMax: number): string {
  const error = ({ probability, isSame }: EvaluatedRow) => Math.abs(probability - (isSame ? 1 : 0));
  const mistakes = evaluated
    .filter(({ row, prediction, isSame }) => isSameProposition(prediction.decision, row.grain) !== isSame)
    .sort((a, b) => error(b) - error(a));
  const lines = mistakes.slice(0, mistakesMax).map(describeMistake);
  return [`### Mistakes: ${mistakes.length}, of which ${lines.length} are listed`, ...lines].join("\n\n");
}

function describeMistake({ row, prediction, isSame }: EvaluatedRow): string {
  const { relation, probability, vetoes } = prediction.decision;
  const reasons =
    vetoes.length > 0 ? `vetoes: ${vetoes.join(", ")}` : `log-odds: ${contributionsOf(row.grain, prediction)}`;
  return [
    `- ${isSame ? "not matched" : "matched wrongly"} (${row.grain}, labelled ${row.relation})`,
    `  decided ${relation ?? "unrelated"} with probability ${formatNumber(probability)}; ${reasons}`,
    ...[row.a, row.b].map((side) => `  ${side.venue}: ${titleOf(side)}`),
  ].join("\n");
}

function titleOf({ title, event_title }: EvaluatedRow["row"]["a"]): string {
  return event_title === undefined || event_title === title ? title : `${title} [${event_title}]`;
}

function contributionsOf(grain: EvaluatedRow["row"]["grain"], { features }: Prediction): string {
  const { intercept, weights } = MATCHING_COEFFICIENTS[grain];
  const contributions = Object.entries(weights)
    .map(([name, weight]) => ({ name, value: weight * (features[name] ?? 0) }))
    .filter(({ value }) => Math.abs(value) >= 0.005)
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .slice(0, CONTRIBUTIONS_MAX);
  return [{ name: "intercept", value: intercept }, ...contributions]
    .map(({ name, value }) => `${name} ${value.toFixed(2)}`)
    .join(", ");
}
