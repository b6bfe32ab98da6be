/**
 * Schemas of the parts of Kalshi's responses that the adapter reads, annotated with Kalshi's documentation. Only fields
 * without which a row cannot be used are required. Prices and counts are decimal strings (`*_dollars`, `*_fp`); the
 * parsers check their ranges.
 */
import Type, { type Static } from "typebox";
import { driftDetectorsFor } from "../shared/schema-drift.ts";
import { always, compileCheck, enumeration, optional, unchecked, unused, usually } from "../shared/wire-schema.ts";

/**
 * Printable ASCII without spaces, and without the comma, which separates tickers in lists. "." and ".." are not
 * allowed, because they have a special meaning in URL paths.
 */
const TICKER = /^(?!\.{1,2}$)[!-+\--~]{1,200}$/;
const Ticker = Type.String({ pattern: TICKER.source });
const Text = Type.String({ maxLength: 100_000 });
const numeric = (type: "decimal" | "price") =>
  Type.Union([Type.String({ maxLength: 40 }), Type.Number()], { documented: { type } });
const Decimal = numeric("decimal");
const Price = numeric("price");
const MaybeDecimal = optional(Decimal);
const Time = Type.String({ maxLength: 40 });
const TakerSide = optional(enumeration("yes no"));

export const MarketWire = Type.Object(
  {
    ticker: Ticker,
    event_ticker: Ticker,
    status: enumeration("initialized inactive active closed determined disputed amended finalized"),
    title: optional(Text),
    yes_sub_title: usually(Text),
    mve_collection_ticker: optional(Type.String()),
    mve_selected_legs: optional(Type.Array(Type.Unknown())),
    open_time: always(Time),
    close_time: always(Time),
    expected_expiration_time: optional(Time),
    latest_expiration_time: always(Time),
    settlement_ts: optional(Time),
    fee_waiver_expiration_time: optional(Time),
    yes_bid_dollars: always(Price),
    yes_bid_size_fp: always(Decimal),
    yes_ask_dollars: always(Price),
    yes_ask_size_fp: always(Decimal),
    last_price_dollars: always(Price),
    volume_fp: always(Decimal),
    volume_24h_fp: always(Decimal),
    open_interest_fp: always(Decimal),
    result: optional(enumeration("yes no scalar")),
    settlement_value_dollars: optional(Price),
    rules_primary: usually(Text),
    rules_secondary: usually(Text),
    fractional_trading_enabled: optional(Type.Boolean()),
    price_ranges: usually(Type.Array(Type.Unknown())),
    market_type: unchecked({ values: ["binary", "scalar"] }),
  },
  unused(`
    subtitle no_sub_title is_provisional primary_participant_key exchange_index created_time
    updated_time occurrence_datetime expiration_time settlement_timer_seconds no_bid_dollars no_ask_dollars
    previous_yes_bid_dollars previous_yes_ask_dollars previous_price_dollars notional_value_dollars liquidity_dollars
    expiration_value can_close_early early_close_condition strike_type floor_strike cap_strike functional_strike
    custom_strike no_bid_size_fp no_ask_size_fp price_level_structure
  `),
);
export type MarketWire = Static<typeof MarketWire>;

export const EventWire = Type.Object(
  {
    event_ticker: Ticker,
    series_ticker: Ticker,
    title: Type.String({ minLength: 1, maxLength: 10_000 }),
    sub_title: optional(Text),
    mutually_exclusive: always(Type.Boolean()),
    category: optional(Type.String()),
    strike_date: optional(Time),
    fee_type_override: optional(Type.String()),
    fee_multiplier_override: optional(Type.Number()),
  },
  unused(`
    collateral_return_type strike_period settlement_sources last_updated_ts product_metadata exchange_index markets
    available_on_brokers
  `),
);
export type EventWire = Static<typeof EventWire>;

export const SeriesWire = Type.Object(
  {
    ticker: Ticker,
    title: always(Text),
    category: always(Type.String()),
    fee_type: always(enumeration("quadratic quadratic_with_maker_fees quadratic_with_combo_maker_fees flat")),
    fee_multiplier: always(Type.Number()),
  },
  unused(`
    frequency categories tags settlement_sources contract_url contract_terms_url additional_prohibitions volume_fp
    product_metadata last_updated_ts exchange_index
  `),
);
export type SeriesWire = Static<typeof SeriesWire>;

export const TradeWire = Type.Object(
  {
    trade_id: Type.String({ minLength: 1, maxLength: 200 }),
    count_fp: always(Decimal),
    yes_price_dollars: always(Price),
    taker_outcome_side: TakerSide,
    /** Deprecated; read only if `taker_outcome_side` is absent. */
    taker_side: TakerSide,
    created_time: always(Time),
    is_block_trade: optional(Type.Boolean()),
  },
  unused("ticker no_price_dollars taker_book_side"),
);
export type TradeWire = Static<typeof TradeWire>;

const Levels = optional(Type.Array(Type.Unknown()));
export const OrderbookWire = Type.Object({
  orderbook_fp: Type.Object({ yes_dollars: Levels, no_dollars: Levels }),
});
export type OrderbookWire = Static<typeof OrderbookWire>;

/** Prices of a candlestick. Field names have the suffixes `_dollars` and `_fp` only in the live tier. */
const CandleSide = Type.Object({ close_dollars: MaybeDecimal, close: MaybeDecimal });
export const CandleWire = Type.Object(
  {
    end_period_ts: Type.Integer({ minimum: 1_400_000_000, maximum: 7_200_000_000 }),
    yes_bid: always(CandleSide),
    yes_ask: always(CandleSide),
    price: optional(
      Type.Object({
        close_dollars: MaybeDecimal,
        previous_dollars: MaybeDecimal,
        close: MaybeDecimal,
        previous: MaybeDecimal,
      }),
    ),
    volume_fp: optional(Decimal),
    volume: optional(Decimal),
  },
  unused("open_interest_fp open_interest"),
);
export type CandleWire = Static<typeof CandleWire>;

const Cursor = Type.String({ maxLength: 10_000 });
const Rows = Type.Array(Type.Unknown());
const MaybeCursor = optional(Cursor);

/** The documented fields of all pages. The cursor is always present; it is empty on the last page. */
const PageWire = Type.Object(
  { cursor: always(Cursor), markets: optional(Rows), events: optional(Rows), trades: optional(Rows) },
  unused("milestones"),
);

/** One message of the WebSocket. */
export const SocketWire = Type.Object({
  type: enumeration(
    `subscribed unsubscribed ok error ticker trade orderbook_snapshot orderbook_delta market_lifecycle_v2
      event_lifecycle event_fee_update multivariate_market_lifecycle multivariate`,
  ),
  id: optional(Type.Integer()),
  sid: optional(Type.Integer()),
  seq: optional(Type.Integer()),
  msg: optional(Type.Unknown()),
});
export type SocketWire = Static<typeof SocketWire>;

const TickerMessageWire = Type.Object(
  {
    market_ticker: Ticker,
    price_dollars: optional(Price),
    yes_bid_dollars: usually(Price),
    yes_bid_size_fp: optional(Decimal),
    yes_ask_dollars: usually(Price),
    yes_ask_size_fp: optional(Decimal),
    ts_ms: optional(Type.Number()),
  },
  unused(`
    market_id last_trade_size_fp volume_fp open_interest_fp dollar_volume dollar_open_interest ts time
  `),
);

export const TradeMessageWire = Type.Object(
  {
    market_ticker: Ticker,
    trade_id: Type.String({ minLength: 1, maxLength: 200 }),
    count_fp: always(Decimal),
    yes_price_dollars: always(Price),
    taker_outcome_side: TakerSide,
    taker_side: TakerSide,
    is_block_trade: optional(Type.Boolean()),
    ts_ms: always(Type.Number()),
  },
  unused("market_id no_price_dollars taker_book_side ts"),
);
export type TradeMessageWire = Static<typeof TradeMessageWire>;

const LifecycleMessageWire = Type.Object(
  {
    market_ticker: Ticker,
    event_type: enumeration(
      `created activated deactivated close_date_updated determined settled price_level_structure_updated
      metadata_updated`,
    ),
  },
  unused(`
    market_id open_ts close_ts determination_ts settled_ts result settlement_value is_deactivated
    price_level_structure price_ranges additional_metadata ts_ms
  `),
);

export const isTicker = (text: string): boolean => TICKER.test(text);
/** Checks of single rows, so that an invalid row does not invalidate the others. */
export const isMarket = compileCheck(MarketWire);
export const isEvent = compileCheck(EventWire);
export const isSeries = compileCheck(SeriesWire);
export const isTrade = compileCheck(TradeWire);
export const isOrderbook = compileCheck(OrderbookWire);
export const isCandle = compileCheck(CandleWire);
export const isPriceRange = compileCheck(Type.Object({ start: MaybeDecimal, end: MaybeDecimal, step: MaybeDecimal }));
export const isCutoff = compileCheck(Type.Object({ trades_created_ts: Type.String() }));
export const isSocketMessage = compileCheck(SocketWire);
export const isTickerMessage = compileCheck(TickerMessageWire);
export const isTradeMessage = compileCheck(TradeMessageWire);
export const isLifecycleMessage = compileCheck(LifecycleMessageWire);
export const isSubscribed = compileCheck(Type.Object({ channel: Type.String(), sid: Type.Integer() }));
export const isSubscriptionList = compileCheck(Type.Array(Type.Object({ sid: Type.Integer() })));
export const isErrorMessage = compileCheck(Type.Object({ code: Type.Integer(), msg: optional(Type.String()) }));

/** Checks of envelopes. The rows inside are not checked. */
export const isMarketsPage = compileCheck(Type.Object({ markets: Rows, cursor: MaybeCursor }));
export const isEventsPage = compileCheck(Type.Object({ events: Rows, cursor: MaybeCursor }));
export const isTradesPage = compileCheck(Type.Object({ trades: Rows, cursor: MaybeCursor }));
export const isSeriesList = compileCheck(Type.Object({ series: Rows }));
export const isMarketResponse = compileCheck(Type.Object({ market: Type.Unknown() }));
export const isSeriesResponse = compileCheck(Type.Object({ series: Type.Unknown() }));
export const isCandlesResponse = compileCheck(Type.Object({ candlesticks: Rows }));

export const createKalshiDriftDetectors = driftDetectorsFor({
  market: MarketWire,
  event: EventWire,
  series: SeriesWire,
  trade: TradeWire,
  book: OrderbookWire,
  candle: CandleWire,
  page: PageWire,
  stream: SocketWire,
  stream_ticker: TickerMessageWire,
  stream_trade: TradeMessageWire,
  stream_lifecycle: LifecycleMessageWire,
});
export type KalshiDriftDetectors = ReturnType<typeof createKalshiDriftDetectors>;
