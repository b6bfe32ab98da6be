import { contradictionOf, type MarketProbability } from "./model.ts";
import type { WhatIf } from "./service.ts";

export function presentWhatIf(answer: WhatIf) {
  const { question, hypothesis, similarity, dependence, correlation, dataPoints, ifTrue, ifFalse } = answer;
  return {
    market: presentSide(question, similarity.question),
    hypothesis: presentSide(hypothesis, similarity.hypothesis),
    dependence,
    correlation,
    data_points: dataPoints,
    probability_if_true: ifTrue,
    probability_if_false: ifFalse,
    base_probability: question.probability,
    scenario_probability: ifTrue,
    delta: ifTrue === null ? null : ifTrue - question.probability,
    rationale: explain(answer),
    generated_at: new Date(answer.generatedAt).toISOString(),
  };
}

function presentSide({ market: { listing, yesPrice }, probability, source }: MarketProbability, similarity: number) {
  return {
    platform: listing.venue,
    market_id: listing.marketId,
    title: listing.title,
    yes_price: yesPrice ?? probability,
    probability,
    probability_source: source,
    similarity: Math.min(1, similarity),
  };
}

/** Minimum contradiction to report. A smaller one is not visible in percentages with one decimal. */
const CONTRADICTION_MIN = 0.0005;

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;

function explain({ question, hypothesis, dependence, correlation, dataPoints, ifTrue, ifFalse }: WhatIf): string {
  const start = `The probability of the question is ${percent(question.probability)}, that of the hypothesis ${percent(hypothesis.probability)}.`;
  const reason: Readonly<Record<typeof dependence, string>> = {
    same: "Both markets ask the same question.",
    opposite: "The markets ask opposite questions.",
    exclusive: "Both are outcomes of one event, of which at most one happens.",
    implies: "If the hypothesis is true, the question is answered YES.",
    implied: "The question can be answered YES only if the hypothesis is true.",
    correlation: `The log-odds of both prices moved with a correlation of ${correlation?.toFixed(2)} in ${dataPoints} hours, which a Gaussian copula turns into conditional probabilities.`,
    unknown: `The prices moved in too few of ${dataPoints ?? 0} hours to measure a correlation, and no logical relation is known.`,
  };
  const contradiction = contradictionOf(dependence, question.probability, hypothesis.probability);
  const results = [
    ...(contradiction < CONTRADICTION_MIN
      ? []
      : [
          `The two probabilities contradict this by ${percent(contradiction)}. The results follow the logic, so they do not average to the probability of the question.`,
        ]),
    ...(ifTrue === null ? [] : [`If the hypothesis is true, the probability of the question is ${percent(ifTrue)}.`]),
    ...(ifFalse === null ? [] : [`If it is false, it is ${percent(ifFalse)}.`]),
  ];
  return [start, reason[dependence], ...results].join(" ");
}
