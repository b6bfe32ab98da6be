/** Computes all scores of the engine on one file. */
import type { EngineCoefficients } from "../../src/engine/index.ts";
import { sigmoid } from "../../src/lib/numbers.ts";
import { laterCases } from "./later-cases.ts";
import { type LaterCase, scoreLaterPrices } from "./later-price.ts";
import type { EngineFile } from "./rows.ts";
import { createSamples, HORIZONS_DAYS, type Sample, type ScoredSample, scoreSamples } from "./samples.ts";
import { type Comparison, compare, decompose, type Forecast } from "./scores.ts";
import { simulateTrading } from "./trading.ts";
import { toHistories } from "./views.ts";

export interface NamedComparison {
  readonly name: string;
  readonly comparison: Comparison;
}

export type Evaluation = ReturnType<typeof evaluateFile>;

/** Estimates probabilities for the rows of a file. The coefficients may differ by row, for out-of-fold scores. */
export interface Scorer {
  readonly scoreSamples: (samples: readonly Sample[]) => readonly ScoredSample[];
  readonly coefficientsOf: (later: LaterCase) => EngineCoefficients;
}

export const scorerOf = (coefficients: EngineCoefficients): Scorer => ({
  scoreSamples: (samples) => scoreSamples(samples, coefficients),
  coefficientsOf: () => coefficients,
});

export function evaluateFile(file: EngineFile, scorer: Scorer) {
  const samples = file.kind === "resolved" ? createSamples(toHistories(file.rows)) : [];
  const scored = scorer.scoreSamples(samples);
  const partsBy = (nameOf: (sample: ScoredSample) => string): NamedComparison[] =>
    [...Map.groupBy(scored, nameOf)]
      .map(([name, part]) => ({ name, comparison: compare(part.map(toForecast)) }))
      .sort((a, b) => b.comparison.n - a.comparison.n);
  const forecasts = scored.map(toForecast);
  return {
    kind: file.kind,
    rows: file.rows.length,
    all: compare(forecasts),
    horizons: HORIZONS_DAYS.map((days) => ({
      days,
      comparison: compare(scored.filter((sample) => sample.days === days).map(toForecast)),
    })),
    venues: partsBy(({ venue }) => venue),
    categories: partsBy(({ history }) => history.row.category ?? "none"),
    /** Scores of the prior with the log-odds change of one factor alone. */
    factors: compareFactors(scored),
    decomposition: {
      model: decompose(forecasts),
      market: decompose(forecasts.map(({ market, outcome }) => ({ probability: market, outcome }))),
    },
    trading: simulateTrading(scored),
    later: scoreLaterPrices(laterCases(file), scorer.coefficientsOf),
  };
}

const toForecast = ({ group, probability, market, outcome }: ScoredSample): Forecast => ({
  group,
  probability,
  market,
  outcome,
});

function compareFactors(scored: readonly ScoredSample[]): NamedComparison[] {
  const names = new Set(scored.flatMap(({ estimate }) => estimate.steps.map(({ name }) => name)));
  return [...names].map((name) => {
    const forecasts = scored.flatMap((sample) => {
      const step = sample.estimate.steps.find((item) => item.name === name);
      if (step === undefined) return [];
      const logOdds = sample.estimate.prior.logOdds + step.change;
      return [{ ...toForecast(sample), probability: sigmoid(logOdds) }];
    });
    return { name, comparison: compare(forecasts) };
  });
}
