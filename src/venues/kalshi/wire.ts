import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";

/**
 * What we read of Kalshi's answers. Only what a row is nothing without is required; everything else may be missing or
 * null. Prices and counts are decimal strings (`*_dollars`, `*_fp`); their meaning is checked in `parse.ts`.
 */
/** Printable, without spaces and the comma that separates tickers in lists; a dot or two would climb up a URL's path. */
const TICKER = /^(?!\.{1,2}$)[!-+\--~]{1,200}$/;
const Ticker = Type.String({ pattern: TICKER.source });
const Text = Type.String({ maxLength: 100_000 });
const maybe = <Schema extends Type.TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));
const Decimal = maybe(Type.Union([Type.String({ maxLength: 40 }), Type.Number()]));
const Time = maybe(Type.String({ maxLength: 40 }));

export const MarketWire = Type.Object({
  ticker: Ticker,
  event_ticker: Ticker,
  status: Type.String(),
  title: maybe(Text),
  yes_sub_title: maybe(Text),
  mve_collection_ticker: maybe(Type.String()),
  open_time: Time,
  close_time: Time,
  expected_expiration_time: Time,
  latest_expiration_time: Time,
  settlement_ts: Time,
  fee_waiver_expiration_time: Time,
  yes_bid_dollars: Decimal,
  yes_bid_size_fp: Decimal,
  yes_ask_dollars: Decimal,
  yes_ask_size_fp: Decimal,
  last_price_dollars: Decimal,
  volume_fp: Decimal,
  volume_24h_fp: Decimal,
  open_interest_fp: Decimal,
  result: maybe(Type.String()),
  settlement_value_dollars: Decimal,
  rules_primary: maybe(Text),
  rules_secondary: maybe(Text),
  price_level_structure: maybe(Type.String()),
  price_ranges: maybe(Type.Array(Type.Unknown())),
});
export type MarketWire = Static<typeof MarketWire>;

export const EventWire = Type.Object({
  event_ticker: Ticker,
  series_ticker: Ticker,
  title: Type.String({ minLength: 1, maxLength: 10_000 }),
  sub_title: maybe(Text),
  mutually_exclusive: maybe(Type.Boolean()),
  category: maybe(Type.String()),
  strike_date: Time,
  fee_type_override: maybe(Type.String()),
  fee_multiplier_override: maybe(Type.Number()),
});
export type EventWire = Static<typeof EventWire>;

export const SeriesWire = Type.Object({
  ticker: Ticker,
  title: maybe(Text),
  category: maybe(Type.String()),
  fee_type: maybe(Type.String()),
  fee_multiplier: maybe(Type.Number()),
});
export type SeriesWire = Static<typeof SeriesWire>;

export const TradeWire = Type.Object({
  trade_id: Type.String({ minLength: 1, maxLength: 200 }),
  count_fp: Decimal,
  yes_price_dollars: Decimal,
  taker_outcome_side: maybe(Type.String()),
  /** Deprecated; read only where the newer word is missing. */
  taker_side: maybe(Type.String()),
  created_time: Time,
  is_block_trade: maybe(Type.Boolean()),
});
export type TradeWire = Static<typeof TradeWire>;

const Levels = maybe(Type.Array(Type.Unknown()));
export const OrderbookWire = Type.Object({
  orderbook_fp: Type.Object({ yes_dollars: Levels, no_dollars: Levels }),
});
export type OrderbookWire = Static<typeof OrderbookWire>;

/** Both tiers' candles in one: the live one suffixes its names, the historical one does not. */
const Side = maybe(Type.Object({ close_dollars: Decimal, close: Decimal }));
export const CandleWire = Type.Object({
  end_period_ts: Type.Integer({ minimum: 1_400_000_000, maximum: 7_200_000_000 }),
  yes_bid: Side,
  yes_ask: Side,
  price: maybe(
    Type.Object({
      close_dollars: Decimal,
      mean_dollars: Decimal,
      previous_dollars: Decimal,
      close: Decimal,
      mean: Decimal,
      previous: Decimal,
    }),
  ),
  volume_fp: Decimal,
  volume: Decimal,
});
export type CandleWire = Static<typeof CandleWire>;

/** One band of the price grid. */
const PriceRangeWire = Type.Object({ step: Decimal });

const CutoffWire = Type.Object({ trades_created_ts: Type.String() });

const Cursor = maybe(Type.String({ maxLength: 10_000 }));
const Rows = Type.Array(Type.Unknown());

/** One message of the WebSocket. */
export const SocketWire = Type.Object({
  type: Type.String(),
  id: maybe(Type.Integer()),
  sid: maybe(Type.Integer()),
  seq: maybe(Type.Integer()),
  msg: maybe(Type.Unknown()),
});
export type SocketWire = Static<typeof SocketWire>;

const TickerMessageWire = Type.Object({
  market_ticker: Ticker,
  price_dollars: Decimal,
  yes_bid_dollars: Decimal,
  yes_bid_size_fp: Decimal,
  yes_ask_dollars: Decimal,
  yes_ask_size_fp: Decimal,
  ts_ms: maybe(Type.Number()),
});

export const TradeMessageWire = Type.Object({
  market_ticker: Ticker,
  trade_id: Type.String({ minLength: 1, maxLength: 200 }),
  count_fp: Decimal,
  yes_price_dollars: Decimal,
  taker_outcome_side: maybe(Type.String()),
  taker_side: maybe(Type.String()),
  is_block_trade: maybe(Type.Boolean()),
  ts_ms: maybe(Type.Number()),
});
export type TradeMessageWire = Static<typeof TradeMessageWire>;

const LifecycleMessageWire = Type.Object({ market_ticker: Ticker, event_type: Type.String() });
const SubscribedWire = Type.Object({ channel: Type.String(), sid: Type.Integer() });
const ErrorMessageWire = Type.Object({ code: Type.Integer(), msg: maybe(Type.String()) });

/** True when the value has the schema's shape; rows are checked one by one, so that a bad one costs only itself. */
const checker = <Schema extends Type.TSchema>(schema: Schema) => {
  const compiled = Compile(schema);
  return (value: unknown): value is Static<Schema> => compiled.Check(value);
};

export const isTicker = (text: string): boolean => TICKER.test(text);
export const isMarket = checker(MarketWire);
export const isEvent = checker(EventWire);
export const isSeries = checker(SeriesWire);
export const isTrade = checker(TradeWire);
export const isOrderbook = checker(OrderbookWire);
export const isCandle = checker(CandleWire);
export const isPriceRange = checker(PriceRangeWire);
export const isCutoff = checker(CutoffWire);
export const isSocketMessage = checker(SocketWire);
export const isTickerMessage = checker(TickerMessageWire);
export const isTradeMessage = checker(TradeMessageWire);
export const isLifecycleMessage = checker(LifecycleMessageWire);
export const isSubscribed = checker(SubscribedWire);
export const isErrorMessage = checker(ErrorMessageWire);

/** Envelopes: the rows inside are unchecked. */
export const isMarketsPage = checker(Type.Object({ markets: Rows, cursor: Cursor }));
export const isEventsPage = checker(Type.Object({ events: Rows, cursor: Cursor }));
export const isTradesPage = checker(Type.Object({ trades: Rows, cursor: Cursor }));
export const isSeriesList = checker(Type.Object({ series: Rows }));
export const isOneMarket = checker(Type.Object({ market: Type.Unknown() }));
export const isOneSeries = checker(Type.Object({ series: Type.Unknown() }));
export const isCandles = checker(Type.Object({ candlesticks: Rows }));
export const isCandlesOfMany = checker(Type.Object({ markets: Type.Array(Type.Object({ candlesticks: Rows })) }));
