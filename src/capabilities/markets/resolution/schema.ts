import Type, { type Static } from "typebox";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import {
  createMarketPath,
  nullableNumber,
  nullableOneOf,
  nullableString,
  nullableTimestamp,
  oneOf,
  timestamp,
  type VenueIds,
} from "../../../http/schema-types.ts";
import { KEY_DATE_IMPACTS, RESOLUTION_MECHANISMS } from "./model.ts";

const KeyDate = Type.Object(
  {
    date: timestamp(
      "For a date without a time of day: a deadline or the end of a period is 23:59, any other date 00:00, in the time zone that the text names, otherwise UTC.",
    ),
    label: Type.String({
      description:
        'What the date is. If there are several at one instant, the others are in parentheses, as in "Date in the rules (trading closes)", and the highest impact counts. Contains "(expected)" if the date is computed by a rule that is only near the published dates of past years.',
    }),
    impact: oneOf(KEY_DATE_IMPACTS, "`high`: the date decides the market. `medium`: it may move the price."),
  },
  { [SCHEMA_NAME]: "KeyDate" },
);

export type ResolutionResponse = Static<ReturnType<typeof createResolutionSchemas>["Resolution"]>;

export function createResolutionSchemas(venues: VenueIds) {
  return {
    marketPath: createMarketPath(venues.trading),
    Resolution: Type.Object(
      {
        market_id: Type.String({ description: "Market ticker or id at the venue." }),
        platform: oneOf(venues.all, "Venue."),
        title: Type.String({ description: "Market question." }),
        status: nullableOneOf(
          ["active", "closed", "determined", "finalized"],
          "`closed`: no orders, no result. `determined`: a result is proposed or can be disputed. `finalized`: settled. Null before trading starts.",
        ),
        expiration_date: nullableTimestamp(
          "Latest date that the venue states for closing or resolving the market. A date in the past is unknown while the market accepts orders. If no later date is known and the rules state a later deadline, that deadline. Null if unknown.",
        ),
        close_date: nullableTimestamp(
          "When the venue stops accepting orders. Null if unknown, and if it is in the past while the market accepts orders.",
        ),
        resolution_date: nullableTimestamp(
          "When the venue expects the result. Null if unknown, and if it is in the past while the market accepts orders.",
        ),
        hours_to_expiration: nullableNumber({
          description: "Hours until `expiration_date`; 0 if it has passed or the market has a result. Null if unknown.",
          minimum: 0,
        }),
        resolution_mechanism: oneOf(
          RESOLUTION_MECHANISMS,
          "`scheduled_data_release`: an official figure or decision, published at a known time. `event_outcome`: the result of a match, an election, an award or another scheduled event. `date_based`: a price, a figure or a state at a stated time or over a period. `continuous_monitoring`: whether something happens before a deadline. `unknown`: the rules do not tell.",
        ),
        rules_summary: nullableString(
          "First sentences of the venue's rules, as plain text, up to 600 characters. Null if the venue publishes no rules.",
        ),
        time_urgency: nullableOneOf(
          ["critical", "high", "medium", "low"],
          "Time until `resolution_date`, or until `expiration_date` if that is unknown: `critical` under 24 hours, `high` under 3 days, `medium` up to 14 days, otherwise `low`. Null if the date is unknown or the market has a result.",
        ),
        theta_estimate: nullableNumber(
          "Change of the YES price over the next day if nothing happens, in cents, if the event has a constant hazard rate: negative if it must happen by a deadline for YES to pay, positive if it must not. 0 for events at a known time. Null if unknown, or if the market is not active.",
        ),
        key_dates: Type.Array(KeyDate, {
          maxItems: 12,
          description:
            "Dates of the venue, of the title and rules, and of the recurring schedule. Future dates come first, the nearest first, then up to three past dates, the latest first.",
        }),
        recurring_schedule: nullableString(
          'Name of the recurring schedule that the market is about, such as "FOMC meeting" or "Consumer Price Index". Null if there is none.',
        ),
        generated_at: timestamp("Time at which this response was generated."),
      },
      { [SCHEMA_NAME]: "Resolution" },
    ),
  };
}
