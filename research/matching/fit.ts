/** `npm run fit:matching`: fits the coefficients of the matcher and writes them with a report. */
import { createWordWeights } from "../../src/matching/text/word-weights.ts";
import { runCommand, stringOption, writeProjectFile } from "../run-command.ts";
import { findCandidatePairs } from "./board-pairs.ts";
import { describeMatchingFit } from "./fit-report.ts";
import { describeScores } from "./report.ts";
import { readLabelledPairs, readListings } from "./rows.ts";
import { calibrateBoard, countWords, crossValidate, fitCoefficients } from "./train.ts";

const USAGE = `Usage: npm run fit:matching -- [--pairs FILE] [--titles FILE]

Writes src/matching/coefficients.json, src/matching/word-counts.json and docs/reports/matching.md.
  --pairs   labelled pairs (default ../shared/data/pairs-dev.jsonl.gz)
  --titles  listed questions, for the weights of words (default ../shared/data/listings-same-date.jsonl.gz)
`;

await runCommand(
  {
    usage: USAGE,
    options: {
      pairs: stringOption("../shared/data/pairs-dev.jsonl.gz"),
      titles: stringOption("../shared/data/listings-same-date.jsonl.gz"),
    },
  },
  ({ pairs, titles }) => fit(pairs, titles),
);

async function fit(pairsPath: string, titlesPath: string): Promise<void> {
  const rows = await readLabelledPairs(pairsPath);
  const listings = await readListings(titlesPath);
  const words = countWords(listings.map(({ title }) => title));
  const weightOf = createWordWeights(words.counts, words.titleCount);
  const boardRows = findCandidatePairs(listings, weightOf);
  const scored = crossValidate([...rows, ...boardRows], weightOf);
  const crossValidated = scored.slice(0, rows.length);
  const board = scored.slice(rows.length);
  const coefficients = { ...fitCoefficients([...rows, ...boardRows], weightOf), board: calibrateBoard(board) };
  await writeProjectFile("src/matching/word-counts.json", `${JSON.stringify(words, null, 2)}\n`);
  await writeProjectFile("src/matching/coefficients.json", `${JSON.stringify(coefficients, null, 2)}\n`);
  await writeProjectFile(
    "docs/reports/matching.md",
    describeMatchingFit({ rows, words, weightOf, coefficients, crossValidated, board }),
  );
  process.stdout.write(`${describeScores(crossValidated)}\n`);
}
