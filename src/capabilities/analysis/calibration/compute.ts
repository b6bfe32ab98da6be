import { CATEGORIES, type Category } from "../../../domain/category.ts";
import type { WorkerModule } from "../../../ports/worker-pool.ts";
import {
  brierScore,
  brierSkillScore,
  expectedCalibrationError,
  type GroupedForecast,
  meanLogLoss,
  type ReliabilityBin,
  reliabilityBins,
  type ScoredForecast,
  SKILL_QUESTIONS_MIN,
  squaredError,
} from "../../../quant/calibration.ts";
import { clusteredNormalRatio, clusteredRatio } from "../../../quant/clustered-ratio.ts";
import {
  type BrierDifference,
  type CalibrationReport,
  type CalibrationSample,
  type CalibrationScores,
  HORIZONS,
  NO_CATEGORY,
} from "./model.ts";

/** Minimum distance of the engine's probabilities from 0 and 1. Prices are clamped to the same range. */
const DISTANCE_MIN = 1e-4;

/** Maximum number of questions for the bootstrap. With more, it takes seconds, and the normal interval is as good. */
const RESAMPLED_QUESTIONS_MAX = 5_000;

/** A forecast of a sample, grouped by the question of its market. */
interface Row extends GroupedForecast {
  readonly market: number;
  readonly horizon: number;
  readonly category: number;
  /** Null if it is unknown. */
  readonly marketPrice: number | null;
}

/**
 * Computes the scores of a sample, in total and by category and horizon.
 *
 * @param questionsRequired  a part of the sample with fewer independent questions has counts, but no scores
 */
export function computeCalibrationReport(
  sample: CalibrationSample,
  questionsRequired: number = SKILL_QUESTIONS_MIN,
): CalibrationReport {
  const rows = toRows(sample);
  const scoresOf = (part: readonly Row[]) => computeScores(part, questionsRequired);
  const byCategory = Map.groupBy(rows, ({ category }) => category);
  const byHorizon = Map.groupBy(rows, ({ horizon }) => horizon);
  const categories: [Category | null, number][] = [...CATEGORIES.entries()].map(([index, name]) => [name, index]);
  const total = scoresOf(rows);
  const bins = reliabilityBins(rows);
  const isSmall = total.questions < questionsRequired;
  return {
    total,
    brierDifference: isSmall ? null : brierDifferenceOf(rows, total.questions),
    bins: isSmall ? bins.map(omitFigures) : bins,
    byCategory: [...categories, [null, NO_CATEGORY] as const].flatMap(([category, index]) => {
      const part = byCategory.get(index);
      return part === undefined ? [] : [{ category, ...scoresOf(part) }];
    }),
    byHorizon: HORIZONS.map(({ name }, index) => ({ horizon: name, ...scoresOf(byHorizon.get(index) ?? []) })),
  };
}

function toRows(sample: CalibrationSample): Row[] {
  const { market, question, horizon, category, marketPrice, outcome } = sample;
  const read = (column: CalibrationSample[keyof CalibrationSample], index: number) => column[index] ?? Number.NaN;
  return Array.from(sample.probability, (probability, index) => {
    const price = read(marketPrice, index);
    return {
      probability,
      outcome: read(outcome, index),
      market: read(market, index),
      group: read(question, index),
      horizon: read(horizon, index),
      category: read(category, index),
      marketPrice: Number.isNaN(price) ? null : price,
    };
  });
}

/** Returns the prices as forecasts; null if one is unknown, because their scores would be for a different sample. */
function pricesOf(rows: readonly Row[]): readonly ScoredForecast[] | null {
  const prices = rows.flatMap(({ marketPrice, outcome }) =>
    marketPrice === null ? [] : [{ probability: marketPrice, outcome }],
  );
  return prices.length < rows.length ? null : prices;
}

const omitFigures = (bin: ReliabilityBin): ReliabilityBin => ({
  ...bin,
  meanPredicted: null,
  observedFrequency: null,
  low: null,
  high: null,
});

function computeScores(rows: readonly Row[], questionsRequired: number): CalibrationScores {
  const markets = new Set(rows.map(({ market }) => market)).size;
  const questions = new Set(rows.map(({ group }) => group)).size;
  // The scores of no forecasts are null.
  const scored = questions < questionsRequired ? [] : rows;
  const prices = pricesOf(scored) ?? [];
  const brier = brierScore(scored);
  const marketBrier = brierScore(prices);
  return {
    sampleSize: rows.length,
    markets,
    questions,
    brierScore: brier,
    marketBrierScore: marketBrier,
    brierSkillScore: brierSkillScore(brier, marketBrier),
    logLoss: meanLogLoss(scored, DISTANCE_MIN),
    marketLogLoss: meanLogLoss(prices, DISTANCE_MIN),
    expectedCalibrationError: expectedCalibrationError(reliabilityBins(scored)),
  };
}

/** Resamples whole questions over all venues, because the forecasts of a question share its outcome. */
function brierDifferenceOf(rows: readonly Row[], questions: number): BrierDifference | null {
  if (pricesOf(rows) === null) return null;
  const ratioOf = questions > RESAMPLED_QUESTIONS_MAX ? clusteredNormalRatio : clusteredRatio;
  const difference = ratioOf(
    rows.map(({ group, probability, marketPrice, outcome }) => ({
      group: String(group),
      numerator: squaredError(probability, outcome) - squaredError(marketPrice ?? Number.NaN, outcome),
      denominator: 1,
    })),
  );
  const orNull = (bound: number) => (Number.isFinite(bound) ? bound : null);
  return difference === null
    ? null
    : { value: difference.value, low: orNull(difference.low), high: orNull(difference.high) };
}

/** Entry point of the worker threads (`ports/worker-pool.ts`). */
export const runTask: WorkerModule<CalibrationSample, CalibrationReport>["runTask"] = (sample) => ({
  result: computeCalibrationReport(sample),
  transfer: [],
});
