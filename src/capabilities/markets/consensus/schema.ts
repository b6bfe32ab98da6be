import Type, { type Static } from "typebox";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import {
  amount,
  count,
  createIdempotencyHeaders,
  createMarketPath,
  nullableDifference,
  nullableProbability,
  nullableTimestamp,
  oneOf,
  probability,
  timestamp,
} from "../../../http/schema-types.ts";
import { CONSENSUS_PERIODS, DIVERGENCE_SIGNALS, SIZE_USD_MAX, SIZE_USD_MIN } from "./model.ts";

const CLIENT_REF_LENGTH_MAX = 64;

export type ConsensusResponse = Static<ReturnType<typeof createConsensusSchemas>["Consensus"]>;

export function createConsensusSchemas(venues: readonly string[]) {
  const platform = oneOf(venues, { description: "Venue." });
  return {
    marketPath: createMarketPath(venues),
    consensusQuery: Type.Object({
      period: Type.Optional(
        oneOf(CONSENSUS_PERIODS, { default: "7d", description: "Only trades reported in this time are counted." }),
      ),
    }),
    Consensus: Type.Object(
      {
        market_id: Type.String(),
        platform,
        period: oneOf(CONSENSUS_PERIODS),
        consensus_probability: nullableProbability(
          "Mean of the probabilities that the reported trades imply, weighted by USD. YES at a price q implies q, NO at q implies 1 - q. Null without trades.",
        ),
        robust_probability: nullableProbability(
          "Consensus that a few agents cannot move far, whatever volume they report: each agent has one vote, from its trades after netting YES against NO, recent trades weigh more, and trades at prices that were not near the venue's do not count. Null with fewer than 5 agents.",
        ),
        sample_size: count("Number of reported trades."),
        unique_agents: count("Number of agents that reported them."),
        model_probability: nullableProbability(
          "Our estimate of the probability of YES at the current price. Null without an analysis, or if it has expired.",
        ),
        model_probability_at: nullableTimestamp("Time of `model_probability`. Null without one."),
        divergence: nullableDifference("`consensus_probability` minus `model_probability`. Null if either is."),
        divergence_signal: oneOf(DIVERGENCE_SIGNALS, {
          description:
            "By the absolute divergence: below 0.03 `crowd_agrees`, below 0.08 `neutral`, below 0.20 `crowd_disagrees`, else `strong_divergence`. `insufficient_data` with fewer than 5 trades or 3 agents, or without a divergence.",
        }),
        yes_volume_usd: amount("USD of the trades that bought YES, rounded to cents."),
        no_volume_usd: amount("USD of the trades that bought NO, rounded to cents."),
        yes_trade_count: count("Number of trades that bought YES."),
        no_trade_count: count("Number of trades that bought NO."),
        generated_at: timestamp("Time at which this response was generated."),
      },
      { [SCHEMA_NAME]: "Consensus" },
    ),
    reportHeaders: createIdempotencyHeaders("report"),
    reportBody: Type.Object({
      market_id: Type.String({ minLength: 1, maxLength: 512, description: "Market ticker or id at the venue." }),
      platform,
      side: oneOf(["yes", "no"], { description: "The side that you bought. Selling YES counts as buying NO." }),
      price: probability("Price paid per contract of that side."),
      size_usd: Type.Number({ minimum: SIZE_USD_MIN, maximum: SIZE_USD_MAX, description: "USD paid." }),
      client_ref: Type.Optional(
        Type.String({
          maxLength: CLIENT_REF_LENGTH_MAX,
          description:
            "Your name for the trade, for example the order id at the venue. Reports in which all fields are equal count once, so send different values for two equal trades.",
        }),
      ),
    }),
    TradeReportResult: Type.Object(
      {
        status: oneOf(["accepted"]),
        trade_count: Type.Integer({
          minimum: 1,
          description: "Number of accepted reports of this market by all agents.",
        }),
      },
      { [SCHEMA_NAME]: "TradeReportResult" },
    ),
  };
}
