/** Fits the share of the microprice and the weights of factors to recordings, and tests each out of fold by event. */
import type { EngineCoefficients } from "../../../src/engine/model.ts";
import type { LaterCase } from "../later-price.ts";
import { FOLDS, foldOf } from "./folds.ts";
import {
  factorPoints,
  fitSlope,
  micropricePoints,
  type Point,
  relativeErrorChange,
  type Slope,
  slopeLowerBound,
} from "./recording-slopes.ts";

/** A fitted slope, and the relative change of the squared error that it causes out of fold; below 0 is better. */
export interface RecordingTrial {
  readonly name: string;
  readonly slope: Slope;
  readonly afterHour: Slope;
  readonly afterDay: Slope;
  /** Shipped value; 0 if the slope does not pass the test (`toTrial`). */
  readonly shipped: number;
}

interface Horizons {
  readonly hour: readonly Point[];
  readonly day: readonly Point[];
}

/** Fits the share of the distance from the mid to the microprice, and with it the weight of the order flow. */
export function fitDepth(cases: readonly LaterCase[], base: EngineCoefficients) {
  const points = atHorizons((hours) => micropricePoints(byEvent(cases), hours, base));
  const microprice = toTrial("microprice", points, atBothTimes, "hour");
  const moved = { ...base, micropriceShare: microprice.shipped };
  const orderFlow = testFactor("order_flow", cases, moved);
  const weights = { ...base.weights, order_flow: orderFlow.shipped };
  return { microprice, orderFlow, coefficients: { ...moved, weights } };
}

export function testFactor(
  name: "order_flow" | "momentum",
  cases: readonly LaterCase[],
  base: EngineCoefficients,
): RecordingTrial {
  const points = atHorizons((hours) => factorPoints(byEvent(cases), hours, name, base));
  return toTrial(name, points, atBothTimes, "hour");
}

/** The weight is 1 or 0: `fitLeadership` fits the shares, and this tests whether they predict the price a day later. */
export function testCrossVenue(cases: readonly LaterCase[], base: EngineCoefficients): RecordingTrial {
  const whole = { ...base, leadership: { default: { money: 1, play_money: 1, forecast: 1 } } };
  const points = atHorizons((hours) => factorPoints(byEvent(cases), hours, "cross_venue", whole));
  const trial = toTrial("cross_venue", points, ({ day }) => slopeLowerBound(day), "day");
  return { ...trial, shipped: trial.shipped > 0 ? 1 : 0 };
}

const atHorizons = (pointsAfter: (hours: number) => readonly Point[]): Horizons => ({
  hour: pointsAfter(1),
  day: pointsAfter(24),
});

/** Groups by event, because contracts of one event are correlated. */
const byEvent = (cases: readonly LaterCase[]): LaterCase[] => cases.map((later) => ({ ...later, group: later.event }));

/** The smaller of the slopes after an hour and after a day. */
const atBothTimes = ({ hour, day }: Horizons): number => Math.min(slopeLowerBound(hour), slopeLowerBound(day));

/**
 * Keeps a slope if its out-of-fold error falls by at least one standard error at the decisive time, and does not rise
 * by one at the other time.
 */
function toTrial(
  name: string,
  points: Horizons,
  fit: (points: Horizons) => number,
  decisive: keyof Horizons,
): RecordingTrial {
  const slopes = Array.from({ length: FOLDS }, (_, fold) => {
    const isTrained = ({ group }: Point) => foldOf(group) !== fold;
    return fit({ hour: points.hour.filter(isTrained), day: points.day.filter(isTrained) });
  });
  const slopeOf = (group: string) => slopes[foldOf(group)] ?? 0;
  const [afterHour, afterDay] = [relativeErrorChange(points.hour, slopeOf), relativeErrorChange(points.day, slopeOf)];
  const [gain, other] = decisive === "hour" ? [afterHour, afterDay] : [afterDay, afterHour];
  const isKept = gain.value < 0 && -gain.value >= gain.error && other.value < other.error;
  const shipped = isKept ? Number(fit(points).toFixed(2)) : 0;
  return { name, slope: fitSlope(points[decisive]), afterHour, afterDay, shipped };
}
