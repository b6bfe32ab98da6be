import Type, { type TProperties } from "typebox";
import type { EventType } from "../../../event-log/index.ts";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import {
  amount,
  count,
  nullableNumber,
  nullableOneOf,
  nullableProbability,
  nullableTimestamp,
  oneOf,
  probability,
  timestamp,
} from "../../../http/schema-types.ts";

const EVENT_ID = "Id of the event: a decimal integer. Later events have higher ids.";

/** The event that a stream sends after missed events. */
const ResetEvent = Type.Object(
  { id: Type.String({ description: "The stream continues after this id." }), type: oneOf(["reset"]) },
  { [SCHEMA_NAME]: "ResetEvent", description: "Events were missed because they are no longer retained." },
);

/** Creates the schemas of the events that streams and webhooks send. @param venues  public ids of all venues */
export function createEventSchemas(venues: readonly string[]) {
  const market = {
    platform: oneOf(venues, { description: "Venue." }),
    market_id: Type.String({ description: "Market ticker or id at the venue." }),
    title: Type.String({ description: "Market question, at most 1,000 characters." }),
  };
  const describe = (type: EventType, name: string, summary: string, payload: TProperties) => {
    const fields: TProperties = {
      id: Type.String({ description: EVENT_ID }),
      type: oneOf([type]),
      timestamp: timestamp("When it occurred."),
    };
    const options = { [SCHEMA_NAME]: name, description: `${summary}.` };
    return { summary, schema: Type.Object({ ...fields, ...market, ...payload }, options) };
  };
  const events: Readonly<Record<EventType, ReturnType<typeof describe>>> = {
    price_shift: describe("price_shift", "PriceShiftEvent", "The price of a market moved unusually far", PRICE_SHIFT),
    whale_alert: describe("whale_alert", "WhaleAlertEvent", "An unusually large trade", WHALE_ALERT),
    analysis_complete: describe(
      "analysis_complete",
      "AnalysisCompleteEvent",
      "An analysis ended, with a result or an error",
      { ...ANALYSIS_COMPLETE, title: Type.Optional(market.title) },
    ),
    market_resolved: describe("market_resolved", "MarketResolvedEvent", "A market was settled", MARKET_RESOLVED),
  };
  const members = [...Object.values(events).map(({ schema }) => schema), ResetEvent];
  return { events, streamEvent: Type.Unsafe({ oneOf: members, [SCHEMA_NAME]: "StreamEvent" }) };
}

const PRICE_SHIFT = {
  old_yes: probability("YES price before the move."),
  new_yes: probability("YES price after the move."),
  change_pct: nullableNumber("Change of the YES price in percent of `old_yes`. Null if `old_yes` is 0."),
  window_seconds: count("Seconds in which the price moved."),
  z_score: Type.Number({ description: "The move in standard deviations of the market's hourly moves." }),
};

const WHALE_ALERT = {
  side: nullableOneOf(["yes", "no"], "Side that was bought. Null if the venue does not report it."),
  price: probability("Price of that side, or of YES if the side is unknown."),
  flow: amount("Amount in USD."),
  size_percentile: nullableNumber("Percentage of the market's trades of 7 days that are smaller, 0 to 100."),
  share_of_volume_24h: nullableProbability("`flow` as a share of the market's 24-hour volume before the trade."),
};

const ANALYSIS_COMPLETE = {
  analysis_id: Type.String(),
  status: oneOf(["complete", "error"]),
  probability: nullableProbability("Estimated probability of YES. Null if the analysis failed."),
  model_probability: Type.Optional(probability("The same estimate.")),
  market_price: Type.Optional(probability("YES price at the time of the analysis.")),
  edge: Type.Optional(Type.Number({ description: "Estimate minus market price." })),
  confidence: Type.Optional(probability("Confidence in the estimate.")),
  recommendation: Type.Optional(oneOf(["BUY_YES", "BUY_NO", "NO_TRADE"])),
  analysis_type: Type.Optional(oneOf(["light", "full"], "`full`: with research by language models.")),
  analyzed_at: Type.Optional(timestamp("Time of the estimate.")),
};

const MARKET_RESOLVED = {
  outcome: oneOf(["yes", "no", "partial", "void"]),
  settlement_value: nullableProbability("Value of a YES contract. Null if unknown."),
  last_price: nullableProbability("Last price before the settlement."),
  model_probability: nullableProbability(
    "Our last estimate of the 72 hours before the resolution. Null if there is none. It is of `model_probability_at`, so compare it with `market_price` and not with `last_price`.",
  ),
  market_price: nullableProbability("YES price at `model_probability_at`. Null without an estimate."),
  model_probability_at: nullableTimestamp("Time of the estimate. Null without one."),
};
