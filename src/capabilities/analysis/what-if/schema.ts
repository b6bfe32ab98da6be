import Type from "typebox";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import {
  marketNames,
  nullableDifference,
  nullableProbability,
  oneOf,
  probability,
  timestamp,
} from "../../../http/schema-types.ts";
import { DEPENDENCES } from "./model.ts";

const TEXT_LENGTH_MAX = 500;

const similarity = probability("How well the market answers the text. 1 if it asks for the same and nothing else.");

const sideSchema = (venues: readonly string[], name: string) =>
  Type.Object(
    {
      ...marketNames(venues),
      yes_price: probability("Price of YES."),
      probability: probability("Probability that the answer starts from."),
      probability_source: oneOf(["model", "price"], {
        description: "`model` if there is an estimate of ours, else `price`.",
      }),
      similarity,
    },
    { [SCHEMA_NAME]: name },
  );

/** Inputs of the query string or the body. All are optional here; the route requires each text in one of the two. */
function inputs(venues: readonly string[], { isBody }: { readonly isBody: boolean }) {
  const place = isBody
    ? " Required here or as the query parameter of this name; this one is used if both are sent."
    : " Required here or in the body; that of the body is used if both are sent.";
  return Type.Object({
    market_query: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: TEXT_LENGTH_MAX,
        description: `The question whose probability you ask for, in words. All its words, months, numbers and directions must be in the open market that is used; a text that fits several questions within 0.05 of score is a 409 \`ambiguous_query\`.${place}`,
      }),
    ),
    hypothesis: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: TEXT_LENGTH_MAX,
        description: `What you assume to happen, in words. It finds another open market of any venue in the same way.${place}`,
      }),
    ),
    platform: Type.Optional(oneOf(venues, { description: "Venue of the question's market." })),
  });
}

export function createWhatIfSchemas(venues: readonly string[]) {
  return {
    query: inputs(venues, { isBody: false }),
    body: inputs(venues, { isBody: true }),
    WhatIf: Type.Object(
      {
        market: sideSchema(venues, "WhatIfMarket"),
        hypothesis: sideSchema(venues, "WhatIfHypothesis"),
        dependence: oneOf(DEPENDENCES, {
          description:
            "How the market depends on the hypothesis: `same` or `opposite` answer, `exclusive` (at most one is YES), `implies` (the hypothesis implies it), `implied` (it implies the hypothesis), `correlation` (from the price moves of 30 days), or `unknown`.",
        }),
        correlation: nullableDifference(
          "Correlation of the changes of both log-odds over 30 days, at the shortest horizon from an hour to a day at which it is stable. Null if it was not needed or is unknown.",
        ),
        data_points: Type.Unsafe<number | null>({
          type: ["integer", "null"],
          minimum: 0,
          description: "Hours in which both prices were known. Null if no correlation was computed.",
        }),
        probability_if_true: nullableProbability(
          "Probability of YES if the hypothesis is true: exactly 1 for `same` and `implies`, exactly 0 for `opposite` and `exclusive`. Null if the dependence is unknown, and if the hypothesis has the probability 0 and logic does not decide the answer.",
        ),
        probability_if_false: nullableProbability(
          "Probability of YES if the hypothesis is false: exactly 0 for `same` and `implied`, exactly 1 for `opposite`. With the probability h of the hypothesis, h × `probability_if_true` + (1 - h) × `probability_if_false` is the probability of the market, unless the two probabilities contradict a logical dependence. The rationale then says so.",
        ),
        base_probability: probability("Probability of the market, as `market.probability`."),
        scenario_probability: nullableProbability(
          "Probability of the market in the scenario, as `probability_if_true`.",
        ),
        delta: nullableDifference(
          "`scenario_probability` - `base_probability`. Null if `scenario_probability` is null.",
        ),
        rationale: Type.String({ description: "Explains the result with the figures of this response." }),
        generated_at: timestamp("Time at which this response was generated."),
      },
      { [SCHEMA_NAME]: "WhatIf" },
    ),
  };
}
