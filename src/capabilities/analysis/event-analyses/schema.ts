import Type from "typebox";
import { INCOMPLETE_SET_REASONS } from "../../../board/index.ts";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import {
  count,
  nullableAmount,
  nullableDifference,
  nullableOneOf,
  nullableProbability,
  nullableString,
  nullableTimestamp,
  oneOf,
  probability,
  timestamp,
} from "../../../http/schema-types.ts";
import { FRESHNESS_LEVELS } from "../analyses/index.ts";

const RECOMMENDATIONS = ["BUY_YES", "BUY_NO", "NO_TRADE"] as const;
const edge = nullableDifference("Estimate minus price. Null without an estimate.");

export function createEventAnalysisSchemas(venues: readonly string[]) {
  const event = {
    slug: Type.String({ description: "Event slug." }),
    title: Type.String({ description: "Event question." }),
    platform: oneOf(venues, { description: "Venue." }),
  };
  const market = {
    market_id: Type.String({ description: "Market ticker or id at the venue." }),
    title: Type.String({ description: "Name of the outcome, or the question of the market." }),
    market_price: probability("Current price of YES."),
  };
  return {
    EventAnalysisStart: Type.Object(
      {
        slug: event.slug,
        status: oneOf(["running"]),
        poll_url: Type.String({
          description: "Path of the result. It returns 404 until the first of the analyses has ended.",
        }),
        estimated_seconds: Type.Integer({ minimum: 1, description: "Estimated time until all analyses have ended." }),
        analyses: Type.Array(
          Type.Object(
            {
              market_id: market.market_id,
              analysis_id: Type.String({ description: "Id of the analysis of this market." }),
              poll_url: Type.String({ description: "Path of the status of this analysis." }),
            },
            { [SCHEMA_NAME]: "EventAnalysisRun" },
          ),
          { description: "One analysis per open market, the largest 24-hour volume first." },
        ),
      },
      { [SCHEMA_NAME]: "EventAnalysisStart" },
    ),
    EventAnalysis: Type.Object(
      {
        ...event,
        market_count: count("Number of open markets, at most 20."),
        analyzed_count: Type.Integer({ minimum: 1, description: "Number of them that have an analysis." }),
        summary: Type.String({
          description: "How many markets are analysed, and which estimate differs most from the price.",
        }),
        markets: Type.Array(
          Type.Object(
            {
              ...market,
              analysis_id: nullableString("Id of the latest analysis. Null if there is none."),
              model_probability: nullableProbability(
                "Our estimate of the probability of YES at `market_price`. Null without an analysis, or if it has expired.",
              ),
              model_probability_at: nullableTimestamp("Time of `model_probability`. Null without one."),
              edge: nullableDifference("`model_probability` minus `market_price`. Null without an estimate."),
              confidence: nullableProbability("Confidence of the estimate. Null without one."),
              recommendation: nullableOneOf(
                RECOMMENDATIONS,
                "What the estimate recommends at the current price. Null without an estimate.",
              ),
              analyzed_at: nullableTimestamp("Time of the analysis. Null without an analysis."),
              freshness: nullableOneOf(FRESHNESS_LEVELS, "Freshness of the analysis. Null without an analysis."),
            },
            { [SCHEMA_NAME]: "EventAnalysisMarket" },
          ),
          { description: "The open markets of the event, the largest 24-hour volume first, at most 20." },
        ),
        generated_at: timestamp("Time at which this response was generated."),
      },
      { [SCHEMA_NAME]: "EventAnalysis" },
    ),
    ProbabilityMap: Type.Object(
      {
        ...event,
        outcomes: Type.Array(
          Type.Object(
            {
              ...market,
              estimated_probability: nullableProbability(
                "Our latest estimate of the probability of YES. Null without one of the last 72 hours.",
              ),
              edge,
            },
            { [SCHEMA_NAME]: "OutcomeProbability" },
          ),
          { description: "The open markets of the event, the largest 24-hour volume first." },
        ),
        probability_sum: nullableAmount("Sum of the estimates. Null if an outcome has none."),
        probability_sum_valid: Type.Unsafe<boolean | null>({
          type: ["boolean", "null"],
          description:
            "Whether the sum is possible, within 0.05: at most 1 if the outcomes exclude each other, and 1 if they also cover everything. Null if the sum is unknown or the outcomes do not exclude each other.",
        }),
        exhaustive: Type.Boolean({
          description:
            "Whether one of these outcomes must happen, unless the venue cancels the event: all markets of the event were read, and those left out are settled NO.",
        }),
        not_exhaustive_because: nullableOneOf(
          INCOMPLETE_SET_REASONS,
          "Null if `exhaustive`. `not_guaranteed`: the venue does not guarantee it. `children_unknown`: the venue does not say how many markets the event has. `children_left_out`: markets were not read, see `children` of the event. `children_missing`: the listed markets are not those that were read. `outcome_not_open`: an outcome has no price or is closed.",
        ),
        generated_at: timestamp("Time at which this response was generated."),
      },
      { [SCHEMA_NAME]: "ProbabilityMap" },
    ),
  };
}
