/** Fits the microprice share and factor weights to recordings. Each is tested out of fold, with folds by event. */
import type { EngineCoefficients } from "../../../src/engine/model.ts";
import type { LaterPriceCase } from "../later-price.ts";
import { FOLD_COUNT, foldOf } from "./folds.ts";
import {
  factorPoints,
  fitSlope,
  micropricePoints,
  type RegressionPoint,
  relativeErrorChange,
  type SlopeEstimate,
  slopeLowerBound,
} from "./recording-slopes.ts";

/** A fitted slope and its out-of-fold test. */
export interface RecordingFactorTest {
  readonly name: string;
  readonly slope: SlopeEstimate;
  /** Relative change of the squared error against the price an hour and a day later; below 0 is better. */
  readonly afterHour: SlopeEstimate;
  readonly afterDay: SlopeEstimate;
  /** Shipped value; 0 if the slope fails the test in `toTrial`. */
  readonly shipped: number;
}

interface Horizons {
  readonly hour: readonly RegressionPoint[];
  readonly day: readonly RegressionPoint[];
}

/** Fits the microprice share, and then the weight of the order-flow factor given that share. */
export function fitDepth(cases: readonly LaterPriceCase[], base: EngineCoefficients) {
  const points = atHorizons((hours) => micropricePoints(byEvent(cases), hours, base));
  const microprice = toTrial("microprice", points, atBothTimes, "hour");
  const moved = { ...base, micropriceShare: microprice.shipped };
  const orderFlow = testFactor("order_flow", cases, moved);
  const weights = { ...base.weights, order_flow: orderFlow.shipped };
  return { microprice, orderFlow, coefficients: { ...moved, weights } };
}

export function testFactor(
  name: "order_flow" | "momentum",
  cases: readonly LaterPriceCase[],
  base: EngineCoefficients,
): RecordingFactorTest {
  const points = atHorizons((hours) => factorPoints(byEvent(cases), hours, name, base));
  return toTrial(name, points, atBothTimes, "hour");
}

/**
 * Tests whether the price gaps to peers predict the price a day later. The shipped weight is 1 or 0, because
 * `fitLeadership` fits the sizes.
 */
export function testCrossVenue(cases: readonly LaterPriceCase[], base: EngineCoefficients): RecordingFactorTest {
  const whole = { ...base, leadership: { default: { money: 1, play_money: 1, forecast: 1 } } };
  const points = atHorizons((hours) => factorPoints(byEvent(cases), hours, "cross_venue", whole));
  const trial = toTrial("cross_venue", points, ({ day }) => slopeLowerBound(day), "day");
  return { ...trial, shipped: trial.shipped > 0 ? 1 : 0 };
}

const atHorizons = (pointsAfter: (hours: number) => readonly RegressionPoint[]): Horizons => ({
  hour: pointsAfter(1),
  day: pointsAfter(24),
});

/** Sets the group of each case to its event, because contracts of one event are correlated. */
const byEvent = (cases: readonly LaterPriceCase[]): LaterPriceCase[] =>
  cases.map((later) => ({ ...later, group: later.event }));

/** The smaller of the slope lower bounds after an hour and after a day. */
const atBothTimes = ({ hour, day }: Horizons): number => Math.min(slopeLowerBound(hour), slopeLowerBound(day));

/**
 * Keeps a slope if it lowers the out-of-fold error by at least one standard error at the decisive horizon, and raises
 * it by less than one standard error at the other horizon.
 */
function toTrial(
  name: string,
  points: Horizons,
  fit: (points: Horizons) => number,
  decisive: keyof Horizons,
): RecordingFactorTest {
  const slopes = Array.from({ length: FOLD_COUNT }, (_, fold) => {
    const isTrained = ({ group }: RegressionPoint) => foldOf(group) !== fold;
    return fit({ hour: points.hour.filter(isTrained), day: points.day.filter(isTrained) });
  });
  const slopeOf = (group: string) => slopes[foldOf(group)] ?? 0;
  const [afterHour, afterDay] = [relativeErrorChange(points.hour, slopeOf), relativeErrorChange(points.day, slopeOf)];
  const [gain, other] = decisive === "hour" ? [afterHour, afterDay] : [afterDay, afterHour];
  const isKept = gain.value < 0 && -gain.value >= gain.error && other.value < other.error;
  const shipped = isKept ? Number(fit(points).toFixed(2)) : 0;
  return { name, slope: fitSlope(points[decisive]), afterHour, afterDay, shipped };
}
