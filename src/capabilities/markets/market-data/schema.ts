import Type, { type Static, type TProperties } from "typebox";
import { EVENT_STATUSES, SORT_KEYS } from "../../../board/index.ts";
import type { LeftOutReason } from "../../../domain/event-children.ts";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import {
  amount,
  count,
  createMarketPath,
  difference,
  EVENT_SLUG,
  marketNames,
  nullableNumber,
  nullableOneOf,
  nullableString,
  nullableTimestamp,
  oneOf,
  probability,
  timestamp,
  type VenueIds,
} from "../../../http/schema-types.ts";
import { commaList, emptyIsAbsent } from "../../../http/validation/index.ts";
import {
  categorySchema,
  cursorSchema,
  historyQuery,
  historySchema,
  limitSchema,
  orderBookQuery,
  orderBookSchema,
  TradeList,
  tradesQuery,
  usd,
} from "./market-data-schema.ts";

export type { VenueIds } from "../../../http/schema-types.ts";
export type { Period } from "./market-data-schema.ts";

export const STATUS_FILTERS = ["active", "closed", "determined", "finalized", "all"] as const;

const EventChildren = Type.Object({
  total: count("Markets that the venue lists for the event."),
  read: count("Markets that are among the event's markets here."),
  left_out: Type.Partial(
    Type.Object({
      settled_no: count("Settled NO."),
      settled: count("Settled otherwise."),
      closed: count("Closed without a known result."),
      placeholder: count("Outcomes without a name yet, and `Other`."),
      unreadable: count("Rows that lack what a market needs."),
    } satisfies Record<LeftOutReason, unknown>),
    { description: "The other markets by reason." },
  ),
});
const EventChildrenOrNull = Type.Unsafe<Static<typeof EventChildren> | null>({
  ...EventChildren,
  type: ["object", "null"],
  description: "The venue's markets of the event. Null if the venue does not show all of them.",
});

const createSourceFilter = (trading: readonly string[]) => ({
  source: Type.Optional(emptyIsAbsent(oneOf(trading, { description: "Only return results from this venue." }))),
  platform: Type.Optional(emptyIsAbsent(oneOf(trading, { description: "Alias of `source`." }))),
});

const EVENT_PLATFORM_LENGTH_MAX = 20;

/** Venue filter of GET /v1/events; a pattern, as in the specification. An empty value means all venues. */
function createEventSourceFilter(trading: readonly string[]) {
  const maxLength = Math.max(EVENT_PLATFORM_LENGTH_MAX, ...trading.map(({ length }) => length));
  const filter = (description: string) =>
    Type.Optional(emptyIsAbsent(Type.String({ maxLength, pattern: `^(${trading.join("|")})?$`, description })));
  return {
    source: filter("Only return events of this venue. Empty for all venues."),
    platform: filter("Alias of `source`."),
  };
}

const categoryFilter = Type.Optional(
  emptyIsAbsent(
    Type.String({
      maxLength: 50,
      description: "Only return results in this category: one of `/v1/categories` or a venue's own. Case-insensitive.",
    }),
  ),
);

const marketSchema = (all: readonly string[], history: ReturnType<typeof historySchema>) =>
  Type.Object(
    {
      ...marketNames(all),
      yes_price: probability(
        "Price of a YES contract: the mid price if the bid-ask spread is at most 0.10, otherwise the last trade price, moved into the bid and ask that exist, otherwise the venue's indicative price of a market without quotes.",
      ),
      updated_at: timestamp("Time at which the price was last confirmed."),
      url: Type.Optional(Type.String({ description: "URL of the market at the venue." })),
      category: Type.Optional(categorySchema),
      venue_category: Type.Optional(Type.String({ description: "Category as the venue names it." })),
      also_on: Type.Optional(
        Type.Record(Type.String(), Type.String(), {
          description:
            "URLs of the same market, or of its opposite, at other venues, keyed by venue. A venue that only serves as a reference occurs here too. Only matches with a confidence of at least 0.9 are shown.",
        }),
      ),
      status: Type.Optional(oneOf(["active", "closed", "determined", "finalized"])),
      bid: Type.Optional(probability("Best YES bid.")),
      ask: Type.Optional(probability("Best YES ask.")),
      last_price: Type.Optional(probability("Price of the last trade.")),
      price_change_24h: Type.Optional(difference("Difference between the current price and the price 24 hours ago.")),
      volume_24h: Type.Optional(
        usd("USD traded in the last 24 hours, as reported by the venue or computed from its trades."),
      ),
      liquidity: Type.Optional(usd("Liquidity in USD, as defined by the venue.")),
      open_interest: Type.Optional(usd("Open interest in USD.")),
      resolution_date: Type.Optional(timestamp("Expected resolution time.")),
      close_time: Type.Optional(timestamp("Time at which the venue stops accepting orders.")),
      tick_size: Type.Optional(Type.Number({ description: "Price step of orders at the current price." })),
      price_ranges: Type.Optional(
        Type.Array(Type.Object({ from: Type.Number(), to: Type.Number(), step: Type.Number() }), {
          description:
            "Prices that orders for YES may have: those from `from` to `to` in multiples of `step`, without 0 and 1. An order for NO at p has the YES price 1 - p.",
        }),
      ),
      min_order_contracts: Type.Optional(Type.Number({ description: "Smallest order in contracts." })),
      contract_step: Type.Optional(Type.Number({ description: "Contracts of an order are a multiple of this." })),
      taker_delay_ms: Type.Optional(
        Type.Integer({ description: "How long the venue holds an order that takes, before it matches it." }),
      ),
      protocol_version: Type.Optional(
        Type.String({ description: "Version of the venue's trading protocol, as the venue names it." }),
      ),
      paused: Type.Optional(
        Type.Boolean({ description: "Whether the venue accepts no orders at present, although the market is active." }),
      ),
      venue_ids: Type.Optional(
        Type.Record(Type.String(), Type.String(), {
          description: "Ids that an order at the venue needs, by name, such as tokens, contracts and event tickers.",
        }),
      ),
      event_slug: Type.Optional(Type.String({ description: "Slug of the event that groups related markets." })),
      event_title: Type.Optional(Type.String()),
      outcome: Type.Optional(
        nullableOneOf(
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
        nullableTimestamp("Time at which a `finalized` market was settled. Null if the venue does not report it."),
      ),
      model_probability: Type.Optional(
        probability(
          "Our estimate of the probability of YES at `yes_price`: what the latest analysis adds to the price. Absent without an analysis, if it has expired, and for a market with a result.",
        ),
      ),
      model_probability_at: Type.Optional(
        timestamp(
          "Time of `model_probability`: when the price was last confirmed, or of the analysis if that is later.",
        ),
      ),
      rules: Type.Optional(nullableString("Resolution rules as published by the venue. Only with `expand=rules`.")),
      history: Type.Optional(history),
      analysis: Type.Optional(
        Type.Unsafe<object | null>({
          type: ["object", "null"],
          description:
            "Latest analysis, as `GET …/analysis` returns it without expansions. Null without one, or if it has expired. Only with `expand=analysis`.",
        }),
      ),
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
    category: Type.String({ description: "One of our categories; empty if the venue publishes none." }),
    venue_category: nullableString("Category as the venue names it."),
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

const CategorySummary = Type.Object(
  {
    category: categorySchema,
    market_count: Type.Integer({ minimum: 1, description: "Number of active markets." }),
    volume_24h: nullableNumber(
      "USD traded in the last 24 hours in the markets whose volume is known, rounded to cents. Null if none is known.",
    ),
  },
  { [SCHEMA_NAME]: "CategorySummary" },
);

const sentimentSchema = (market: ReturnType<typeof marketSchema>) =>
  Type.Object(
    {
      fear_greed_index: nullableNumber(
        "Share of volume-weighted price movement in the last 24 hours that was upward, from 0 to 100. Null until the prices of 24 hours ago are known for half of the markets.",
      ),
      market_regime: nullableOneOf(["risk_on", "risk_off", "neutral"], "Null if `fear_greed_index` is null."),
      volume_trend: nullableOneOf(["rising", "falling", "stable"]),
      spread_trend: nullableOneOf(["widening", "tightening", "stable"]),
      active_market_count: Type.Integer({ minimum: 0 }),
      dominant_category: nullableString("Category with the highest 24-hour volume."),
      top_movers: Type.Array(market, { description: "Empty until the history is loaded." }),
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
        description:
          "Sort field. `edge` is the distance of `model_probability` from `yes_price`, up to ten seconds old; markets without an estimate are last.",
      }),
    ),
    order: Type.Optional(
      oneOf(["asc", "desc"], {
        description:
          "Sort order. The default is `desc`, for `resolution_date` `asc`. Markets without a value are last in both orders.",
      }),
    ),
    limit: limitSchema(100, 30),
    cursor: cursorSchema,
  });

/** Request schemas that do not depend on the configured venues. */
const REQUEST_SCHEMAS = {
  marketQuery: Type.Object({
    expand: Type.Optional(
      commaList(["history", "analysis", "rules"], {
        description: "Fields to include in the response: `history`, `analysis`, `rules`.",
      }),
    ),
  }),
  historyQuery,
  orderBookQuery,
  tradesQuery,
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

export function createMarketSchemas({ trading, all }: VenueIds) {
  const platform = oneOf(all, { description: "Venue." });
  const History = historySchema(platform);
  const Market = marketSchema(all, History);
  const eventSummary = eventSummaryFields(platform);
  return {
    ...REQUEST_SCHEMAS,
    Market,
    History,
    MarketList: Type.Array(Market),
    OrderBook: orderBookSchema(platform),
    TradeList,
    CategoryList: Type.Array(CategorySummary),
    EventSummaries: Type.Array(Type.Object(eventSummary, { [SCHEMA_NAME]: "EventSummary" })),
    EventDetail: Type.Object(
      {
        ...eventSummary,
        description: nullableString("Description published by the venue."),
        top_yes_price: nullableNumber("Highest YES price among the event's active markets."),
        mutually_exclusive: Type.Boolean({
          description: "Whether at most one of the event's markets can resolve YES.",
        }),
        children: EventChildrenOrNull,
        status: oneOf(["open", "closed", "settled"]),
        end_date: Type.Unsafe<string | null>({ type: ["string", "null"], format: "date-time" }),
        also_on: Type.Array(
          Type.Object(
            {
              platform,
              event_id: Type.String({ description: "Event id at the venue." }),
              url: nullableString("URL of the event at the venue."),
              market_count: Type.Integer({ minimum: 1, description: "Number of markets that have a price." }),
            },
            { [SCHEMA_NAME]: "EventLink" },
          ),
          { description: "The same event at other venues, most likely match first; at most 20." },
        ),
        markets: Type.Optional(Type.Array(EventMarket)),
      },
      { [SCHEMA_NAME]: "Event" },
    ),
    Sentiment: sentimentSchema(Market),
    marketPath: createMarketPath(trading),
    listQuery: listQuery(trading),
    eventsQuery: Type.Object({
      ...createEventSourceFilter(trading),
      category: categoryFilter,
      featured: Type.Optional(Type.Boolean({ description: "If true, only return events that the venue features." })),
      status: Type.Optional(oneOf([...EVENT_STATUSES, "all"], { default: "open" })),
      min_volume: Type.Optional(
        amount("Only return events with at least this 24-hour volume in USD. Excludes events of unknown volume."),
      ),
      min_markets: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 10_000,
          description: "Only return events with at least this many markets.",
        }),
      ),
      limit: limitSchema(100, 20),
      cursor: cursorSchema,
    }),
  };
}
