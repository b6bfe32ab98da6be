import Type from "typebox";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import {
  amount,
  count,
  createMarketPath,
  difference,
  nullableNumber,
  nullableString,
  oneOf,
  probability,
  timestamp,
  type VenueIds,
} from "../../../http/schema-types.ts";
import { commaList } from "../../../http/validation/index.ts";
import { historySchema } from "../../markets/market-data/index.ts";
import { ANALYSIS_TYPES, FRESHNESS_LEVELS, RUN_STATUSES } from "./model.ts";

export const LIST_LIMIT_DEFAULT = 20;
const LIST_LIMIT_MAX = 50;

const sentences = (description: string) => Type.Array(Type.String(), { description });

/** The causal decomposition of analyses and signals. */
export const causalSchema = Type.Object(
  {
    factors: Type.Array(
      Type.Object(
        {
          claim: Type.String({ description: "What the factor found, with its figures." }),
          direction: oneOf(["supports_yes", "supports_no"]),
          evidence: sentences("The figures behind the claim, each with its source."),
          prior: probability("Probability before this factor: `posterior` of the factor before it."),
          posterior: probability("Probability after this factor."),
          weight: probability("This factor's share of the absolute changes of the log-odds. All weights sum to 1."),
          confidence: probability("How far the factor applies to this market."),
        },
        { [SCHEMA_NAME]: "CausalFactor" },
      ),
      {
        description:
          "Factors that contribute, in the order in which they are added. If none contributes, the list contains the price only.",
      },
    ),
    method: Type.String({ description: "`log_odds`: the factors are added in log-odds." }),
    overall_probability: probability("Same as `probability`: `posterior` of the last factor."),
    overall_confidence: probability("Same as `confidence`."),
    generated_at: timestamp("Same as `model_probability_at`."),
  },
  { [SCHEMA_NAME]: "CausalDecomposition" },
);

export const analysisStatusSchema = Type.Object(
  {
    analysis_id: Type.String({ description: "Id of the run. It is sufficient to poll the run." }),
    status: oneOf(RUN_STATUSES),
    poll_url: Type.Optional(Type.String({ default: "", description: "Path that returns this object." })),
    estimated_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        default: 60,
        description: "Estimated seconds until the run ends, from the last runs of the same type. 0 if it has ended.",
      }),
    ),
    error_message: Type.Optional(nullableString("Why the run has no result. Null unless `status` is `error`.")),
  },
  { [SCHEMA_NAME]: "AnalysisStatus" },
);

const ScenarioSchema = Type.Object(
  {
    name: Type.String(),
    probability: probability("Probability of the scenario. All of them sum to 1."),
    conditional_probability: probability("Probability of YES in this scenario."),
    description: Type.String(),
    trigger: Type.String({ description: "What would show that this scenario is happening." }),
  },
  { [SCHEMA_NAME]: "AnalysisScenario" },
);

const MetaSchema = Type.Object(
  {
    method: Type.String({ description: "How the analysis was made, and why it contains no research if it does not." }),
    what_would_change_mind: sentences("Observations that would change the estimate."),
    edge_assessment: Type.String({
      description: "What is left of the difference to the price after spread and taker fee, for both sides.",
    }),
    models_used: sentences("Language models that did the research. Empty without research."),
    duration_ms: amount("Milliseconds from the start of the run to its end."),
    market_price_at_analysis: probability("YES price at the time of the analysis."),
    interval: Type.Object({
      low: probability("Lower bound of the 80% interval, at the time of the analysis, of the estimate in a day."),
      high: probability("Upper bound of the 80% interval, at the time of the analysis, of the estimate in a day."),
    }),
    raw_probability: probability("Probability at the time of the analysis without calibration."),
    calibration_applied: Type.Boolean({ description: "Whether calibration changed the probability." }),
    ensemble_estimates: Type.Array(Type.Number(), { description: "Estimates of the independent research trials." }),
    ensemble_disagreement: nullableNumber("Standard deviation of these estimates. Null with fewer than two."),
    cost_usd: amount("Cost of the language models in USD."),
  },
  { [SCHEMA_NAME]: "AnalysisMeta" },
);

const summaryFields = (platform: ReturnType<typeof oneOf>) => ({
  analysis_id: Type.String({ description: "Id of the run." }),
  platform,
  market_id: Type.String(),
  title: Type.String({ description: "Market question." }),
  probability: probability(
    "Our estimate of the probability of YES at `market_price`: what the analysis added to the price of its time, in log-odds, is added to the current price.",
  ),
  model_probability: probability("Same as `probability`."),
  model_probability_at: timestamp(
    "Time of `probability` and `market_price`: when the price was last confirmed, or of the analysis if that is later.",
  ),
  market_price: probability(
    "Current YES price. For a market with a result or without a price: the one at the time of the analysis.",
  ),
  interval: Type.Object({
    low: probability("Lower bound of the 80% interval of the estimate in a day."),
    high: probability("Upper bound of the 80% interval of the estimate in a day."),
  }),
  confidence: probability(
    "1 minus the width of the 80% interval, reduced for a wide, one-sided or old quote and for a thin market.",
  ),
  edge: difference("`probability` minus `market_price`."),
  recommendation: oneOf(
    ["BUY_YES", "BUY_NO", "NO_TRADE"],
    "The side whose edge after spread and taker fee is at least 0.01. `NO_TRADE` if there is none, or if the fee is unknown.",
  ),
  risk_rating: oneOf(
    ["low", "medium", "high"],
    "Risk of acting on the estimate: higher for a wide interval, a near close, a wide spread, a thin market or an old price.",
  ),
  summary: Type.String({ description: "The estimate, its interval, its main reason and the recommendation." }),
  key_factors: sentences("The factors that changed the estimate, the largest effect first."),
  risks: sentences("What could make the estimate wrong."),
  source_count: count("Number of sources that the research used."),
  analyzed_at: timestamp("Time of the data that the analysis used."),
  expires_at: timestamp("Time at which the analysis expires by age."),
  freshness: oneOf(
    FRESHNESS_LEVELS,
    "`fresh` below 24 hours, `stale` up to 72 hours, then `expired`. Also `expired` if the price has left the interval that the analysis gave (`meta.interval`), or if prices of other venues or of the event's other markets have moved against it by more than half of its width.",
  ),
  analysis_type: oneOf(ANALYSIS_TYPES, "`full`: with research by language models. `light`: without."),
});

export function createAnalysisSchemas({ trading, all }: VenueIds) {
  const platform = oneOf(trading, { description: "Venue." });
  const marketPath = createMarketPath(trading);
  const analysisId = Type.String({ description: "Id that the request of the analysis returned." });
  const summary = summaryFields(platform);
  return {
    marketPath,
    runPath: Type.Object({ ...marketPath.properties, analysis_id: analysisId }),
    idPath: Type.Object({ analysis_id: analysisId }),
    analyzeQuery: Type.Object({
      force: Type.Optional(
        Type.Boolean({
          default: false,
          description:
            "If true, the analysis uses data that is not older than this request: if the market's run has started already, another one is queued behind it.",
        }),
      ),
    }),
    analysisQuery: Type.Object({
      expand: Type.Optional(
        commaList(["causal", "scenarios", "meta", "history"], {
          description: "Fields to include in the response: `causal`, `scenarios`, `meta`, `history`.",
        }),
      ),
    }),
    listQuery: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_LIMIT_MAX, default: LIST_LIMIT_DEFAULT })),
    }),
    AnalysisStatus: analysisStatusSchema,
    Analysis: Type.Object(
      {
        ...summary,
        causal: Type.Optional(causalSchema),
        scenarios: Type.Optional(
          Type.Array(ScenarioSchema, {
            description: "Their `probability` × `conditional_probability` sum to the probability of YES.",
          }),
        ),
        meta: Type.Optional(MetaSchema),
        history: Type.Optional(historySchema(oneOf(all, { description: "Venue." }))),
      },
      { [SCHEMA_NAME]: "Analysis" },
    ),
    AnalysisList: Type.Array(Type.Object(summary, { [SCHEMA_NAME]: "AnalysisSummary" })),
  };
}
