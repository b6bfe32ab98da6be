/** Computes all scores of the engine on one file. */
import type { EngineCoefficients } from "../../src/engine/index.ts";
import { sigmoid } from "../../src/lib/numbers.ts";
import { createLaterPriceCases } from "./later-cases.ts";
import { type LaterPriceCase, scoreLaterPrices } from "./later-price.ts";
import type { EngineFile } from "./rows.ts";
import { createSamples, type EstimatedSample, estimateSamples, HORIZONS_DAYS, type Sample } from "./samples.ts";
import { compareWithPrices, decomposeBrierScore, type Forecast, type ScoreComparison } from "./scores.ts";
import { simulateTrading } from "./trading.ts";
import { toQuestionHistories } from "./views.ts";

export interface NamedScoreComparison {
  readonly name: string;
  readonly comparison: ScoreComparison;
}

export type Evaluation = ReturnType<typeof evaluateFile>;

/** Estimates probabilities for the rows of a file. The coefficients may differ by row, for out-of-fold scores. */
export interface Estimator {
  readonly estimateSamples: (samples: readonly Sample[]) => readonly EstimatedSample[];
  readonly coefficientsOf: (later: LaterPriceCase) => EngineCoefficients;
}

export const createEstimator = (coefficients: EngineCoefficients): Estimator => ({
  estimateSamples: (samples) => estimateSamples(samples, coefficients),
  coefficientsOf: () => coefficients,
});

export function evaluateFile(file: EngineFile, scorer: Estimator) {
  const samples = file.kind === "resolved" ? createSamples(toQuestionHistories(file.rows)) : [];
  const scored = scorer.estimateSamples(samples);
  const partsBy = (nameOf: (sample: EstimatedSample) => string): NamedScoreComparison[] =>
    [...Map.groupBy(scored, nameOf)]
      .map(([name, part]) => ({ name, comparison: compareWithPrices(part.map(toForecast)) }))
      .sort((a, b) => b.comparison.n - a.comparison.n);
  const forecasts = scored.map(toForecast);
  return {
    kind: file.kind,
    rows: file.rows.length,
    all: compareWithPrices(forecasts),
    horizons: HORIZONS_DAYS.map((days) => ({
      days,
      comparison: compareWithPrices(scored.filter((sample) => sample.days === days).map(toForecast)),
    })),
    venues: partsBy(({ venue }) => venue),
    categories: partsBy(({ history }) => history.row.category ?? "none"),
    /** Scores of the prior with the log-odds change of one factor alone. */
    factors: compareFactors(scored),
    decomposition: {
      model: decomposeBrierScore(forecasts),
      market: decomposeBrierScore(forecasts.map(({ market, outcome }) => ({ probability: market, outcome }))),
    },
    trading: simulateTrading(scored),
    later: scoreLaterPrices(createLaterPriceCases(file), scorer.coefficientsOf),
  };
}

const toForecast = ({ group, probability, market, outcome }: EstimatedSample): Forecast => ({
  group,
  probability,
  market,
  outcome,
});

function compareFactors(scored: readonly EstimatedSample[]): NamedScoreComparison[] {
  const names = new Set(scored.flatMap(({ estimate }) => estimate.steps.map(({ name }) => name)));
  return [...names].map((name) => {
    const forecasts = scored.flatMap((sample) => {
      const step = sample.estimate.steps.find((item) => item.name === name);
      if (step === undefined) return [];
      const logOdds = sample.estimate.prior.logOdds + step.change;
      return [{ ...toForecast(sample), probability: sigmoid(logOdds) }];
    });
    return { name, comparison: compareWithPrices(forecasts) };
  });
}
