import Type, { type TProperties } from "typebox";
import { SORT_KEYS } from "../../board/index.ts";
import { SCHEMA_NAME } from "../../http/named-schemas.ts";
import { commaList, emptyIsAbsent } from "../../http/validation/index.ts";

/** Public ids of the configured venues. Reference venues are in `all` but not in `trading`. */
export interface VenueIds {
  readonly trading: readonly string[];
  readonly all: readonly string[];
}

/** A string enum, which reads better in the OpenAPI document than a union of literals. */
function oneOf<const Value extends string>(
  values: readonly Value[],
  options: { description?: string; default?: Value } = {},
) {
  return Type.Unsafe<Value>({ type: "string", enum: [...values], ...options });
}

const nullableNumber = (description: string) => Type.Unsafe<number | null>({ type: ["number", "null"], description });
const nullableString = (description: string) => Type.Unsafe<string | null>({ type: ["string", "null"], description });
const nullableEnum = (values: readonly string[], description?: string) =>
  Type.Unsafe<string | null>({ type: ["string", "null"], enum: [...values, null], description });
const timestamp = (description: string) => Type.String({ format: "date-time", description });
const probability = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
const usd = (description: string) => Type.Number({ minimum: 0, description: `${description} Rounded to cents.` });
const limitSchema = (maximum: number, fallback: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum, default: fallback }));

export const STATUS_FILTERS = ["active", "closed", "determined", "finalized", "all"] as const;
const PERIODS = ["48h", "7d", "30d"] as const;
export type Period = (typeof PERIODS)[number];

const EVENT_SLUG = "Event slug: the venue and the venue's event id, as `{platform}:{event_id}`.";

const createSourceFilter = (trading: readonly string[]) => ({
  source: Type.Optional(emptyIsAbsent(oneOf(trading, { description: "Only return results from this venue." }))),
  platform: Type.Optional(emptyIsAbsent(oneOf(trading, { description: "Alias of `source`." }))),
});

const categoryFilter = Type.Optional(
  emptyIsAbsent(Type.String({ maxLength: 50, description: "Only return results in this category. Case-insensitive." })),
);

const historySchema = (platform: ReturnType<typeof oneOf>) =>
  Type.Object(
    {
      platform,
      market_id: Type.String(),
      period: oneOf(PERIODS),
      interval_seconds: Type.Integer({ description: "Length of each interval in seconds, aligned to UTC." }),
      points: Type.Array(
        Type.Object(
          {
            timestamp: timestamp("Start of the interval."),
            yes_price: probability("Last price at or before the end of the interval."),
            bid: nullableNumber("Best YES bid at the end of the interval."),
            ask: nullableNumber("Best YES ask at the end of the interval."),
            volume: nullableNumber("USD traded in the interval, rounded to cents. Null if unknown."),
          },
          { [SCHEMA_NAME]: "HistoryPoint" },
        ),
      ),
      generated_at: timestamp("Time at which this history was generated."),
    },
    { [SCHEMA_NAME]: "History" },
  );

const marketSchema = (platform: ReturnType<typeof oneOf>, history: ReturnType<typeof historySchema>) =>
  Type.Object(
    {
      platform,
      market_id: Type.String({ description: "Market ticker or id at the venue." }),
      title: Type.String({ description: "Market question." }),
      yes_price: probability(
        "Price of a YES contract: the mid price if the bid-ask spread is at most 0.10, otherwise the last trade price, moved into the bid and ask that exist, otherwise the venue's indicative price of a market without quotes.",
      ),
      updated_at: timestamp("Time at which the price was last confirmed."),
      url: Type.Optional(Type.String({ description: "URL of the market at the venue." })),
      category: Type.Optional(Type.String()),
      also_on: Type.Optional(
        Type.Record(Type.String(), Type.String(), {
          description: "URLs of the same market at other venues, keyed by venue.",
        }),
      ),
      status: Type.Optional(oneOf(["active", "closed", "determined", "finalized"])),
      bid: Type.Optional(probability("Best YES bid.")),
      ask: Type.Optional(probability("Best YES ask.")),
      last_price: Type.Optional(probability("Price of the last trade.")),
      price_change_24h: Type.Optional(
        Type.Number({
          minimum: -1,
          maximum: 1,
          description: "Difference between the current price and the price 24 hours ago.",
        }),
      ),
      volume_24h: Type.Optional(
        usd("USD traded in the last 24 hours, as reported by the venue or computed from its trades."),
      ),
      liquidity: Type.Optional(usd("Liquidity in USD, as defined by the venue.")),
      open_interest: Type.Optional(usd("Open interest in USD.")),
      resolution_date: Type.Optional(timestamp("Expected resolution time.")),
      event_slug: Type.Optional(Type.String({ description: "Slug of the event that groups related markets." })),
      event_title: Type.Optional(Type.String()),
      outcome: Type.Optional(
        nullableEnum(
          ["yes", "no", "partial", "void"],
          "Result of a `finalized` market: `partial` pays a part of 1 per YES contract, `void` is a canceled market. Null if unknown; absent before settlement.",
        ),
      ),
      settlement_value: Type.Optional(
        nullableNumber(
          "Payout of one YES contract of a `finalized` market, from 0 to 1. Null if the venue does not report it.",
        ),
      ),
      resolved_at: Type.Optional(
        Type.Unsafe<string | null>({
          type: ["string", "null"],
          format: "date-time",
          description: "Time at which a `finalized` market was settled. Null if the venue does not report it.",
        }),
      ),
      model_probability: Type.Optional(probability("Our estimate of the probability of YES, if available.")),
      history: Type.Optional(history),
    },
    { [SCHEMA_NAME]: "Market" },
  );

const eventSummaryFields = (platform: ReturnType<typeof oneOf>) =>
  ({
    slug: Type.String({ description: EVENT_SLUG }),
    title: Type.String(),
    platform,
    market_count: Type.Integer({ minimum: 0 }),
    total_volume_24h: nullableNumber(
      "USD traded in the last 24 hours across the markets whose volume is known, rounded to cents. Null if none is known.",
    ),
    updated_at: timestamp("Time of the most recent price update among the event's markets."),
    category: Type.String(),
    featured: Type.Boolean({ description: "Whether the venue features this event." }),
  }) satisfies TProperties;

const EventMarket = Type.Object(
  {
    market_id: Type.String(),
    title: Type.String(),
    yes_price: probability("Price of a YES contract, defined as in the Market object."),
    volume_24h: nullableNumber("USD traded in the last 24 hours, rounded to cents."),
    url: nullableString("URL of the market at the venue."),
    open_interest: nullableNumber("Open interest in USD, rounded to cents."),
    spread: nullableNumber("Best ask minus best bid."),
  },
  { [SCHEMA_NAME]: "EventMarket" },
);

const sentimentSchema = (market: ReturnType<typeof marketSchema>) =>
  Type.Object(
    {
      fear_greed_index: nullableNumber(
        "Share of volume-weighted price movement in the last 24 hours that was upward, from 0 to 100.",
      ),
      market_regime: oneOf(["risk_on", "risk_off", "neutral"]),
      volume_trend: nullableEnum(["rising", "falling", "stable"]),
      spread_trend: nullableEnum(["widening", "tightening", "stable"]),
      active_market_count: Type.Integer({ minimum: 0 }),
      dominant_category: nullableString("Category with the highest 24-hour volume."),
      top_movers: Type.Array(market),
      generated_at: timestamp("Time at which this response was generated."),
    },
    { [SCHEMA_NAME]: "Sentiment" },
  );

const listQuery = (trading: readonly string[]) =>
  Type.Object({
    ...createSourceFilter(trading),
    query: Type.Optional(
      emptyIsAbsent(
        Type.String({
          maxLength: 500,
          description:
            "Only return markets whose title, outcome or event title contains all of these words. The last word may be a prefix.",
        }),
      ),
    ),
    category: categoryFilter,
    status: Type.Optional(oneOf(STATUS_FILTERS, { default: "active" })),
    sort: Type.Optional(
      oneOf(SORT_KEYS, {
        default: "volume_24h",
        description: "Sort field, in descending order. `resolution_date` is sorted in ascending order.",
      }),
    ),
    limit: limitSchema(100, 30),
    cursor: Type.Optional(
      emptyIsAbsent(
        Type.String({ maxLength: 2_048, description: "Cursor from the `Link` header of the previous page." }),
      ),
    ),
  });

/** Request schemas that do not depend on the configured venues. */
const REQUEST_SCHEMAS = {
  slugPath: Type.Object({ slug: Type.String({ description: EVENT_SLUG }) }),
  marketQuery: Type.Object({
    expand: Type.Optional(
      commaList(["history", "analysis"], { description: "Fields to include in the response: `history`." }),
    ),
  }),
  historyQuery: Type.Object({
    period: Type.Optional(oneOf(PERIODS, { default: "7d" })),
    max_points: Type.Optional(Type.Integer({ minimum: 10, maximum: 200, default: 48 })),
  }),
  trendingQuery: Type.Object({ limit: limitSchema(50, 20) }),
  searchQuery: Type.Object({
    q: Type.String({
      minLength: 1,
      maxLength: 500,
      description: "Search words. Each must occur in the title of the event or in one of its markets.",
    }),
    limit: limitSchema(50, 20),
  }),
  eventQuery: Type.Object({
    expand: Type.Optional(commaList(["markets"], { description: "Fields to include in the response: `markets`." })),
  }),
};

/** Request and response schemas. Their venue enums list the venues configured for this deployment. */
export function createMarketSchemas({ trading, all }: VenueIds) {
  const platform = oneOf(all, { description: "Venue." });
  const History = historySchema(platform);
  const Market = marketSchema(platform, History);
  const eventSummary = eventSummaryFields(platform);
  return {
    ...REQUEST_SCHEMAS,
    Market,
    History,
    MarketList: Type.Array(Market),
    EventSummaries: Type.Array(Type.Object(eventSummary, { [SCHEMA_NAME]: "EventSummary" })),
    EventDetail: Type.Object(
      {
        ...eventSummary,
        description: nullableString("Description published by the venue."),
        top_yes_price: nullableNumber("Highest YES price among the event's active markets."),
        mutually_exclusive: Type.Boolean({
          description: "Whether at most one of the event's markets can resolve YES.",
        }),
        status: oneOf(["open", "closed", "settled"]),
        end_date: Type.Unsafe<string | null>({ type: ["string", "null"], format: "date-time" }),
        markets: Type.Optional(Type.Array(EventMarket)),
      },
      { [SCHEMA_NAME]: "Event" },
    ),
    Sentiment: sentimentSchema(Market),
    marketPath: Type.Object({
      platform: oneOf(trading, { description: "Venue." }),
      market_id: Type.String({ description: "Market ticker or id at the venue, percent-encoded." }),
    }),
    listQuery: listQuery(trading),
    eventsQuery: Type.Object({
      ...createSourceFilter(trading),
      category: categoryFilter,
      featured: Type.Optional(Type.Boolean({ description: "If true, only return events that the venue features." })),
      limit: limitSchema(100, 20),
    }),
  };
}
