import Type, { type TSchema } from "typebox";
import { SORT_KEYS } from "../../board/index.ts";
import { commaList, emptyIsAbsent } from "../../http/validation/index.ts";

/** One of these words; reads as a plain enum in the interface description. */
function oneOf<const Word extends string>(
  words: readonly Word[],
  options: { description?: string; default?: Word } = {},
) {
  return Type.Unsafe<Word>({ type: "string", enum: [...words], ...options });
}

const nullableNumber = (description: string) => Type.Unsafe<number | null>({ type: ["number", "null"], description });
const nullableString = (description: string) => Type.Unsafe<string | null>({ type: ["string", "null"], description });
const timestamp = (description: string) => Type.String({ format: "date-time", description });
const probability = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
const usd = (description: string) => Type.Number({ minimum: 0, description });

export const STATUS_WORDS = ["active", "closed", "determined", "finalized", "all"] as const;
export const PERIODS = ["48h", "7d", "30d"] as const;
export type Period = (typeof PERIODS)[number];

/** Schemas that name venues are made for the venues this deployment has. */
export function marketSchemas(venues: { readonly trading: readonly string[]; readonly all: readonly string[] }) {
  const platform = oneOf(venues.all, { description: "Venue" });
  const platformParameter = oneOf(venues.trading, { description: "Venue" });
  const source = {
    source: Type.Optional(emptyIsAbsent(oneOf(venues.trading, { description: "Only this venue" }))),
    platform: Type.Optional(emptyIsAbsent(oneOf(venues.trading, { description: "The same filter by its other name" }))),
  };
  const category = Type.Optional(
    emptyIsAbsent(Type.String({ maxLength: 50, description: "Only this category, in any case" })),
  );

  const HistoryPoint = Type.Object({
    timestamp: timestamp("Start of the interval"),
    yes_price: probability("Last price at or before the interval's end"),
    bid: nullableNumber("Best YES bid at that time"),
    ask: nullableNumber("Best YES ask at that time"),
    volume: nullableNumber("USD traded in the interval, null where unknown"),
  });
  const History = Type.Object({
    platform,
    market_id: Type.String(),
    period: oneOf(PERIODS),
    interval_seconds: Type.Integer({ description: "Width of an interval of the fixed UTC grid" }),
    points: Type.Array(HistoryPoint),
    generated_at: timestamp("When this answer was made"),
  });
  const Market = Type.Object({
    platform,
    market_id: Type.String({ description: "The venue's ticker or id" }),
    title: Type.String({ description: "Market question" }),
    yes_price: probability(
      "Mid of a two-sided book with a spread of at most 0.10, else the last trade, else the venue's indication",
    ),
    updated_at: timestamp("When the price was last confirmed"),
    url: Type.Optional(Type.String({ description: "Page on the venue" })),
    category: Type.Optional(Type.String()),
    also_on: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: "URL of the same market by venue" }),
    ),
    status: Type.Optional(oneOf(["active", "closed", "determined", "finalized"])),
    bid: Type.Optional(probability("Best YES bid")),
    ask: Type.Optional(probability("Best YES ask")),
    last_price: Type.Optional(probability("Price of the last trade")),
    price_change_24h: Type.Optional(
      Type.Number({ minimum: -1, maximum: 1, description: "Price now minus price 24 hours ago" }),
    ),
    volume_24h: Type.Optional(usd("USD traded in 24 hours, by the venue's count or summed from its tape")),
    liquidity: Type.Optional(usd("USD, by the venue's own definition")),
    open_interest: Type.Optional(usd("USD")),
    resolution_date: Type.Optional(timestamp("When the result is expected")),
    event_slug: Type.Optional(Type.String({ description: "Event that groups related markets" })),
    event_title: Type.Optional(Type.String()),
    model_probability: Type.Optional(probability("Our own estimate, where there is one")),
    history: Type.Optional(History),
  });
  const EventSummary = {
    slug: Type.String({ description: "{platform}:{venue event id}" }),
    title: Type.String(),
    platform,
    market_count: Type.Integer({ minimum: 0 }),
    total_volume_24h: nullableNumber("USD over the markets whose volume is known, null when none is"),
    updated_at: timestamp("Freshest price among its markets"),
    category: Type.String(),
    featured: Type.Boolean({ description: "Promoted by the venue" }),
  };
  const EventMarket = Type.Object({
    market_id: Type.String(),
    title: Type.String(),
    yes_price: probability("As in a market listing"),
    volume_24h: nullableNumber("USD"),
    url: nullableString("Page on the venue"),
    open_interest: nullableNumber("USD"),
    spread: nullableNumber("Ask minus bid"),
  });
  const EventDetail = Type.Object({
    ...EventSummary,
    description: nullableString("The venue's own words"),
    top_yes_price: nullableNumber("Highest price among open markets"),
    mutually_exclusive: Type.Boolean({ description: "At most one of its markets resolves YES" }),
    status: oneOf(["open", "closed", "settled"]),
    end_date: Type.Unsafe<string | null>({ type: ["string", "null"], format: "date-time" }),
    markets: Type.Optional(Type.Array(EventMarket)),
  });

  return {
    Market,
    History,
    MarketList: Type.Array(Market),
    EventSummaries: Type.Array(Type.Object(EventSummary)),
    EventDetail,
    EventMarkets: Type.Array(EventMarket),
    Sentiment: Type.Object({
      fear_greed_index: nullableNumber("0 to 100: share of the money-weighted moves of 24 hours that went up"),
      market_regime: oneOf(["risk_on", "risk_off", "neutral"]),
      volume_trend: Type.Unsafe<string | null>({
        type: ["string", "null"],
        enum: ["rising", "falling", "stable", null],
      }),
      spread_trend: Type.Unsafe<string | null>({
        type: ["string", "null"],
        enum: ["widening", "tightening", "stable", null],
      }),
      active_market_count: Type.Integer({ minimum: 0 }),
      dominant_category: nullableString("Category with the largest 24-hour volume"),
      top_movers: Type.Array(Market),
      generated_at: timestamp("When this answer was made"),
    }),
    marketPath: Type.Object({
      platform: platformParameter,
      market_id: Type.String({ description: "The venue's ticker or id, percent-encoded" }),
    }),
    slugPath: Type.Object({ slug: Type.String({ description: "{platform}:{venue event id}" }) }),
    listQuery: Type.Object({
      ...source,
      query: Type.Optional(
        emptyIsAbsent(
          Type.String({
            maxLength: 500,
            description: "Words that title, outcome or event must have; the last may be unfinished",
          }),
        ),
      ),
      category,
      status: Type.Optional(oneOf(STATUS_WORDS, { default: "active" })),
      sort: Type.Optional(
        oneOf(SORT_KEYS, { default: "volume_24h", description: "Largest first; resolution_date soonest first" }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 30 })),
      cursor: Type.Optional(
        emptyIsAbsent(Type.String({ maxLength: 2_048, description: "From the Link header of the page before" })),
      ),
    }),
    marketQuery: Type.Object({
      expand: Type.Optional(commaList(["history", "analysis"], { description: "Parts to add: history" })),
    }),
    historyQuery: Type.Object({
      period: Type.Optional(oneOf(PERIODS, { default: "7d" })),
      max_points: Type.Optional(Type.Integer({ minimum: 10, maximum: 200, default: 48 })),
    }),
    eventsQuery: Type.Object({
      source: Type.Optional(emptyIsAbsent(oneOf(venues.trading, { description: "Only this venue" }))),
      platform: Type.Optional(
        emptyIsAbsent(oneOf(venues.trading, { description: "The same filter by its other name" })),
      ),
      category,
      featured: Type.Optional(Type.Boolean({ description: "true: only events that the venue promotes" })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    }),
    trendingQuery: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 20 })) }),
    searchQuery: Type.Object({
      q: Type.String({ minLength: 1, maxLength: 500, description: "Words that the event or its markets must have" }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 20 })),
    }),
    eventQuery: Type.Object({
      expand: Type.Optional(commaList(["markets"], { description: "Parts to add: markets" })),
    }),
  } satisfies Record<string, TSchema>;
}
