/** What Limitless sends, as far as we read it. Other fields may come and go; numbers also arrive as text. */
import Type, { type Static, type TSchema } from "typebox";
import { Compile } from "typebox/compile";

const ID_CHARS_MAX = 512;
const TITLE_CHARS_MAX = 2_000;
const HTML_CHARS_MAX = 500_000;

/** True when the value has the schema's shape. */
const checker = <Schema extends TSchema>(schema: Schema) => {
  const compiled = Compile(schema);
  return (value: unknown): value is Static<Schema> => compiled.Check(value);
};

const maybe = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));
const Figure = Type.Union([Type.Number(), Type.String({ maxLength: 100 })]);
const Id = Type.String({ minLength: 1, maxLength: ID_CHARS_MAX });
const Title = Type.String({ maxLength: TITLE_CHARS_MAX });
const Moment = Type.Union([Type.Number(), Type.String({ maxLength: 100 })]);
const Pair = Type.Array(Type.Union([Figure, Type.Null()]), { maxItems: 16 });
const Amounts = Type.Object({ market: maybe(Pair) });

/** A single market, a child of a group, or a group container (which has `markets`). */
const MarketRow = Type.Object({
  slug: Id,
  title: Title,
  status: Type.String({ maxLength: 100 }),
  tradeType: maybe(Type.String()),
  marketType: maybe(Type.String()),
  address: maybe(Type.String({ maxLength: ID_CHARS_MAX })),
  description: maybe(Type.String({ maxLength: HTML_CHARS_MAX })),
  collateralToken: maybe(Type.Object({ symbol: maybe(Type.String()), decimals: maybe(Figure) })),
  expirationTimestamp: maybe(Figure),
  expired: maybe(Type.Boolean()),
  createdAt: maybe(Moment),
  startAt: maybe(Moment),
  resolutionDate: maybe(Moment),
  categories: maybe(Type.Array(Type.Unknown())),
  metadata: maybe(Type.Object({ fee: maybe(Type.Boolean()) })),
  volume: maybe(Figure),
  volumeFormatted: maybe(Figure),
  openInterest: maybe(Figure),
  openInterestFormatted: maybe(Figure),
  liquidity: maybe(Figure),
  liquidityFormatted: maybe(Figure),
  conditionId: maybe(Type.String({ maxLength: ID_CHARS_MAX })),
  tokens: maybe(Type.Object({ yes: Id, no: Id })),
  prices: maybe(Pair),
  tradePrices: maybe(Type.Object({ buy: maybe(Amounts), sell: maybe(Amounts) })),
  winningOutcomeIndex: maybe(Figure),
  payoutNumerators: maybe(Type.Array(Figure)),
  groupId: maybe(Figure),
  orderInGroup: maybe(Figure),
  negRiskRequestId: maybe(Type.String({ maxLength: ID_CHARS_MAX })),
  negRiskMarketId: maybe(Type.String({ maxLength: ID_CHARS_MAX })),
  markets: maybe(Type.Array(Type.Unknown())),
});
export type MarketRow = Static<typeof MarketRow>;
export const isMarketRow = checker(MarketRow);

export const isActivePage = checker(
  Type.Object({ data: Type.Array(Type.Unknown()), totalMarketsCount: maybe(Figure) }),
);

/** Row of the list of slugs; only groups have `markets`. */
export const isSlugRow = checker(
  Type.Object({ slug: Id, markets: maybe(Type.Array(Type.Object({ slug: Type.String() }))) }),
);

const Level = Type.Object({ price: Figure, size: Figure });
export const isLevel = checker(Level);

const Book = Type.Object({
  bids: Type.Array(Type.Unknown()),
  asks: Type.Array(Type.Unknown()),
  lastTradePrice: maybe(Figure),
});
export type Book = Static<typeof Book>;
export const isBook = checker(Book);

export const isTapePage = checker(Type.Object({ events: Type.Array(Type.Unknown()), totalPages: maybe(Figure) }));

const TapeEvent = Type.Object({
  createdAt: Moment,
  price: Figure,
  side: maybe(Figure),
  matchedSize: Figure,
  tokenId: Type.String({ maxLength: ID_CHARS_MAX }),
  txHash: maybe(Type.String({ maxLength: ID_CHARS_MAX })),
});
export const isTapeEvent = checker(TapeEvent);

const FeedEvent = Type.Object({
  createdAt: Moment,
  id: maybe(Figure),
  eventType: Type.Literal("NEW_TRADE"),
  data: Type.Object({
    outcome: Type.Union([Type.Literal("YES"), Type.Literal("NO")]),
    strategy: maybe(Type.String()),
    contracts: Figure,
    tradeAmountUSD: Figure,
    txHash: maybe(Type.String({ maxLength: ID_CHARS_MAX })),
  }),
});
export const isFeedEvent = checker(FeedEvent);

const PricePoint = Type.Object({ timestamp: Moment, price: Figure });
export const isPricePoint = checker(PricePoint);

const BookFrame = Type.Object({ marketSlug: Id, orderbook: Book, timestamp: maybe(Moment) });
export type BookFrame = Static<typeof BookFrame>;
export const isBookFrame = checker(BookFrame);

const AmmEntry = Type.Object({ marketAddress: maybe(Id), yesPrice: Figure });
const PriceFrame = Type.Object({
  marketAddress: Id,
  updatedPrices: Type.Union([Type.Array(AmmEntry), Type.Object({ yes: Figure })]),
  timestamp: maybe(Moment),
});
export type PriceFrame = Static<typeof PriceFrame>;
export const isPriceFrame = checker(PriceFrame);

export const isLifecycleFrame = checker(Type.Object({ slug: Id }));
