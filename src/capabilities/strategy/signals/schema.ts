import Type, { type Static } from "typebox";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import {
  amount,
  difference,
  nullableNumber,
  nullableOneOf,
  nullableProbability,
  nullableString,
  oneOf,
  probability,
  timestamp,
  type VenueIds,
} from "../../../http/schema-types.ts";
import { commaList } from "../../../http/validation/index.ts";
import { REFERENCE_BANKROLL_USD, SIZE_CAPS, type SizingOptions } from "../../../trading/index.ts";
import { analysisStatusSchema, causalSchema, FRESHNESS_LEVELS } from "../../analysis/analyses/index.ts";
import { KELLY_SHARE_DEFAULT, POSITION_MAX_DEFAULT } from "./model.ts";

const TEXT_LENGTH_MAX = 500;
const ID_LENGTH_MAX = 512;
export const USD_MAX = 1e9;

/** Body fields that select the market of a signal request. */
export const marketFields = (trading: readonly string[]) => ({
  platform: Type.Optional(
    oneOf(trading, { description: "Venue of the market. With `market_query`, only its markets are searched." }),
  ),
  market_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: ID_LENGTH_MAX,
      description: "Market ticker or id at the venue, or `platform/market_id`.",
    }),
  ),
  market_query: Type.Optional(
    Type.String({
      maxLength: TEXT_LENGTH_MAX,
      default: "",
      description:
        "The question in words, used if `market_id` is not sent. All its words, months, numbers and directions must be in the open market that is used; a text that fits several questions within 0.05 of score is a 409 `ambiguous_query`. Of markets that are matched as identical, the one with the largest 24-hour volume is used.",
    }),
  ),
});

/** Body fields for the sizing of a signal request. */
export const sizingFields = {
  bankroll_usd: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: USD_MAX,
      default: REFERENCE_BANKROLL_USD,
      description: "Your whole capital, including what your positions cost.",
    }),
  ),
  max_position_pct: Type.Optional(
    Type.Number({
      minimum: 0.01,
      maximum: 0.5,
      default: POSITION_MAX_DEFAULT,
      description: "Largest share of the bankroll in one position.",
    }),
  ),
  kelly_fraction: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      default: KELLY_SHARE_DEFAULT,
      description: "Applied share of the Kelly fraction.",
    }),
  ),
};

/** Returns the sizing options from a request body, with defaults. */
export function readSizing(body: Static<Type.TObject<typeof sizingFields>>): SizingOptions {
  return {
    bankrollUsd: body.bankroll_usd ?? REFERENCE_BANKROLL_USD,
    positionMax: body.max_position_pct ?? POSITION_MAX_DEFAULT,
    kellyShare: body.kelly_fraction ?? KELLY_SHARE_DEFAULT,
  };
}

/** Query parameter `wait` of a signal request. */
export const waitOption = Type.Optional(
  Type.Boolean({
    default: false,
    description: "If true, the call waits until the analysis has ended, for at most five minutes.",
  }),
);

const similarity = probability(
  "How well the market answers `market_query`; 1 if it asks for the same and nothing else. Under 0.5 if a word, month or number is missing in it.",
);

const ORDER_FIELDS = {
  contracts: Type.Number({ description: "Number of contracts." }),
  average_price: Type.Number({ description: "Average price without the fee." }),
  fee_usd: Type.Number({ description: "Taker fee of the order." }),
  cost_usd: Type.Number({ description: "What the order costs, fee included." }),
  bankroll_usd: Type.Number({ description: "The bankroll for which the order was computed." }),
};
const order = Type.Unsafe<Static<Type.TObject<typeof ORDER_FIELDS>> | null>({
  type: ["object", "null"],
  description: "The order of this size for your bankroll, as the order book would fill it now. Null without a trade.",
  properties: ORDER_FIELDS,
  required: Object.keys(ORDER_FIELDS),
});

export const RECOMMENDATIONS = ["BUY_YES", "BUY_NO", "NO_TRADE"] as const;

export function createSignalSchemas({ trading, all }: VenueIds) {
  const platform = oneOf(all, { description: "Venue." });
  return {
    query: Type.Object({
      wait: waitOption,
      expand: Type.Optional(commaList(["causal"], { description: "Fields to include in the response: `causal`." })),
    }),
    body: Type.Object({
      ...marketFields(trading),
      ...sizingFields,
      force: Type.Optional(
        Type.Boolean({ default: false, description: "If true, a new analysis is made even if there is a usable one." }),
      ),
    }),
    AnalysisStatus: analysisStatusSchema,
    Signal: Type.Object(
      {
        platform,
        market_id: Type.String(),
        title: Type.String({ description: "Market question." }),
        recommendation: oneOf(RECOMMENDATIONS, "What to buy. `NO_TRADE` if no trade is worth its costs."),
        reason: Type.String({ description: "Why this trade, or why none, in one sentence." }),
        target_price: nullableProbability(
          "Highest price of the side to buy, on the market's tick, that leaves an edge of 0.01 after the taker fee. With `NO_TRADE`: the highest YES price at which buying YES has that edge. Null if no price has.",
        ),
        edge: difference("`model_probability` minus `yes_price`. Positive: YES is too cheap."),
        model_probability: probability("Our estimate of the probability of YES at `yes_price`."),
        model_probability_at: timestamp("Time of `model_probability` and `yes_price`."),
        yes_price: probability("Current price of YES, from the order book with which the signal was decided."),
        executable_edge: nullableNumber(
          "Probability of the side to buy minus the cost of a contract, fee and depth of the order book included. Null without a trade.",
        ),
        confidence: probability("Confidence of the analysis."),
        risk_rating: oneOf(["low", "medium", "high"], "Risk of acting on the estimate."),
        size_pct: probability(
          "Share of the bankroll to spend: `kelly_fraction` of the Kelly fraction, reduced for the uncertainty of the estimate, at most `max_position_pct`, and at most what is offered at `target_price` or less. 0 without a trade.",
        ),
        size_usd: amount(
          "What the order costs, fee included: `size_pct` of the bankroll, rounded down to the contract step of the venue. 0 without a trade.",
        ),
        contracts: amount(
          "Number of contracts: a multiple of the contract step and at least the smallest order of the venue. 0 without a trade.",
        ),
        average_cost: nullableProbability(
          "`size_usd` divided by `contracts`. The probability of the side minus it is `executable_edge`. Null without a trade.",
        ),
        capped_by: nullableOneOf(
          SIZE_CAPS,
          "Why the size is smaller than the applied Kelly fraction. `depth`: no more is offered at `target_price` or less. `max_position`: `max_position_pct`. Null if nothing limits it, and without a trade.",
        ),
        order,
        time_horizon: nullableOneOf(
          ["hours", "days", "weeks"],
          "Time until the expected resolution: under 24 hours, under 14 days, or more. Null if unknown.",
        ),
        expires_at: timestamp(
          "Do not trade after this time: the market's usual moves may have covered half of the edge. Never after the close.",
        ),
        generated_at: timestamp("Time at which the signal was generated."),
        freshness: oneOf(FRESHNESS_LEVELS, "Freshness of the analysis."),
        hedge: nullableString("A trade that hedges this one, in a sentence. Null if there is none."),
        analysis_id: Type.String({ description: "Id of the analysis." }),
        match: Type.Optional(
          Type.Object(
            {
              similarity,
              alternatives: Type.Array(
                Type.Object({ platform, market_id: Type.String(), title: Type.String(), similarity }),
                { description: "The next most similar markets, at most three." },
              ),
            },
            { description: "How the market was found. Only with `market_query`." },
          ),
        ),
        causal: Type.Optional(causalSchema),
      },
      { [SCHEMA_NAME]: "Signal" },
    ),
  };
}
