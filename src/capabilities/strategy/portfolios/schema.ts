import Type, { type Static } from "typebox";
import { MARKET_STATUSES } from "../../../domain/market.ts";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import {
  amount,
  count,
  createIdempotencyHeaders,
  nullableNumber,
  nullableOneOf,
  nullableProbability,
  nullableString,
  oneOf,
  probability,
  timestamp,
} from "../../../http/schema-types.ts";
import { SIZE_USD_MAX, SIZE_USD_MIN } from "../../markets/consensus/index.ts";
import { CLOSED_TRADES_MAX, PAPER_TRADES_MAX, PORTFOLIO_MODES, POSITIONS_MAX } from "./model.ts";

const SIDES = ["yes", "no"] as const;
const cents = (description: string) => Type.Number({ description: `USD, rounded to cents. ${description}` });
const nullableCents = (description: string) => nullableNumber(`USD, rounded to cents. ${description}`);

export type Portfolio = Static<ReturnType<typeof createPortfolioSchemas>["Portfolio"]>;

export function createPortfolioSchemas(venues: readonly string[]) {
  const market = {
    platform: oneOf(venues, { description: "Venue." }),
    market_id: Type.String({ description: "Market ticker or id at the venue." }),
  };
  const Performance = Type.Object(
    {
      total_trades: count("Purchases that did not close earlier ones."),
      resolved_trades: count("Those of them that were closed completely, or whose market is settled."),
      win_rate: nullableProbability("Share of the resolved trades with a profit. Null without resolved trades."),
      total_pnl: Type.Number({
        description: "Profit in USD of all trades. Open ones count at their last known price.",
      }),
      roi_pct: nullableNumber("Profit of the resolved trades in percent of their cost. Null without resolved trades."),
      avg_edge: nullableNumber(
        "Average edge of the resolved trades when they were entered. Null: no estimate is stored with your own trades.",
      ),
      max_drawdown: Type.Number({
        maximum: 0,
        description:
          "USD, rounded to cents. Largest decline of the cumulative profit from an earlier maximum, by days.",
      }),
      sharpe_ratio: nullableNumber(
        "Annualised, from the profits of the days that are over. Null with fewer than 30 of them.",
      ),
    },
    { [SCHEMA_NAME]: "PortfolioSummary" },
  );
  const Position = Type.Object(
    {
      ...market,
      title: nullableString("Question of the market. Null if the market is not stored."),
      side: oneOf(SIDES, { description: "The side of which you hold contracts." }),
      contracts: amount("Number of contracts. Each pays 1 USD if its side wins."),
      entry_price: probability("Average price of the contracts, without fees."),
      cost_usd: cents("What the contracts cost, fees included."),
      yes_price: nullableProbability("Current YES price. Null if unknown."),
      value_usd: nullableCents("Value of the contracts at the current price. Null if it is unknown."),
      unrealized_pnl_usd: nullableCents("`value_usd` minus `cost_usd`. Null if the value is unknown."),
      status: nullableOneOf(MARKET_STATUSES, "Status of the market. Null if unknown."),
      opened_at: timestamp("When the oldest of the contracts was bought."),
    },
    { [SCHEMA_NAME]: "PortfolioPosition" },
  );
  const ClosedTrade = Type.Object(
    {
      ...market,
      title: nullableString("Question of the market. Null if the market is not stored."),
      side: oneOf(SIDES, { description: "The side that was bought." }),
      contracts: amount("Number of contracts."),
      entry_price: probability("Average price of the contracts, without the fee."),
      cost_usd: cents("What the contracts cost, fee included."),
      pnl_usd: cents("Profit or loss after the fees of the purchase and of closing it."),
      result: oneOf(["closed", "settled"], {
        description: "`closed` if trades of the other side closed all contracts, else `settled`.",
      }),
      opened_at: timestamp("When it was bought."),
      closed_at: timestamp("When the last contract was closed or settled."),
    },
    { [SCHEMA_NAME]: "ClosedTrade" },
  );
  return {
    portfolioQuery: Type.Object({
      mode: Type.Optional(
        oneOf(PORTFOLIO_MODES, {
          default: "shadow",
          description:
            "`shadow`: your paper trades (`POST /v1/trades/shadow`). `live`: the trades that you reported (`POST /v1/trades/report`), whose fees are unknown and not included.",
        }),
      ),
    }),
    Portfolio: Type.Object(
      {
        mode: oneOf(PORTFOLIO_MODES),
        positions: Type.Array(Position, {
          maxItems: POSITIONS_MAX,
          description: "Open contracts by market, newest first.",
        }),
        position_count: count(`Number of positions, also if there are more than the ${POSITIONS_MAX} in the list.`),
        closed: Type.Array(ClosedTrade, {
          maxItems: CLOSED_TRADES_MAX,
          description: `The newest ${CLOSED_TRADES_MAX} resolved trades, newest first.`,
        }),
        summary: Performance,
        truncated: Type.Boolean({
          description: `Whether you have more than ${PAPER_TRADES_MAX} trades. All figures are then computed from the newest ones.`,
        }),
        generated_at: timestamp("Time at which this response was generated."),
      },
      { [SCHEMA_NAME]: "Portfolio" },
    ),
    tradeHeaders: createIdempotencyHeaders("trade"),
    tradeBody: Type.Object({
      platform: market.platform,
      market_id: Type.String({ minLength: 1, maxLength: 512, description: "Market ticker or id at the venue." }),
      side: oneOf(SIDES, { description: "The side to buy. It closes contracts of the other side that you hold." }),
      size_usd: Type.Number({
        minimum: SIZE_USD_MIN,
        maximum: SIZE_USD_MAX,
        description:
          "USD to spend. The fee is paid in addition. The contracts are rounded down to the `contract_step` of the market, or to whole contracts if it is unknown.",
      }),
    }),
    PaperTrade: Type.Object(
      {
        trade_id: Type.String({ description: "Identifies the trade." }),
        ...market,
        title: Type.String({ description: "Question of the market." }),
        side: oneOf(SIDES),
        size_usd: amount(
          "USD spent on the contracts: `contracts` times `price`. At most the `size_usd` of the request.",
        ),
        contracts: amount("Number of contracts: a multiple of the market's `contract_step`."),
        price: probability("Average price of a contract, without the fee."),
        fee_usd: amount("Taker fee of the venue."),
        cost_usd: amount("`size_usd` plus `fee_usd`."),
        entered_at: timestamp("When the trade was entered."),
      },
      { [SCHEMA_NAME]: "PaperTrade" },
    ),
  };
}
