import Type from "typebox";
import { SCHEMA_NAME } from "../../http/named-schemas.ts";
import { oneOf } from "../../http/schema-types.ts";
import type { Relationship } from "../../quant/correlation.ts";
import { CORRELATION_PERIODS, MARKETS_MAX, MARKETS_MIN } from "./model.ts";

const MARKET_NAME_LENGTH_MAX = 600;

const RELATIONSHIPS: readonly Relationship[] = [
  "strong_positive",
  "positive",
  "neutral",
  "negative",
  "strong_negative",
  "insufficient_data",
];

const period = Type.Optional(oneOf(CORRELATION_PERIODS, { default: "7d", description: "Lookback." }));

/** Request and response schemas. Their venue enums list the venues configured for this deployment. */
export function createCorrelationSchemas(venues: readonly string[]) {
  return {
    body: Type.Object({
      market_ids: Type.Array(Type.String({ minLength: 1, maxLength: MARKET_NAME_LENGTH_MAX }), {
        minItems: MARKETS_MIN,
        maxItems: MARKETS_MAX,
        description:
          "Markets to compare: ids at the venue `platform`, or `platform/market_id`. Markets of several venues can be mixed.",
      }),
      period,
      platform: Type.Optional(oneOf(venues, { description: "Venue of the ids that do not name one." })),
    }),
    slugPath: Type.Object({
      slug: Type.String({
        description: "Event slug: the venue and the venue's event id, as `{platform}:{event_id}`.",
      }),
    }),
    query: Type.Object({ period }),
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
              correlation: Type.Unsafe<number | null>({
                type: ["number", "null"],
                minimum: -1,
                maximum: 1,
                description:
                  "Pearson coefficient of the changes of both markets' log-odds, from 15 minutes to 15 minutes over 48 hours, else from hour to hour. Null exactly if the data is insufficient: fewer than 30 steps in which both prices changed.",
              }),
              data_points: Type.Integer({
                minimum: 0,
                description: "Number of steps in which both prices were known.",
              }),
              relationship: oneOf(RELATIONSHIPS, {
                description:
                  "At least 0.7 `strong_positive`, at least 0.3 `positive`, above -0.3 `neutral`, above -0.7 `negative`, else `strong_negative`.",
              }),
            },
            { [SCHEMA_NAME]: "CorrelationPair" },
          ),
          { description: "All pairs." },
        ),
        clusters: Type.Array(Type.Array(Type.String()), {
          description: "Groups of markets that are connected by correlations above 0.5.",
        }),
        concentration_warnings: Type.Array(Type.String(), {
          description: "A sentence for each pair with a correlation of at least 0.7.",
        }),
        generated_at: Type.String({
          format: "date-time",
          description: "Time at which this response was generated.",
        }),
      },
      { [SCHEMA_NAME]: "Correlation" },
    ),
  };
}
