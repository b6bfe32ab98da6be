import assert from "node:assert/strict";
import { test } from "node:test";
import { createWordWeights } from "../../src/matching/text/word-weights.ts";
import { foldsByGroup } from "./folds.ts";
import type { PairRow } from "./rows.ts";
import { calibrateBoard, countWords, crossValidate, fitCoefficients } from "./train.ts";

const NAMES = "Adams Baker Clark Davis Evans Frank Ghosh Hills Irwin Jones Klein Lopez".split(" ");
const OFFICES = ["chair of Acme", "head of Globex"];

const row = (a: string, b: string, same: boolean, grain: PairRow["grain"]): PairRow => ({
  a: { venue: "first", id: a, title: a },
  b: { venue: "second", id: b, title: b },
  same,
  relation: same ? "equivalent" : "unrelated",
  grain,
});

/** Two rows: a pair with the same question in other words, and a pair about different offices. */
const ROWS = (["market", "event"] as const).flatMap((grain) =>
  NAMES.flatMap((name) => {
    const [office, other] = OFFICES;
    const question = `Next ${office} after ${name}`;
    return [
      row(question, `${question}?`, true, grain),
      row(question, `${name} memoir about ${other} published`, false, grain),
    ];
  }),
);
const weightOf = createWordWeights({}, 1_000);
const FOLDS = foldsByGroup(ROWS);

test("a stem's count is the number of distinct titles that contain it; rare stems are omitted", () => {
  const titles = ["Rain in Paris", "Rain in Oslo", "Rain in Rome", "Rain in Rome", "Snow, snow, snow in Rome"];
  const { titleCount, counts } = countWords(titles);
  assert.deepEqual({ titleCount, counts }, { titleCount: 4, counts: { rain: 3 } });
});

test("a stem is common if titles write it in lower case more often than with a capital; the first word of a title does not count", () => {
  const titles = ["Rain falls in Paris", "More rain falls Today", "Heavy Rain", "Will Paris see rain today?"];
  assert.deepEqual(countWords(titles).common, ["fall", "in", "rain", "see"]);
  assert.deepEqual(countWords(titles, ["No rain today"]).common, ["fall", "in", "rain", "see", "today"]);
  assert.deepEqual(countWords(titles, titles), countWords(titles));
});

test("two fits to the same pairs are equal, and coefficients have four decimals", () => {
  const coefficients = fitCoefficients(ROWS, weightOf);
  assert.deepEqual(fitCoefficients(ROWS, weightOf), coefficients);
  for (const { intercept, weights } of [coefficients.market, coefficients.event])
    for (const value of [intercept, ...Object.values(weights)]) assert.equal(value, Number(value.toFixed(4)));
});

test("cross-validation predicts each pair once, in order, and separates equal from different questions", () => {
  const scored = crossValidate(ROWS, FOLDS, weightOf);
  assert.deepEqual(
    scored.map(({ row: scoredRow }) => scoredRow),
    ROWS,
  );
  for (const { isSame, probability } of scored) assert.equal(probability > 0.5, isSame);
});

test("the label of a pair does not change the cross-validated probability of the pair", () => {
  const scores = crossValidate(ROWS, FOLDS, weightOf).map(({ probability }) => probability);
  for (const index of [0, 1]) {
    const flipped = ROWS.map((row, other) => (other === index ? { ...row, same: !row.same } : row));
    assert.equal(crossValidate(flipped, FOLDS, weightOf)[index]?.probability, scores[index]);
  }
});

test("board calibration lowers the confidence if fewer candidates match than the model predicts", () => {
  const scored = Array.from({ length: 100 }, (_, index) => ({
    row: ROWS[0] as PairRow,
    probability: index % 2 === 0 ? 0.7 : 0.8,
    isSame: index % 10 === 0,
  }));
  const { slope, shift } = calibrateBoard(scored);
  const logOdds = slope * Math.log(0.75 / 0.25) + shift;
  assert.ok(logOdds < 0);
});
