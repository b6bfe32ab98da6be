/** Regressions on recordings: how much of the gap to its microprice, or to the prices of its peers, a price closes. */
import type { EngineCoefficients } from "../../../src/engine/index.ts";
import { clusteredStandardError } from "../../../src/quant/clustered-ratio.ts";
import type { LaterPriceCase } from "../later-price.ts";
import { priorAndExposures } from "./exposures.ts";

/** Assumed standard deviation of the venue pairs' shares around their mean. One recording cannot estimate it. */
const PAIR_DEVIATION = 0.1;
const SHARE_MAX = 0.6;
const Z_95 = 1.96;
/** Assumed ratio of the share for play-money and forecast venues to the share for money. No recording contains them. */
const OTHER_KINDS_RATIO = 0.25;

/** One observation of a regression through the origin, y = slope * x. */
export interface RegressionPoint {
  readonly group: string;
  readonly x: number;
  readonly y: number;
}

export interface SlopeEstimate {
  readonly value: number;
  /** Standard error, clustered by group. */
  readonly error: number;
  readonly n: number;
  readonly groups: number;
}

/** Fits y = slope * x by least squares. */
export function fitSlope(points: readonly RegressionPoint[]): SlopeEstimate {
  const squares = points.reduce((sum, { x }) => sum + x * x, 0);
  const value = squares === 0 ? 0 : points.reduce((sum, { x, y }) => sum + x * y, 0) / squares;
  const scores = new Map<string, number>();
  for (const { group, x, y } of points) scores.set(group, (scores.get(group) ?? 0) + x * (y - value * x));
  const total = [...scores.values()].reduce((sum, score) => sum + score ** 2, 0);
  return { value, error: squares === 0 ? 0 : Math.sqrt(total) / squares, n: points.length, groups: scores.size };
}

/**
 * Lower bound of the slope's 95% confidence interval, clustered by group; at least 0. The lower bound is used because
 * an underestimated slope only reduces the gain, while an overestimated slope can cause a loss.
 */
export function slopeLowerBound(points: readonly RegressionPoint[]): number {
  const { value, error } = fitSlope(points);
  return Math.max(0, value - Z_95 * error);
}

/** Points with x = microprice minus mid, and y = change of the price within `hours`. */
export function micropricePoints(
  cases: Iterable<LaterPriceCase>,
  hours: number,
  coefficients: EngineCoefficients,
): RegressionPoint[] {
  return pointsOf(cases, hours, (view) => {
    const mid = priorAndExposures(view, { ...coefficients, micropriceShare: 0 });
    const microprice = priorAndExposures(view, { ...coefficients, micropriceShare: 1 });
    if (mid === null || microprice === null) return null;
    return { from: mid.prior.probability, x: microprice.prior.probability - mid.prior.probability };
  });
}

/** Points with x = first-order change of the probability by the unweighted factor, y = price change within `hours`. */
export function factorPoints(
  cases: Iterable<LaterPriceCase>,
  hours: number,
  name: "cross_venue" | "order_flow" | "momentum",
  coefficients: EngineCoefficients,
): RegressionPoint[] {
  return pointsOf(cases, hours, (view) => {
    const exposure = priorAndExposures(view, coefficients);
    if (exposure === null) return null;
    const { probability } = exposure.prior;
    return { from: probability, x: probability * (1 - probability) * (exposure.exposures[name] ?? 0) };
  });
}

function pointsOf(
  cases: Iterable<LaterPriceCase>,
  hours: number,
  evaluate: (view: LaterPriceCase["view"]) => { readonly from: number; readonly x: number } | null,
): RegressionPoint[] {
  const points: RegressionPoint[] = [];
  for (const later of cases) {
    const price = later.priceAfter(hours);
    const start = price === null ? null : evaluate(later.view);
    if (price !== null && start !== null && start.x !== 0)
      points.push({ group: later.group, x: start.x, y: price - start.from });
  }
  return points;
}

/** Relative change of the squared error when predicting y = slope * x instead of y = 0; below 0 is better. */
export function relativeErrorChange(
  points: readonly RegressionPoint[],
  slopeOf: (group: string) => number,
): SlopeEstimate {
  const terms = points.map(({ group, x, y }) => ({
    group,
    numerator: (y - slopeOf(group) * x) ** 2 - y * y,
    denominator: y * y,
  }));
  const sum = (read: (term: (typeof terms)[number]) => number) => terms.reduce((total, term) => total + read(term), 0);
  return {
    value: sum(({ numerator }) => numerator) / sum(({ denominator }) => denominator),
    error: clusteredStandardError(terms),
    n: points.length,
    groups: new Set(points.map(({ group }) => group)).size,
  };
}

/**
 * Estimates, for each pair of venues, the share of the gap to a peer that a price closes within a day.
 *
 * The default share is the lower bound of the slope over all pairs, clustered by contest. The share of a pair is
 * w * slope of the pair + (1 - w) * default share, with w = 0.1^2 / (0.1^2 + standard error^2).
 */
export function fitLeadership(cases: readonly LaterPriceCase[], coefficients: EngineCoefficients) {
  const whole = { ...coefficients, leadership: { default: { money: 1, play_money: 1, forecast: 1 } } };
  const contests = cases.map((later) => ({ ...later, group: later.event }));
  const points = factorPoints(contests, 24, "cross_venue", whole);
  const share = Math.min(SHARE_MAX, slopeLowerBound(points));
  const pairs = [...Map.groupBy(cases, pairOf)].flatMap(([pair, ofPair]) => {
    const [venue, peer] = pair.split(" ");
    const slope = fitSlope(factorPoints(ofPair, 24, "cross_venue", whole));
    if (venue === undefined || peer === undefined || slope.n === 0) return [];
    const weight = PAIR_DEVIATION ** 2 / (PAIR_DEVIATION ** 2 + slope.error ** 2);
    const mean = weight * slope.value + (1 - weight) * share;
    return [{ venue, peer, slope, share: round(Math.max(0, Math.min(SHARE_MAX, mean))) }];
  });
  const others = round(share * OTHER_KINDS_RATIO);
  const leadership: EngineCoefficients["leadership"] = {
    ...Object.fromEntries(
      [...Map.groupBy(pairs, ({ venue }) => venue)].map(([venue, ofVenue]) => [
        venue,
        Object.fromEntries(ofVenue.map(({ peer, share: own }) => [peer, own])),
      ]),
    ),
    default: { money: round(share), play_money: others, forecast: others },
  };
  return { pooled: fitSlope(points), pairs, leadership };
}

/** Returns the venue and the peer's venue, separated by a space; only the venue unless there is exactly one peer. */
const pairOf = ({ view }: LaterPriceCase): string =>
  view.peers.length === 1 ? `${view.adapter} ${view.peers[0]?.adapter}` : `${view.adapter}`;

const round = (value: number): number => Number(value.toFixed(2));
