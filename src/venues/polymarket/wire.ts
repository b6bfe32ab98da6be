import Type from "typebox";
import { Compile } from "typebox/compile";

/**
 * What we read of what the venue sends. Fields that are missing, null, "" or (for numbers) numeric strings are all usual,
 * so most are `Unknown` here and read leniently in `parse.ts`; a row that lacks what identifies it is dropped.
 */
const Id = Type.Union([Type.String({ pattern: "^[0-9]{1,20}$" }), Type.Integer({ minimum: 0 })]);
const Loose = Type.Optional(Type.Unknown());

const GammaTag = Type.Object({ label: Type.String(), slug: Type.Optional(Type.String()) });

export const GammaMarket = Type.Object({
  id: Id,
  question: Type.String({ minLength: 1 }),
  conditionId: Loose,
  slug: Loose,
  description: Loose,
  outcomes: Loose,
  outcomePrices: Loose,
  clobTokenIds: Loose,
  groupItemTitle: Loose,
  active: Loose,
  closed: Loose,
  archived: Loose,
  acceptingOrders: Loose,
  enableOrderBook: Loose,
  umaResolutionStatus: Loose,
  startDate: Loose,
  endDate: Loose,
  acceptingOrdersTimestamp: Loose,
  closedTime: Loose,
  umaEndDate: Loose,
  bestBid: Loose,
  bestAsk: Loose,
  lastTradePrice: Loose,
  volume: Loose,
  volumeNum: Loose,
  volume24hr: Loose,
  liquidity: Loose,
  liquidityNum: Loose,
  orderPriceMinTickSize: Loose,
  negRiskOther: Loose,
  feesEnabled: Loose,
  feeSchedule: Loose,
  category: Loose,
  tags: Loose,
  events: Loose,
});
export type GammaMarket = Type.Static<typeof GammaMarket>;

export const GammaEvent = Type.Object({
  id: Id,
  title: Type.String({ minLength: 1 }),
  slug: Loose,
  description: Loose,
  category: Loose,
  endDate: Loose,
  featured: Loose,
  negRisk: Loose,
  enableNegRisk: Loose,
  negRiskAugmented: Loose,
  openInterest: Loose,
  tags: Loose,
  markets: Loose,
});
export type GammaEvent = Type.Static<typeof GammaEvent>;

const Rows = Type.Array(Type.Unknown());
const Cursor = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const EventsPage = Type.Object({ events: Rows, next_cursor: Cursor });
const MarketsPage = Type.Object({ markets: Rows, next_cursor: Cursor });

const FeeSchedule = Type.Object({ rate: Type.Unknown(), exponent: Loose });

const Decimal = Type.Union([Type.String(), Type.Number()]);
const Level = Type.Object({ price: Decimal, size: Decimal });
export const Book = Type.Object({
  asset_id: Type.String(),
  timestamp: Loose,
  bids: Type.Union([Rows, Type.Null()]),
  asks: Type.Union([Rows, Type.Null()]),
  last_trade_price: Loose,
});
export type Book = Type.Static<typeof Book>;

const HistoryReply = Type.Object({ history: Rows });
const HistoryRow = Type.Object({ t: Type.Number({ minimum: 0, maximum: 1e11 }), p: Decimal });

const Side = Type.Union([Type.Literal("BUY"), Type.Literal("SELL")]);
const Seconds = Type.Number({ minimum: 1, maximum: 1e11 });
const TradeV2 = Type.Object({
  side: Side,
  token_id: Type.String(),
  size: Decimal,
  price: Decimal,
  timestamp: Seconds,
  transaction_hash: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
const TradeV1 = Type.Object({
  side: Side,
  asset: Type.String(),
  size: Decimal,
  price: Decimal,
  timestamp: Seconds,
  transactionHash: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
export type TradeV1 = Type.Static<typeof TradeV1>;

const TradesPageV2 = Type.Object({
  data: Rows,
  pagination: Type.Optional(Type.Object({ has_more: Loose, next_cursor: Cursor })),
});

const ResolutionsReply = Type.Object({ data: Rows });
export const Resolution = Type.Object({
  condition_id: Type.String(),
  status: Type.String(),
  proposed_price: Loose,
  reproposed_price: Loose,
  payouts: Loose,
  resolved_at: Loose,
});
export type Resolution = Type.Static<typeof Resolution>;

const Timestamp = Type.Unknown();
const PriceChange = Type.Object({
  asset_id: Type.String(),
  price: Decimal,
  size: Decimal,
  side: Side,
  best_bid: Loose,
  best_ask: Loose,
});

const PriceChangeMessage = Type.Object({
  event_type: Type.Literal("price_change"),
  timestamp: Timestamp,
  price_changes: Type.Array(PriceChange),
});
const LastTradeMessage = Type.Object({
  event_type: Type.Literal("last_trade_price"),
  asset_id: Type.String(),
  price: Decimal,
  size: Decimal,
  side: Side,
  timestamp: Timestamp,
  transaction_hash: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
const AssetMessage = Type.Object({ event_type: Type.String(), asset_id: Type.String() });
const ResolvedMessage = Type.Object({
  event_type: Type.Literal("market_resolved"),
  assets_ids: Type.Array(Type.String()),
});
const NewMarketMessage = Type.Object({ event_type: Type.Literal("new_market"), id: Id });
const AnyMessage = Type.Object({ event_type: Type.String() });

/** Compiled checks: a value that passes has the type. */
export const isGammaMarket = checker(GammaMarket);
export const isGammaEvent = checker(GammaEvent);
export const isGammaTag = checker(GammaTag);
export const isEventsPage = checker(EventsPage);
export const isMarketsPage = checker(MarketsPage);
export const isFeeSchedule = checker(FeeSchedule);
export const isLevel = checker(Level);
export const isBook = checker(Book);
export const isHistoryReply = checker(HistoryReply);
export const isHistoryRow = checker(HistoryRow);
export const isTradeV1 = checker(TradeV1);
export const isTradeV2 = checker(TradeV2);
export const isTradesPageV2 = checker(TradesPageV2);
export const isResolutionsReply = checker(ResolutionsReply);
export const isResolution = checker(Resolution);
export const isPriceChange = checker(PriceChange);
export const isPriceChangeMessage = checker(PriceChangeMessage);
export const isLastTradeMessage = checker(LastTradeMessage);
export const isAssetMessage = checker(AssetMessage);
export const isResolvedMessage = checker(ResolvedMessage);
export const isNewMarketMessage = checker(NewMarketMessage);
export const isAnyMessage = checker(AnyMessage);

function checker<Schema extends Type.TSchema>(schema: Schema): (value: unknown) => value is Type.Static<Schema> {
  const compiled = Compile(schema);
  return (value): value is Type.Static<Schema> => compiled.Check(value);
}
