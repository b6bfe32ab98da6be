/** Fits all coefficients of the engine, and scores each part of the data with a fit that has not seen it. */
import { type EngineCoefficients, FACTOR_NAMES, type FactorName } from "../../src/engine/model.ts";
import { type Alternative, tryAlternatives } from "./alternatives.ts";
import { type Evaluation, evaluateFile } from "./evaluation.ts";
import { FOLDS, foldOf, splitByTime } from "./folds.ts";
import { laterCases } from "./later-cases.ts";
import type { LaterCase } from "./later-price.ts";
import type { EngineFile } from "./rows.ts";
import { createSamples, type Sample, scoreSamples } from "./samples.ts";
import { type Comparison, compare } from "./scores.ts";
import {
  cautiousSlope,
  factorPoints,
  fitLeadership,
  fitSlope,
  type LeadershipFit,
  micropricePoints,
  type Point,
  type Slope,
  slopeGain,
} from "./tape-fit.ts";
import { type FittedWeights, fitWeights, toFitRows } from "./train.ts";
import { toHistories } from "./views.ts";

export interface EngineData {
  readonly resolved: Extract<EngineFile, { kind: "resolved" }>;
  readonly quotes: Extract<EngineFile, { kind: "quotes" }>;
  readonly depth: Extract<EngineFile, { kind: "depth" }>;
}

/** A slope that a tape was fitted to, with its out-of-fold gain at two times. */
export interface TapeTrial {
  readonly name: string;
  readonly slope: Slope;
  readonly afterHour: Slope;
  readonly afterDay: Slope;
  /** What is shipped; 0 if the out-of-fold gain is below one standard error. */
  readonly shipped: number;
}

export interface EngineFit {
  readonly coefficients: EngineCoefficients;
  readonly fitted: FittedWeights;
  readonly leadership: LeadershipFit;
  readonly tapes: readonly TapeTrial[];
  readonly alternatives: readonly Alternative[];
  /** Scored with fits that have not seen the rows. */
  readonly outOfFold: {
    readonly resolved: Evaluation;
    readonly byTime: Comparison;
    readonly quotes: Evaluation;
    readonly depth: Evaluation;
  };
}

const MICROPRICE_STEP = 0.01;
/** Fitted to tapes, because few resolved questions have peers and none has a book. */
const TAPE_FACTORS: readonly FactorName[] = ["cross_venue", "order_flow"];
const CANDIDATES = FACTOR_NAMES.filter((name) => !TAPE_FACTORS.includes(name));

/** @param base  coefficients of factors to which no data applies are kept */
export function fitEngine({ resolved, quotes, depth }: EngineData, base: EngineCoefficients): EngineFit {
  const depthCases = [...laterCases(depth)];
  const quotesCases = [...laterCases(quotes)];
  const samples = createSamples(toHistories(resolved.rows));
  const microprice = tryMicroprice(depthCases, base);
  const start = { ...base, micropriceShare: microprice.shipped };
  const leadership = fitLeadership(quotesCases, start);
  const crossVenue = tryCrossVenue(quotesCases, start);
  const orderFlow = tryFactorOnTape("order_flow", depthCases, start);
  const momentum = tryFactorOnTape("momentum", quotesCases, start);
  const fitted = fitWeights(toFitRows(samples, start), CANDIDATES);
  const error = Math.min(0.3, leadership.pooled.error / Math.max(leadership.pooled.value, 1e-9));
  const coefficients: EngineCoefficients = {
    ...start,
    leadership: leadership.leadership,
    weights: {
      ...base.weights,
      ...fitted.weights,
      cross_venue: crossVenue.shipped,
      order_flow: orderFlow.shipped,
    },
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
    tapes: [microprice, crossVenue, orderFlow, momentum],
    alternatives: tryAlternatives(samples),
    outOfFold: {
      resolved: scoreResolved(resolved, samples, withWeights),
      byTime: compareByTime(samples, withWeights),
      quotes: scoreQuotes(quotes, quotesCases, coefficients),
      depth: scoreDepth(depth, depthCases, coefficients),
    },
  };
}

function scoreResolved(
  file: EngineData["resolved"],
  samples: readonly Sample[],
  fit: (train: readonly Sample[]) => EngineCoefficients,
): Evaluation {
  const folds = Array.from({ length: FOLDS }, (_, fold) => fit(samples.filter(({ group }) => foldOf(group) !== fold)));
  const coefficientsOf = ({ group }: { readonly group: string }) => folds[foldOf(group)] ?? fit(samples);
  return evaluateFile(file, {
    scoreSamples: (all) => all.flatMap((sample) => scoreSamples([sample], coefficientsOf(sample))),
    coefficientsOf,
  });
}

function compareByTime(samples: readonly Sample[], fit: (train: readonly Sample[]) => EngineCoefficients): Comparison {
  const rows = samples.map((sample) => ({
    ...sample,
    asOf: sample.view.asOf,
    resolvedAt: sample.history.resolvedAt,
  }));
  return compare(splitByTime(rows).flatMap(({ train, test }) => scoreSamples(test, fit(train))));
}

/** Leaves out one contest at a time: prices of one contest depend on each other. */
function scoreQuotes(file: EngineFile, cases: readonly LaterCase[], coefficients: EngineCoefficients): Evaluation {
  const events = new Set(cases.map(({ event }) => event));
  const fits = new Map(
    [...events].map((event) => [
      event,
      fitLeadership(
        cases.filter((item) => item.event !== event),
        coefficients,
      ),
    ]),
  );
  return evaluateFile(file, {
    scoreSamples: () => [],
    coefficientsOf: ({ event }) => ({
      ...coefficients,
      leadership: fits.get(event)?.leadership ?? coefficients.leadership,
    }),
  });
}

function scoreDepth(file: EngineFile, cases: readonly LaterCase[], coefficients: EngineCoefficients): Evaluation {
  const points = micropricePoints(byEvent(cases), 1, coefficients);
  const shares = Array.from({ length: FOLDS }, (_, fold) =>
    cautiousSlope(
      points.filter(({ group }) => foldOf(group) !== fold),
      MICROPRICE_STEP,
    ),
  );
  return evaluateFile(file, {
    scoreSamples: () => [],
    coefficientsOf: ({ event }) => ({ ...coefficients, micropriceShare: shares[foldOf(event)] ?? 0 }),
  });
}

function tryMicroprice(cases: readonly LaterCase[], base: EngineCoefficients): TapeTrial {
  const hour = micropricePoints(cases, 1, base);
  const share = cautiousSlope(hour, MICROPRICE_STEP);
  return toTrial(
    "microprice",
    hour,
    micropricePoints(cases, 24, base),
    (train) => cautiousSlope(train, MICROPRICE_STEP),
    {
      value: share,
      decidedAfter: "hour",
    },
  );
}

/** With leadership fitted, the weight is 1 if the shares predict the price a day later out of fold. */
function tryCrossVenue(cases: readonly LaterCase[], base: EngineCoefficients): TapeTrial {
  const whole = { ...base, leadership: { default: { money: 1, play_money: 1, forecast: 1 } } };
  const points = (hours: number) => factorPoints(byEvent(cases), hours, "cross_venue", whole);
  return toTrial("cross_venue", points(1), points(24), (train) => cautiousSlope(train, MICROPRICE_STEP), {
    value: 1,
    decidedAfter: "day",
  });
}

function tryFactorOnTape(
  name: "order_flow" | "momentum",
  cases: readonly LaterCase[],
  base: EngineCoefficients,
): TapeTrial {
  const points = (hours: number) => factorPoints(byEvent(cases), hours, name, base);
  const hour = points(1);
  const { value } = fitSlope(hour);
  return toTrial(name, hour, points(24), (train) => fitSlope(train).value, { value, decidedAfter: "hour" });
}

/** Contracts of one event depend on each other. */
const byEvent = (cases: readonly LaterCase[]): LaterCase[] => cases.map((later) => ({ ...later, group: later.event }));

/** Keeps a value if the out-of-fold error falls by at least one standard error, and does not rise at the other time. */
function toTrial(
  name: string,
  hour: readonly Point[],
  day: readonly Point[],
  fit: (train: readonly Point[]) => number,
  { value, decidedAfter }: { readonly value: number; readonly decidedAfter: "hour" | "day" },
): TapeTrial {
  const [afterHour, afterDay] = [slopeGain(hour, fit), slopeGain(day, fit)];
  const [decisive, other] = decidedAfter === "hour" ? [afterHour, afterDay] : [afterDay, afterHour];
  const isKept = decisive.value < 0 && -decisive.value >= decisive.error && other.value <= 0;
  const slope = fitSlope(decidedAfter === "hour" ? hour : day);
  return { name, slope, afterHour, afterDay, shipped: isKept ? round(value) : 0 };
}

const round = (value: number): number => Number(value.toFixed(2));
