import Type, { type Static } from "typebox";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import {
  amount,
  difference,
  marketNames,
  nullableDifference,
  nullableNumber,
  nullableObject,
  nullableOneOf,
  nullableProbability,
  nullableString,
  nullableTimestamp,
  oneOf,
  probability,
  timestamp,
  type VenueIds,
} from "../../../http/schema-types.ts";
import { POSITION_ACTIONS } from "../../../trading/index.ts";
import { analysisStatusSchema } from "../../analysis/analyses/index.ts";
import { BOOK_SOURCES, marketFields, RECOMMENDATIONS, sizingFields, USD_MAX, waitOption } from "../signals/index.ts";
import { POSITIONS_MAX } from "./model.ts";

const ID_LENGTH_MAX = 512;
/** Smallest price step of any venue. At a smaller price, the payout could exceed the range of a number. */
const ENTRY_PRICE_MIN = 1e-6;
const SIDES = ["yes", "no"] as const;
const RISK_LEVELS = ["low", "medium", "high"] as const;

const positionSchema = (trading: readonly string[]) =>
  Type.Object({
    platform: oneOf(trading, { description: "Venue." }),
    market_id: Type.String({
      minLength: 1,
      maxLength: ID_LENGTH_MAX,
      description: "Market ticker or id at the venue.",
    }),
    side: oneOf(SIDES, { description: "The side of which you hold contracts." }),
    size_usd: Type.Number({ exclusiveMinimum: 0, maximum: USD_MAX, description: "What you paid for the contracts." }),
    entry_price: Type.Number({
      minimum: ENTRY_PRICE_MIN,
      exclusiveMaximum: 1,
      description: "Price that you paid per contract.",
    }),
  });

function createAdviceSchema(all: readonly string[]) {
  const holding = Type.Object(
    {
      ...marketNames(all),
      side: oneOf(SIDES, { description: "The side that you hold." }),
      contracts: amount("Contracts held: `size_usd` divided by `entry_price`."),
      action: oneOf(POSITION_ACTIONS, {
        description:
          "`close` and `reduce`: sell `action_contracts`. `hedge`: buy `action_contracts` of `hedge`. `keep`: no change is worth its cost, or nothing is known that speaks for one; `reason` says which.",
      }),
      action_contracts: amount("Contracts to sell or to buy. 0 with `keep`."),
      reason: Type.String({ description: "Why this action." }),
      model_probability: nullableProbability("Our current estimate of the probability of YES. Null if there is none."),
      mark_price: nullableProbability("Current price of the side; of a settled market, what it pays. Null if unknown."),
      mark_value_usd: nullableNumber("`contracts` times `mark_price`."),
      unrealized_pnl_usd: nullableNumber("`mark_value_usd` minus what you paid."),
      expected_value_usd: nullableNumber(
        "Expected payout if all contracts are kept: `contracts` times the probability of the side. Null without an estimate.",
      ),
      exit: nullableObject(
        "The sale of `action_contracts`; with `keep` and `hedge` that of all contracts, as far as bids are known. Null if no current bid or no selling fee is known.",
        {
          contracts: amount("Contracts sold."),
          average_price: probability("Average price without the fee."),
          limit_price: nullableProbability(
            "Price of a limit order that makes this sale, on the market's price grid. Null if the grid has no such price.",
          ),
          fee_usd: amount("Taker fee of the order."),
          proceeds_usd: Type.Number({ description: "What the sale pays after the fee." }),
          cost_usd: nullableNumber(
            "Cost of the sale, from spread, depth and fee: `contracts` times `mark_price`, minus `proceeds_usd`.",
          ),
        },
      ),
      hedge: nullableObject("The opposite of the position in another market, with the action `hedge`; else null.", {
        ...marketNames(all),
        side: oneOf(SIDES, { description: "Side to buy." }),
        contracts: amount("Contracts to buy: a possible order in that market."),
        limit_price: probability("Price of a limit order that buys them, on that market's price grid."),
        average_cost: probability("Price and fee of a contract."),
        cost_usd: amount("`contracts` times `average_cost`."),
      }),
      price_source: nullableOneOf(
        BOOK_SOURCES,
        "`book`: the whole order book is known. `quote`: only the best prices and their sizes. Null if no current price is known.",
      ),
      priced_at: nullableTimestamp("When these prices were confirmed."),
    },
    { [SCHEMA_NAME]: "PositionAdvice" },
  );
  return Type.Object(
    {
      positions: Type.Array(holding, { description: "One per position, in the order of the request." }),
      generated_at: timestamp("Time of the advice."),
    },
    { [SCHEMA_NAME]: "PortfolioAdvice" },
  );
}

export type PortfolioAdvice = Static<ReturnType<typeof createAdviceSchema>>;

export function createPortfolioSignalSchemas({ trading, all }: VenueIds) {
  const market = marketNames(all);
  return {
    query: Type.Object({ wait: waitOption }),
    body: Type.Object({
      ...marketFields(trading),
      portfolio: Type.Optional(
        Type.Array(positionSchema(trading), {
          maxItems: POSITIONS_MAX,
          default: [],
          description: "The positions that you hold. Those in settled markets count with their payout.",
        }),
      ),
      ...sizingFields,
    }),
    AnalysisStatus: analysisStatusSchema,
    PortfolioAdvice: createAdviceSchema(all),
    PortfolioSignal: Type.Object(
      {
        ...market,
        recommendation: oneOf(RECOMMENDATIONS, {
          description:
            "What to buy. `NO_TRADE` if no trade is worth its costs, or the portfolio leaves no room for it.",
        }),
        reason: Type.String({ description: "Why this trade and this size, or why none." }),
        target_price: nullableProbability(
          "Highest price of the side to buy, on the market's tick, that leaves an edge of 0.01 after the taker fee. With `NO_TRADE` by the signal: the highest YES price at which buying YES has that edge. Null if no price has.",
        ),
        edge: difference("Estimated probability of YES minus the YES price."),
        confidence: probability("Confidence of the analysis."),
        risk_rating: oneOf(RISK_LEVELS, { description: "Risk of acting on the estimate." }),
        base_size_pct: probability("Share of the bankroll to spend without the portfolio. 0 without a trade."),
        adjusted_size_pct: probability(
          "Share of the bankroll to spend beside the portfolio: where the expected growth of its wealth is largest, at most `max_position_pct` together with positions on the same or on excluded outcomes, and at most the cash left.",
        ),
        adjusted_size_usd: amount("`adjusted_size_pct` of the bankroll."),
        adjusted_contracts: amount(
          "Contracts that `adjusted_size_usd` buys, fee included, rounded down to the contract step of the venue. 0 without a trade.",
        ),
        portfolio_impact: Type.Object(
          {
            max_correlation: nullableDifference(
              "Largest correlation of the payoff of the trade with that of a position. Null without a trade, and without positions in open markets.",
            ),
            correlated_with: nullableString("That position, as `platform/market_id`."),
            concentration_delta: difference(
              "Change of the Herfindahl index of the amounts at risk by event. Markets that ask the same or opposite questions count as one: positions on both answers cancel out, and their events are one event. The index of no stakes is 0.",
            ),
            net_exposure_change: Type.Number({
              description: "`adjusted_size_usd`, negative if NO is bought.",
            }),
            portfolio_risk_level: oneOf(RISK_LEVELS, {
              description:
                "Mean loss of the worst 5% of the outcomes after the trade: under 10% of the bankroll `low`, under 25% `medium`, else `high`.",
            }),
          },
          { [SCHEMA_NAME]: "PortfolioImpact" },
        ),
        hedge_recommendations: Type.Array(
          Type.Object(
            {
              market_id: market.market_id,
              platform: market.platform,
              title: market.title,
              side: oneOf(SIDES, { description: "Side to buy." }),
              limit_price: nullableProbability(
                "Price of a limit order that buys at the best offer, on that market's price grid. Null if the grid has no such price.",
              ),
              suggested_size_usd: amount(
                "Stake that makes the mean loss of the worst 5% of the outcomes smallest, at most what is offered at the best price.",
              ),
              rationale: Type.String({ description: "What the hedge achieves." }),
            },
            { [SCHEMA_NAME]: "HedgeRecommendation" },
          ),
          {
            maxItems: 3,
            description:
              "Trades in liquid markets that are related by logic or correlated that lower the loss of the worst 5% of the outcomes, the largest reduction per dollar first.",
          },
        ),
        analysis_id: Type.String({ description: "Id of the analysis." }),
        generated_at: timestamp("Time at which the signal was generated."),
        expires_at: timestamp("Do not trade after this time. Never after the close."),
      },
      { [SCHEMA_NAME]: "PortfolioSignal" },
    ),
  };
}
