import Type, { type Static } from "typebox";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import {
  count,
  createMarketPath,
  nullableAmount,
  nullableNumber,
  nullableObject,
  nullableOneOf,
  nullableProbability,
  nullableString,
  oneOf,
  timestamp,
  type VenueIds,
} from "../../../http/schema-types.ts";
import { RECOMMENDATIONS, SPREAD_TRENDS } from "./model.ts";

export const SIZE_USD_DEFAULT = 100;
const SIZE_USD_MAX = 1_000_000;

const SIDE_FIELDS = {
  limit_price: nullableProbability(
    "Price of a limit order that does not take, on the venue's grid: the mid, moved by a quarter of the spread as `suggested_limit_price` is. A purchase is rounded down, a sale up.",
  ),
  contracts: nullableAmount(
    "Contracts of a market order worth at most `reference_size_usd`, rounded down to the venue's contract step. This and the next fields are null if the book cannot fill it, or if it is below the venue's smallest order.",
  ),
  average_price: nullableProbability("Average price of the market order, without the fee."),
  worst_price: nullableProbability("Price of the last level that the market order uses."),
  slippage_pct: nullableAmount("How much worse than the best price of the side `average_price` is, in percent."),
  fee_usd: nullableAmount("Taker fee of the market order, rounded as the venue rounds it. Null if the fee is unknown."),
};
/** A limit order and a market order for one side. */
export type SideGuidance = Static<Type.TObject<typeof SIDE_FIELDS>>;

const sideSchema = (description: string) =>
  nullableObject(`${description} Null if the market accepts no orders or its book lacks a side.`, SIDE_FIELDS);

const guidanceSchema = (all: readonly string[]) =>
  Type.Object(
    {
      market_id: Type.String({ description: "Market ticker or id at the venue." }),
      platform: oneOf(all, { description: "Venue." }),
      title: Type.String({ description: "Market question." }),
      current_bid: nullableProbability("Best YES bid of the order book. Null without one."),
      current_ask: nullableProbability("Best YES ask of the order book. Null without one."),
      current_spread: nullableAmount("`current_ask` minus `current_bid`."),
      avg_spread_48h: nullableAmount(
        "Time-weighted mean spread of the last 48 hours. Null if no quotes with both sides are stored.",
      ),
      spread_percentile: nullableNumber({
        minimum: 0,
        maximum: 100,
        description:
          "Share of the last 48 hours with a smaller spread than now, plus half of the time with an equal one, in percent. Lower means tighter than usual. Null if less than an hour of quotes is stored.",
      }),
      spread_trend: nullableOneOf(
        SPREAD_TRENDS,
        "Mean spread of the last 12 hours against that of the 36 hours before: `widening` or `tightening` if they differ by more than 10%. Null if less than an hour of quotes is stored for either.",
      ),
      liquidity_score: nullableNumber({
        minimum: 0,
        maximum: 100,
        description:
          "50 × (1 - min(spread, 0.10) / 0.10) + 50 × min(1, log10(1 + 24-hour volume in USD) / 6). Null if the spread or the volume is unknown.",
      }),
      estimated_slippage_pct: nullableAmount(
        "How much worse than the best price the mean price of a market order of `reference_size_usd` is, in percent: the larger one of buying YES and buying NO. Half of the spread and fees are not included. Null if the book cannot fill both orders.",
      ),
      recommendation: oneOf(RECOMMENDATIONS, {
        description:
          "`WAIT` if the market accepts no orders, its book lacks a side, or its spread is unusually wide (percentile of at least 90, and at least 1.5 times the mean of 48 hours). `MARKET_ORDER` if the spread is at most 0.01 or one tick, and the slippage at most 1%. Otherwise `LIMIT_ORDER`.",
      }),
      suggested_limit_price: nullableProbability(
        "Price of a limit order that buys YES without taking: the mid price, a quarter of the spread less if the spread is tightening, and a quarter more if it is widening; rounded down to the market's tick, and below the ask. Null if it is unknown.",
      ),
      rationale: Type.String({ description: "Explains the recommendation with the figures of this response." }),
      buy_yes: sideSchema("Order that buys YES."),
      buy_no: sideSchema("Order that buys NO. Prices are those of NO contracts."),
      sell_yes: sideSchema("Order that sells YES contracts that you hold."),
      sell_no: sideSchema("Order that sells NO contracts that you hold. Prices are those of NO contracts."),
      upcoming_event: nullableString({
        description: "The next date that may affect the spread. Null if none is known.",
      }),
      hours_to_event: nullableAmount("Hours until `upcoming_event`."),
      tick_count: count("Stored quotes of the last 48 hours."),
      reference_size_usd: Type.Number({
        minimum: 1,
        description: "Order size in USD of `estimated_slippage_pct`.",
      }),
      generated_at: timestamp("Time of these figures."),
    },
    { [SCHEMA_NAME]: "ExecutionGuidance" },
  );

export type ExecutionGuidance = Static<ReturnType<typeof guidanceSchema>>;

export function createExecutionSchemas({ trading, all }: VenueIds) {
  return {
    path: createMarketPath(trading),
    query: Type.Object({
      size_usd: Type.Optional(
        Type.Number({
          minimum: 1,
          maximum: SIZE_USD_MAX,
          default: SIZE_USD_DEFAULT,
          description: "Order size in USD for which the slippage is estimated.",
        }),
      ),
    }),
    ExecutionGuidance: guidanceSchema(all),
  };
}
