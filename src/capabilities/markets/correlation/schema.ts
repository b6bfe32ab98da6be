import Type, { type Static } from "typebox";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import { count, nullableDifference, oneOf, probability, timestamp } from "../../../http/schema-types.ts";
import type { CorrelationRelationship } from "../../../quant/correlation.ts";
import { CORRELATED_MARKETS_MAX, CORRELATED_MARKETS_MIN, CORRELATION_PERIODS } from "./model.ts";

const MARKET_NAME_LENGTH_MAX = 600;

const RELATIONSHIPS: readonly CorrelationRelationship[] = [
  "strong_positive",
  "positive",
  "neutral",
  "negative",
  "strong_negative",
  "insufficient_data",
];

const period = Type.Optional(oneOf(CORRELATION_PERIODS, { default: "7d", description: "Lookback." }));

const PAIRS_MAX = (CORRELATED_MARKETS_MAX * (CORRELATED_MARKETS_MAX - 1)) / 2;

const pairChoice = {
  period,
  min_correlation: Type.Optional(probability("Returns only pairs whose coefficient has at least this absolute value.")),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: PAIRS_MAX, description: "Returns at most this many pairs, strongest first." }),
  ),
};

export type PairQuery = Static<Type.TObject<typeof pairChoice>>;

export function createCorrelationSchemas(venues: readonly string[]) {
  return {
    body: Type.Object({
      market_ids: Type.Array(Type.String({ minLength: 1, maxLength: MARKET_NAME_LENGTH_MAX }), {
        minItems: CORRELATED_MARKETS_MIN,
        maxItems: CORRELATED_MARKETS_MAX,
        description:
          "Markets to compare: ids at the venue `platform`, or `platform/market_id`. Markets of several venues can be mixed.",
      }),
      ...pairChoice,
      platform: Type.Optional(oneOf(venues, { description: "Venue of the ids that do not name one." })),
    }),
    query: Type.Object(pairChoice),
    Correlation: Type.Object(
      {
        market_ids: Type.Array(Type.String(), { description: "Markets that were compared, as in the request." }),
        platform: Type.Unsafe<string | null>({
          type: ["string", "null"],
          enum: [...venues, null],
          description: "Venue of the markets. Null if they are of several venues.",
        }),
        period: oneOf(CORRELATION_PERIODS, { description: "Lookback used." }),
        pairs: Type.Array(
          Type.Object(
            {
              market_a: Type.String(),
              market_b: Type.String(),
              correlation: nullableDifference(
                "For markets that are matched as the same question (`basis` is `logic`): the confidence of the match, negative for opposite questions. Else the Pearson coefficient of the changes of both markets' log-odds over `horizon_seconds`. Null exactly if the data is insufficient: fewer than 30 steps, of 15 minutes over 48 hours, else of an hour, in which both prices changed.",
              ),
              data_points: count("Number of steps in which both prices were known."),
              relationship: oneOf(RELATIONSHIPS, {
                description:
                  "At least 0.7 `strong_positive`, at least 0.3 `positive`, above -0.3 `neutral`, above -0.7 `negative`, else `strong_negative`.",
              }),
              basis: Type.Optional(
                oneOf(["logic", "moves"], {
                  description: "`logic` if both markets are matched as the same or opposite questions, else `moves`.",
                }),
              ),
              horizon_seconds: Type.Optional(
                Type.Unsafe<number | null>({
                  type: ["integer", "null"],
                  minimum: 1,
                  description:
                    "Time over which the moves were compared: the shortest of four at which the estimate agrees with the longer ones, because stale quotes hide the dependence of short moves. Null without a coefficient of moves.",
                }),
              ),
            },
            { [SCHEMA_NAME]: "CorrelationPair" },
          ),
          { description: "All pairs in the order of the markets, or those that `min_correlation` and `limit` choose." },
        ),
        clusters: Type.Array(Type.Array(Type.String()), {
          description: "Groups of markets that are connected by correlations above 0.5.",
        }),
        concentration_warnings: Type.Array(Type.String(), {
          description:
            "A sentence for each pair with a correlation of at least 0.7, and for each pair of markets that ask the same or opposite questions.",
        }),
        generated_at: timestamp("Time at which this response was generated."),
      },
      { [SCHEMA_NAME]: "Correlation" },
    ),
  };
}
