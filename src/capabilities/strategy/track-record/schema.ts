import Type from "typebox";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import {
  count,
  nullableNumber,
  nullableProbability,
  nullableTimestamp,
  oneOf,
  timestamp,
} from "../../../http/schema-types.ts";
import { HISTORY_DAYS_MAX, PERFORMANCE_MODES } from "./model.ts";

const usd = (description: string) => Type.Number({ description: `USD, rounded to cents. ${description}` });

export const performanceQuery = Type.Object({
  mode: Type.Optional(
    oneOf(PERFORMANCE_MODES, {
      default: "shadow",
      description:
        "`shadow`: every signal with a recommendation, entered at the price for which the order book could be bought, fees included. `live`: the trades that you reported; this needs an account.",
    }),
  ),
});

const SUMMARY_FIELDS = {
  mode: oneOf(PERFORMANCE_MODES),
  total_trades: count("Number of trades."),
  resolved_trades: count("Trades whose market is settled. Refunded trades are among them."),
  open_trades: count("Trades whose market is not settled."),
  markets: Type.Optional(
    count("Different markets among the resolved trades, in mode `shadow`. Trades in one market win or lose together."),
  ),
  independent_questions: Type.Optional(
    count(
      "Independent questions among the resolved trades, in mode `shadow`. Markets of one event and markets that are matched at different venues count once.",
    ),
  ),
  questions_required: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        "In mode `shadow`, `win_rate`, `roi_pct`, `avg_edge` and `sharpe_ratio` are null with fewer independent questions: they would say nothing about skill.",
    }),
  ),
  win_rate: nullableProbability("Share of the resolved trades with a profit after fees. Null without resolved trades."),
  total_pnl: usd(
    "Profit or loss of all days, today included. Open trades count at the last price of their market, in mode `shadow` at most a minute old.",
  ),
  roi_pct: nullableNumber(
    "Profit of the resolved trades in percent of what they cost, fees included. Null without resolved trades.",
  ),
  avg_edge: nullableNumber(
    "Mean edge of the resolved trades when they were entered: probability of the side minus cost per contract, fee included. Null without resolved trades that have one.",
  ),
  max_drawdown: Type.Number({
    maximum: 0,
    description:
      "USD, rounded to cents. Largest decline of the cumulative profit from an earlier maximum, by days; 0 or negative.",
  }),
  sharpe_ratio: nullableNumber(
    "Mean daily profit divided by its standard deviation, times the square root of 365, from the days that are over. Null with fewer than 30 of them, and without resolved trades.",
  ),
  without_requested: Type.Optional(
    Type.Object(
      {
        total_trades: count("Number of trades."),
        resolved_trades: count("Trades whose market is settled."),
        open_trades: count("Trades whose market is not settled."),
        markets: count("Different markets among the resolved trades."),
        independent_questions: count("Independent questions among the resolved trades."),
        win_rate: nullableProbability("As above. Null below `questions_required`, like the other figures about skill."),
        total_pnl: usd("Profit or loss of all days, today included."),
        roi_pct: nullableNumber("As above."),
        avg_edge: nullableNumber("As above."),
      },
      {
        description:
          "The record in mode `shadow` without the trades that exist because a caller requested a signal or an analysis. Callers cannot change these figures.",
      },
    ),
  ),
  first_trade_at: Type.Optional(nullableTimestamp("Time of the first trade. Null without trades.")),
  truncated: Type.Optional(
    Type.Boolean({ description: "Whether you have older trades that are left out, in mode `live`." }),
  ),
  generated_at: timestamp("Time at which the figures were computed."),
};

export const PerformanceSchema = Type.Object(SUMMARY_FIELDS, { [SCHEMA_NAME]: "Performance" });

export const PerformanceHistorySchema = Type.Object(
  {
    ...SUMMARY_FIELDS,
    daily_history: Type.Array(
      Type.Object({
        date: Type.String({ format: "date", description: "UTC day." }),
        pnl: usd("Profit or loss of the day."),
        cumulative_pnl: usd("Profit or loss of this day and all earlier ones."),
        trades: count("Trades entered on the day."),
        win_rate: nullableProbability("Share of the trades resolved on the day with a profit. Null without any."),
      }),
      {
        maxItems: HISTORY_DAYS_MAX,
        description: `The last ${HISTORY_DAYS_MAX} UTC days since the first trade, oldest first, without gaps. The last one is today, as in \`total_pnl\`. A closed day does not change: a corrected result changes the day of the correction.`,
      },
    ),
  },
  { [SCHEMA_NAME]: "PerformanceHistory" },
);
