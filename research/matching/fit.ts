/** `npm run fit:matching`: fits the coefficients of the matcher and writes them with a report. */
import { createWordWeights } from "../../src/matching/text/word-weights.ts";
import { runCommand, stringOption, writeProjectFile } from "../run-command.ts";
import { findCandidatePairs } from "./board-pairs.ts";
import { describeMatchingFit } from "./fit-report.ts";
import { foldsByGroup, foldsBySource } from "./folds.ts";
import { describeScores } from "./report.ts";
import { readLabelledPairs, readListings } from "./rows.ts";
import { calibrateBoard, countWords, crossValidate, fitCoefficients } from "./train.ts";

const USAGE = `Usage: npm run fit:matching -- [--pairs FILE,FILE] [--titles FILE]

Writes src/matching/coefficients.json, src/matching/word-counts.json and docs/reports/matching.md. Run it twice after a
change of how titles are read: the second run reads the titles with the words of the first.
  --pairs   labelled pairs (default ../shared/data/pairs-dev.jsonl.gz,../shared/data/pairs-dev2.jsonl.gz)
  --titles  listed questions, for the weights of words (default ../shared/data/listings-same-date.jsonl.gz)
`;

await runCommand(
  {
    usage: USAGE,
    options: {
      pairs: stringOption("../shared/data/pairs-dev.jsonl.gz,../shared/data/pairs-dev2.jsonl.gz"),
      titles: stringOption("../shared/data/listings-same-date.jsonl.gz"),
    },
  },
  ({ pairs, titles }) => fit(pairs.split(","), titles),
);

async function fit(pairsPaths: readonly string[], titlesPath: string): Promise<void> {
  const rows = (await Promise.all(pairsPaths.map(readLabelledPairs))).flat();
  const listings = await readListings(titlesPath);
  const words = countWords(
    listings.map(({ title }) => title),
    rows.flatMap(({ a, b }) => [a.title, b.title]),
  );
  const weightOf = createWordWeights(words.counts, words.titleCount);
  const all = [...rows, ...findCandidatePairs(listings, weightOf)];
  const byGroup = crossValidate(all, foldsByGroup(all), weightOf);
  const bySource = crossValidate(all, foldsBySource(all), weightOf);
  const board = byGroup.slice(rows.length);
  const coefficients = { ...fitCoefficients(all, weightOf), board: calibrateBoard(board) };
  await writeProjectFile("src/matching/word-counts.json", `${JSON.stringify(words, null, 2)}\n`);
  await writeProjectFile("src/matching/coefficients.json", `${JSON.stringify(coefficients, null, 2)}\n`);
  const crossValidated = { byGroup: byGroup.slice(0, rows.length), bySource: bySource.slice(0, rows.length) };
  await writeProjectFile(
    "docs/reports/matching.md",
    describeMatchingFit({ rows, all, words, weightOf, coefficients, ...crossValidated, board }),
  );
  process.stdout.write(`${describeScores(crossValidated.bySource)}\n`);
}
