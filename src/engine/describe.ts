import type { ChangeName, Estimate, EstimateStep } from "./estimate.ts";
import { EDGE_MIN, type ExecutableEdge, recommend } from "./executable-edge.ts";
import { formatOrderPrice, formatPercent, formatPoints, formatPrice } from "./format.ts";
import { toProbability } from "./log-odds.ts";

/** Five sentences: the estimate, its interval, the largest effect, the recommendation and the data used. */
export function summariseEstimate(estimate: Estimate, edges: readonly ExecutableEdge[], isFull: boolean): string {
  const { probability, marketPrice, interval, steps } = estimate;
  const [main] = byEffect(steps);
  const sentences = [
    `The estimate is ${formatPercent(probability)}% for YES, ${formatPoints(probability - marketPrice)} points from the price of ${formatPrice(marketPrice)}.`,
    `The 80% interval is ${formatPercent(interval.low)}% to ${formatPercent(interval.high)}%.`,
    main === undefined ? "No factor speaks against the price." : describeEffect(main),
    describeRecommendation(edges),
    isFull ? "The analysis includes research." : "The analysis uses market data only.",
  ];
  return sentences.join(" ");
}

function describeEffect({ prior, posterior, claim }: EstimateStep): string {
  const points = formatPoints(posterior - prior);
  return points === "0"
    ? "No factor changes the price by 0.1 points."
    : `The largest effect, ${points} points: ${claim}`;
}

function describeRecommendation(edges: readonly ExecutableEdge[]): string {
  const [best] = edges;
  if (best === undefined) return "No side can be bought at a current price and a known fee.";
  const costs = `at ${formatOrderPrice(best.price)} plus a fee of ${formatPrice(best.fee)}`;
  return recommend(edges) === "NO_TRADE"
    ? `No trade has the required edge of ${formatPoints(EDGE_MIN)} point after costs: the better one, ${best.side.toUpperCase()} ${costs}, has ${formatPoints(best.edge)} points.`
    : `Buying ${best.side.toUpperCase()} ${costs} has an edge of ${formatPoints(best.edge)} points.`;
}

/** One sentence per factor, the largest effect first. */
export function describeFactors({ steps }: Estimate): string[] {
  return byEffect(steps).map(({ claim, prior, posterior }) => `${claim} (${formatPoints(posterior - prior)} points)`);
}

/** Sentences with the estimate without each factor, and with the prices at which the analysis would no longer hold. */
export function describeSensitivity({ steps, logOdds, interval }: Estimate): string[] {
  const withouts = byEffect(steps).map(({ name, change }) => {
    const probability = toProbability(logOdds - change);
    return `Without ${NAMES[name]}, the estimate would be ${formatPercent(probability)}%.`;
  });
  const bounds = `${formatPrice(interval.low)} or above ${formatPrice(interval.high)}`;
  return [...withouts, `A price below ${bounds} would contradict this analysis.`];
}

/** Sentence with the difference between estimate and price, and the edge of each side after costs. */
export function describeEdge({ probability, marketPrice }: Estimate, edges: readonly ExecutableEdge[]): string {
  const difference = `The estimate differs from the price by ${formatPoints(probability - marketPrice)} points.`;
  const sides = edges.map(
    ({ side, price, fee, edge }) =>
      `${side.toUpperCase()} costs ${formatOrderPrice(price)} plus a fee of ${formatPrice(fee)}, which leaves ${formatPoints(edge)} points.`,
  );
  const rule = `A trade needs at least ${formatPoints(EDGE_MIN)} point after costs.`;
  return sides.length === 0
    ? `${difference} No side can be bought at a current price and a known fee.`
    : [difference, ...sides, rule].join(" ");
}

const NAMES: Readonly<Record<ChangeName, string>> = {
  calibration: "the calibration of prices near 0 and 1",
  cross_venue: "the prices of other venues",
  event_coherence: "the other markets of the event",
  momentum: "the recent price moves",
  order_flow: "the order flow",
  time_decay: "the decay with time",
  reported_consensus: "the reported trades",
  research: "the research",
  event_logic: "the estimates of the event's other markets",
};

const byEffect = (steps: readonly EstimateStep[]): EstimateStep[] =>
  steps.toSorted((a, b) => Math.abs(b.posterior - b.prior) - Math.abs(a.posterior - a.prior));
