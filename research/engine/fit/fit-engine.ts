/** Fits all coefficients of the engine and computes their out-of-fold scores. */
import { type EngineCoefficients, FACTOR_NAMES, type FactorName } from "../../../src/engine/model.ts";
import { type Evaluation, evaluateFile } from "../evaluation.ts";
import { createLaterPriceCases } from "../later-cases.ts";
import type { LaterPriceCase } from "../later-price.ts";
import type { EngineFile } from "../rows.ts";
import { createSamples, estimateSamples, type Sample } from "../samples.ts";
import { compareWithPrices, type ScoreComparison } from "../scores.ts";
import { toQuestionHistories } from "../views.ts";
import { priorAndExposures } from "./exposures.ts";
import { fitDepth, testCrossVenue, testFactor } from "./fit-recordings.ts";
import { FOLD_COUNT, foldOf, splitByTime } from "./folds.ts";
import { fitLeadership } from "./recording-slopes.ts";
import { fitWeights, toFitRows } from "./train.ts";

export interface EngineData {
  readonly resolved: Extract<EngineFile, { kind: "resolved" }>;
  readonly quotes: Extract<EngineFile, { kind: "quotes" }>;
  readonly depth: Extract<EngineFile, { kind: "depth" }>;
}

export type EngineFit = ReturnType<typeof fitEngine>;

/** Factors fitted to recordings, because few resolved questions have peers and none has an order book. */
const RECORDING_FACTORS: readonly FactorName[] = ["cross_venue", "order_flow"];
const CANDIDATES = FACTOR_NAMES.filter((name) => !RECORDING_FACTORS.includes(name));

/** @param base  current coefficients, kept for factors without data */
export function fitEngine({ resolved, quotes, depth }: EngineData, base: EngineCoefficients) {
  const depthCases = [...createLaterPriceCases(depth)];
  const quotesCases = [...createLaterPriceCases(quotes)];
  const samples = createSamples(toQuestionHistories(resolved.rows));
  const { microprice, orderFlow, coefficients: start } = fitDepth(depthCases, base);
  const leadership = fitLeadership(quotesCases, start);
  const crossVenue = testCrossVenue(quotesCases, start);
  const momentum = testFactor("momentum", quotesCases, start);
  const fitted = fitWeights(toFitRows(samples, start), CANDIDATES);
  const error = Math.min(0.3, leadership.pooled.error / Math.max(leadership.pooled.value, 1e-9));
  const coefficients: EngineCoefficients = {
    ...start,
    leadership: leadership.leadership,
    weights: { ...start.weights, ...fitted.weights, cross_venue: crossVenue.shipped },
    covariance: { ...fitted.covariance, ...(crossVenue.shipped > 0 && { cross_venue: { cross_venue: error ** 2 } }) },
  };
  const withWeights = (train: readonly Sample[]): EngineCoefficients => {
    const { weights, covariance } = fitWeights(toFitRows(train, start), CANDIDATES);
    return { ...coefficients, weights: { ...coefficients.weights, ...weights }, covariance };
  };
  return {
    coefficients,
    fitted,
    leadership,
    recordingTrials: [microprice, crossVenue, orderFlow, momentum],
    tails: describeTails(samples, start),
    outOfFold: {
      resolved: scoreResolved(resolved, samples, withWeights),
      byTime: compareByTime(samples, withWeights),
      quotes: scoreQuotes(quotes, quotesCases, coefficients),
      depth: scoreDepth(depth, depthCases, coefficients),
    },
  };
}

/**
 * Counts wins of the unlikely side at extreme prices 30 days or more before resolution. They drive the calibration fit.
 */
function describeTails(samples: readonly Sample[], coefficients: EngineCoefficients) {
  const tails = samples.filter(
    ({ days, view }) => days >= 30 && priorAndExposures(view, coefficients)?.exposures.calibration !== undefined,
  );
  return {
    rows: tails.length,
    groups: new Set(tails.map(({ group }) => group)).size,
    /** Expected number of wins of the unlikely side: the sum of its prices. */
    expectedWins: tails.reduce((sum, { market }) => sum + Math.min(market, 1 - market), 0),
    wins: tails.filter(({ market, outcome }) => (market < 0.5 ? outcome === 1 : outcome === 0)).length,
  };
}

function scoreResolved(
  file: EngineData["resolved"],
  samples: readonly Sample[],
  fit: (train: readonly Sample[]) => EngineCoefficients,
): Evaluation {
  const coefficientsOf = fitFolds(samples, ({ group }: Pick<Sample, "group">) => group, fit);
  return evaluateFile(file, {
    estimateSamples: (all) => all.flatMap((sample) => estimateSamples([sample], coefficientsOf(sample))),
    coefficientsOf,
  });
}

/** Returns a function from an item to the coefficients fitted without that item's fold. */
function fitFolds<Item, Key extends Partial<Item>>(
  items: readonly Item[],
  groupOf: (item: Item | Key) => string,
  fit: (train: readonly Item[]) => EngineCoefficients,
): (item: Item | Key) => EngineCoefficients {
  const folds = Array.from({ length: FOLD_COUNT }, (_, fold) =>
    fit(items.filter((item) => foldOf(groupOf(item)) !== fold)),
  );
  return (item) => folds[foldOf(groupOf(item))] ?? fit(items);
}

function compareByTime(
  samples: readonly Sample[],
  fit: (train: readonly Sample[]) => EngineCoefficients,
): ScoreComparison {
  const rows = samples.map((sample) => ({
    ...sample,
    asOf: sample.view.asOf,
    resolvedAt: sample.history.resolvedAt,
  }));
  return compareWithPrices(splitByTime(rows).flatMap(({ train, test }) => estimateSamples(test, fit(train))));
}

/** Scores each contest with coefficients fitted to the other contests, because prices of a contest are correlated. */
function scoreQuotes(file: EngineFile, cases: readonly LaterPriceCase[], coefficients: EngineCoefficients): Evaluation {
  const events = new Set(cases.map(({ event }) => event));
  const fits = new Map(
    [...events].map((event) => {
      const { leadership } = fitLeadership(
        cases.filter((item) => item.event !== event),
        coefficients,
      );
      return [event, { ...coefficients, leadership }];
    }),
  );
  return evaluateFile(file, {
    estimateSamples: () => [],
    coefficientsOf: ({ event }) => fits.get(event) ?? coefficients,
  });
}

function scoreDepth(file: EngineFile, cases: readonly LaterPriceCase[], coefficients: EngineCoefficients): Evaluation {
  const fit = (train: readonly LaterPriceCase[]) => fitDepth(train, coefficients).coefficients;
  return evaluateFile(file, {
    estimateSamples: () => [],
    coefficientsOf: fitFolds(cases, ({ event }) => event, fit),
  });
}
