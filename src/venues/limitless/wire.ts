/**
 * Schemas of the parts of Limitless's responses that the adapter reads, annotated with Limitless's documentation.
 * Numbers may be sent as text.
 */
import Type, { type Static } from "typebox";
import { driftDetectorsFor } from "../shared/schema-drift.ts";
import {
  always,
  compileCheck,
  enumeration,
  type FieldAnnotation,
  optional,
  unchecked,
  unused,
  usually,
} from "../shared/wire-schema.ts";

const ID_CHARS_MAX = 512;
const TITLE_CHARS_MAX = 2_000;
const HTML_CHARS_MAX = 500_000;

const numeric = (type: FieldAnnotation["type"]) =>
  Type.Union([Type.Number(), Type.String({ maxLength: 100 })], { documented: { type } });
const Figure = numeric("decimal");
const Price = numeric("price");
const Time = numeric("time");
const Id = Type.String({ minLength: 1, maxLength: ID_CHARS_MAX });
const Title = Type.String({ maxLength: TITLE_CHARS_MAX });
const Pair = Type.Array(Type.Union([Figure, Type.Null()]), { maxItems: 16 });
const Amounts = Type.Object({ market: optional(Pair) });

/** A single market, a market of a group, or a group (which has `markets`). */
const MarketRow = Type.Object(
  {
    slug: Id,
    title: Title,
    status: enumeration("FUNDED FUNDED_FLAGGED LOCKED DRAFTED RESOLVED", { maxLength: 100 }),
    tradeType: usually(enumeration("amm clob group")),
    marketType: optional(enumeration("single group")),
    address: optional(Type.String({ maxLength: ID_CHARS_MAX })),
    description: usually(Type.String({ maxLength: HTML_CHARS_MAX })),
    collateralToken: usually(Type.Object({ symbol: optional(Type.String()), decimals: optional(Figure) })),
    expirationTimestamp: always(Figure),
    expired: optional(Type.Boolean()),
    createdAt: always(Time),
    startAt: optional(Time),
    resolutionDate: optional(Time),
    categories: usually(Type.Array(Type.Unknown())),
    settings: usually(Type.Object({ takerDelayMs: optional(Figure) })),
    metadata: usually(
      Type.Object({
        fee: optional(Type.Boolean()),
        externalSlug: optional(Type.String({ maxLength: ID_CHARS_MAX })),
      }),
    ),
    volume: usually(Figure),
    volumeFormatted: usually(Figure),
    openInterest: optional(Figure),
    openInterestFormatted: optional(Figure),
    liquidity: optional(Figure),
    liquidityFormatted: optional(Figure),
    conditionId: optional(Type.String({ maxLength: ID_CHARS_MAX })),
    tokens: usually(Type.Object({ yes: Id, no: Id })),
    prices: usually(Pair),
    tradePrices: usually(Type.Object({ buy: optional(Amounts), sell: optional(Amounts) })),
    winningOutcomeIndex: optional(Figure),
    payoutNumerators: optional(Type.Array(Figure)),
    groupId: optional(Figure),
    orderInGroup: optional(Figure),
    negRiskRequestId: optional(Type.String({ maxLength: ID_CHARS_MAX })),
    negRiskMarketId: optional(Type.String({ maxLength: ID_CHARS_MAX })),
    markets: optional(Type.Array(Type.Unknown())),
  },
  unused(`
    id proxyTitle expirationDate updatedAt tags creator priorityIndex positionIds isRewardable venue
    priceOracleMetadata imageUrl logo outcomeTokens automationType hidden hasImage ogImageURI imageURI stats trends
    strikePrice deadline ticker questionId feedEvents nextMarketUpdate dailyReward marketPageId isOther stableSlug
  `),
);
export type MarketRow = Static<typeof MarketRow>;
export const isMarketRow = compileCheck(MarketRow);

const ActivePage = Type.Object({ data: Type.Array(Type.Unknown()), totalMarketsCount: always(Figure) });
export const isActivePage = compileCheck(ActivePage);

/** A row of the list of slugs. Only groups have `markets`. */
export const isSlugRow = compileCheck(
  Type.Object({ slug: Id, markets: optional(Type.Array(Type.Object({ slug: Type.String() }))) }),
);

export const isLevel = compileCheck(Type.Object({ price: Figure, size: Figure }));

const Book = Type.Object(
  {
    bids: Type.Array(Type.Unknown()),
    asks: Type.Array(Type.Unknown()),
    lastTradePrice: optional(Price),
  },
  unused("tokenId adjustedMidpoint midpoint maxSpread minSize"),
);
export type Book = Static<typeof Book>;
export const isBook = compileCheck(Book);

export const isTradePage = compileCheck(
  Type.Object({ events: Type.Array(Type.Unknown()), totalPages: optional(Figure) }),
);

const TradeEvent = Type.Object(
  {
    createdAt: Time,
    price: Price,
    side: always(Figure),
    matchedSize: Figure,
    tokenId: Type.String({ maxLength: ID_CHARS_MAX }),
    txHash: optional(Type.String({ maxLength: ID_CHARS_MAX })),
    profile: unchecked({ type: "object" }),
  },
  unused("makerAmount takerAmount title"),
);
export const isTradeEvent = compileCheck(TradeEvent);

const FeedEvent = Type.Object(
  {
    createdAt: Time,
    id: optional(Figure),
    eventType: Type.Literal("NEW_TRADE"),
    data: Type.Object({
      outcome: Type.Union([Type.Literal("YES"), Type.Literal("NO")]),
      strategy: optional(Type.String()),
      contracts: Figure,
      tradeAmountUSD: Figure,
      txHash: optional(Type.String({ maxLength: ID_CHARS_MAX })),
    }),
  },
  unused("bodyHash user"),
);
export const isFeedEvent = compileCheck(FeedEvent);

const PricePoint = Type.Object({ timestamp: Time, price: Figure });
export const isPricePoint = compileCheck(PricePoint);

const BookFrame = Type.Object({ marketSlug: Id, orderbook: Book, timestamp: always(Time) }, unused("version"));
export type BookFrame = Static<typeof BookFrame>;
export const isBookFrame = compileCheck(BookFrame);

const AmmEntry = Type.Object({ marketAddress: optional(Id), yesPrice: Figure });
const PriceFrame = Type.Object(
  {
    marketAddress: Id,
    updatedPrices: Type.Union([Type.Array(AmmEntry), Type.Object({ yes: Figure })]),
    timestamp: optional(Time),
  },
  unused("blockNumber"),
);
export type PriceFrame = Static<typeof PriceFrame>;
export const isPriceFrame = compileCheck(PriceFrame);

const LifecycleFrame = Type.Object(
  {
    slug: Id,
    type: unchecked({ values: ["AMM", "CLOB"] }),
    winningOutcome: unchecked({ values: ["YES", "NO"] }),
  },
  unused("title groupSlug categoryIds createdAt winningIndex resolutionDate"),
);
export const isLifecycleFrame = compileCheck(LifecycleFrame);

export const createLimitlessDriftDetectors = driftDetectorsFor({
  market: MarketRow,
  page: ActivePage,
  book: Book,
  trade: TradeEvent,
  feed_event: FeedEvent,
  history_point: PricePoint,
  stream_book: BookFrame,
  stream_price: PriceFrame,
  stream_lifecycle: LifecycleFrame,
});
export type LimitlessDriftDetectors = ReturnType<typeof createLimitlessDriftDetectors>;
