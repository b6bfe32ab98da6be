import type { Estimate } from "./estimate.ts";
import { formatPercent, formatPrice } from "./format.ts";
import type { LegView, MarketView } from "./model.ts";

/** One possible development. The scenarios of an analysis are mutually exclusive and exhaustive. */
export interface Scenario {
  readonly name: string;
  /** Probability of the scenario; the scenarios' probabilities sum to 1. */
  readonly probability: number;
  readonly conditionalProbability: number;
  readonly description: string;
  /** Observation that would indicate this scenario. */
  readonly trigger: string;
}

const RIVALS_MAX = 3;

/**
 * Scenarios whose probabilities sum to 1 and satisfy the law of total probability: the sum of P(s) P(YES | s) is the
 * estimated probability. For exclusive outcomes, the scenarios are: this outcome, each of its most likely rivals, any
 * other outcome. Otherwise: the estimate first reaches the upper bound of its interval, or first the lower bound. A
 * probability that changes only with news is a martingale, so from p it reaches the upper bound first with the
 * probability (p - low) / (high - low) (optional stopping theorem).
 */
export function describeScenarios(view: MarketView, estimate: Estimate): Scenario[] {
  return describeOutcomes(view, estimate) ?? describeBounds(estimate);
}

function describeOutcomes({ event, marketId }: MarketView, { probability }: Estimate): Scenario[] | null {
  if (event === null || !event.isExclusive || event.legs.length < 2) return null;
  const own = event.legs.find((leg) => leg.marketId === marketId);
  if (own === undefined) return null;
  const others = event.legs.filter((leg) => leg !== own).sort((a, b) => b.yesPrice - a.yesPrice);
  const sum = others.reduce((total, { yesPrice }) => total + yesPrice, 0);
  if (sum <= 0) return null;
  const left = 1 - probability;
  const scale = event.isExhaustive ? left / sum : Math.min(1, left / sum);
  const rivals = others.slice(0, RIVALS_MAX).map((leg) => describeRival(leg, leg.yesPrice * scale));
  const rest = left - rivals.reduce((total, rival) => total + rival.probability, 0);
  return [
    {
      name: `"${own.label}" happens`,
      probability,
      conditionalProbability: 1,
      description: `This outcome happens: ${formatPercent(probability)}%.`,
      trigger: "This market resolves YES.",
    },
    ...rivals,
    ...(rest > 1e-9
      ? [
          {
            name: "Another outcome happens",
            probability: rest,
            conditionalProbability: 0,
            description: `None of the outcomes above happens: ${formatPercent(rest)}%.`,
            trigger: "Another market of the event resolves YES, or none does.",
          },
        ]
      : []),
  ];
}

function describeRival({ label, yesPrice }: LegView, probability: number): Scenario {
  return {
    name: `"${label}" happens`,
    probability,
    conditionalProbability: 0,
    description: `The price of "${label}" is ${formatPrice(yesPrice)}; consistent with this estimate it has ${formatPercent(probability)}%.`,
    trigger: `The market "${label}" resolves YES.`,
  };
}

function describeBounds({ probability, interval: { low, high } }: Estimate): Scenario[] {
  if (!(low < probability && probability < high))
    return [
      {
        name: "Little changes",
        probability: 1,
        conditionalProbability: probability,
        description: `The estimate stays near ${formatPercent(probability)}%.`,
        trigger: "No news changes the price.",
      },
    ];
  const up = (probability - low) / (high - low);
  const describeBound = (verb: string, bound: number) =>
    `News moves the estimate from ${formatPercent(probability)}% to the ${verb} bound of its 80% interval, ${formatPercent(bound)}%, before the other bound.`;
  return [
    {
      name: "News for YES",
      probability: up,
      conditionalProbability: high,
      description: describeBound("upper", high),
      trigger: `The price reaches ${formatPrice(high)}.`,
    },
    {
      name: "News for NO",
      probability: 1 - up,
      conditionalProbability: low,
      description: describeBound("lower", low),
      trigger: `The price reaches ${formatPrice(low)}.`,
    },
  ];
}
