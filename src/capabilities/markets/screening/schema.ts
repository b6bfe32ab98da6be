import Type, { type Static } from "typebox";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import {
  marketNames,
  nullableAmount,
  nullableDifference,
  nullableNumber,
  nullableOneOf,
  nullableProbability,
  nullableString,
  nullableTimestamp,
  oneOf,
  probability,
  timestamp,
  type VenueIds,
} from "../../../http/schema-types.ts";
import { emptyIsAbsent } from "../../../http/validation/index.ts";
import {
  ANALYZE_SCORE_MIN,
  SCREEN_ACTIONS,
  SCREEN_TRENDS,
  SPIKE_RATIO_MIN,
  SPIKE_USD_MIN,
  TREND_MOVE_MIN,
  WATCH_SCORE_MIN,
} from "./model.ts";

const MARKET_IDS_MAX = 500;
/** Maximum length of a market name; longer than any `platform/market_id`. */
const MARKET_ID_LENGTH_MAX = 600;
const LIMIT_MAX = 200;
export const LIMIT_DEFAULT = 50;
/** Maximum thresholds; larger than any amount or time on the board. */
const USD_MAX = 1e15;
const HOURS_MAX = 1e6;

const threshold = (description: string, maximum: number) =>
  Type.Optional(nullableNumber({ minimum: 0, maximum, description }));

const screenBody = (trading: readonly string[]) =>
  Type.Object({
    market_ids: Type.Optional(
      Type.Unsafe<string[] | null>({
        type: ["array", "null"],
        items: { type: "string", minLength: 1, maxLength: MARKET_ID_LENGTH_MAX },
        maxItems: MARKET_IDS_MAX,
        description:
          "Only screen these markets, as `platform/market_id`, or as ids of `platform`. Unknown ids are left out. Without ids, all active markets are screened.",
      }),
    ),
    platform: Type.Optional(
      emptyIsAbsent(
        Type.Unsafe<string | null>({
          anyOf: [{ type: "string", enum: [...trading] }, { type: "null" }],
          description: "Only return markets of this venue.",
        }),
      ),
    ),
    category: Type.Optional(
      emptyIsAbsent(
        nullableString({ maxLength: 50, description: "Only return markets in this category. Case-insensitive." }),
      ),
    ),
    query: Type.Optional(
      emptyIsAbsent(
        nullableString({
          maxLength: 500,
          description:
            "Only return markets whose title, outcome or event title contains all of these words. The last word may be a prefix.",
        }),
      ),
    ),
    min_volume_24h: threshold("Smallest 24-hour volume in USD. Markets without a known volume are left out.", USD_MAX),
    min_liquidity: threshold("Smallest liquidity in USD. Markets without a known liquidity are left out.", USD_MAX),
    max_spread: threshold("Largest bid-ask spread. Markets without bid and ask are left out.", 1),
    min_hours_to_resolution: threshold("Smallest `hours_to_resolution`. Markets without one are left out.", HOURS_MAX),
    max_hours_to_resolution: threshold("Largest `hours_to_resolution`. Markets without one are left out.", HOURS_MAX),
    min_score: threshold("Smallest score.", 1),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT })),
  });

const screenedMarket = (all: readonly string[]) =>
  Type.Object(
    {
      ...marketNames(all),
      yes_price: probability("Price of a YES contract, defined as in the Market object."),
      volume_24h: nullableAmount("USD traded in the last 24 hours."),
      score: probability(
        "Weighted sum: 0.25 × volume + 0.15 × liquidity + 0.25 × spread + 0.20 × time + 0.15 × movement. Volume and liquidity: min(1, log10(1 + USD) / 6). Spread: 1 - min(spread, 0.10) / 0.10. Time: min(1, hours) × 720 / (720 + hours) until the resolution. Movement: min(1, |price change in 24 hours| / 0.10). An unknown figure adds 0.",
      ),
      category: nullableString({ description: "Category of the market or, if it has none, of its event." }),
      trend: nullableOneOf(
        SCREEN_TRENDS,
        `\`rising\` or \`falling\` if the price moved by at least ${TREND_MOVE_MIN} in 24 hours. Null if the price 24 hours ago is unknown.`,
      ),
      volume_spike: Type.Unsafe<boolean | null>({
        type: ["boolean", "null"],
        description: `Whether the volume of the last full hour is at least ${SPIKE_USD_MIN} USD and ${SPIKE_RATIO_MIN} times the mean hourly volume of the last 24 hours. Null if it is unknown.`,
      }),
      hours_to_resolution: nullableAmount(
        "Hours until the expected resolution, or until trading closes if the venue publishes no resolution time. 0 if that time has passed.",
      ),
      bid_ask_spread: nullableNumber({ minimum: 0, maximum: 1, description: "Best ask minus best bid." }),
      price_velocity_1h: nullableDifference(
        "Current price minus the last stored price at or before an hour ago. Null if none is stored, or if the market is not among the 50,000 most traded ones.",
      ),
      cached_edge: nullableDifference(
        "`model_probability` minus `yes_price`. Null without an analysis, or if it has expired.",
      ),
      model_probability: nullableProbability(
        "Our estimate of the probability of YES at `yes_price`. Null without an analysis, or if it has expired.",
      ),
      model_probability_at: nullableTimestamp("Time of `model_probability`. Null without one."),
      cached_confidence: nullableProbability(
        "Confidence of our estimate. Null without an analysis, or if it has expired.",
      ),
      cached_recommendation: nullableString({
        description:
          "What the estimate recommends at the current price. Null without an analysis, or if it has expired.",
      }),
      action: oneOf(SCREEN_ACTIONS, {
        description: `\`analyze\` from a score of ${ANALYZE_SCORE_MIN}, \`watch\` from ${WATCH_SCORE_MIN}, else \`skip\`.`,
      }),
      updated_at: timestamp("Time at which the price was last confirmed."),
    },
    { [SCHEMA_NAME]: "ScreenedMarket" },
  );

export type ScreenedMarket = Static<ReturnType<typeof screenedMarket>>;

export function createScreeningSchemas({ trading, all }: VenueIds) {
  return { body: screenBody(trading), ScreenResult: Type.Array(screenedMarket(all)) };
}
