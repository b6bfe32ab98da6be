import type { DriftCounter } from "../../ports/venue.ts";
import { type WireShape, type WireWatches, watchWire } from "../shared/schema-drift.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";

/** All that Kalshi documents of what we read, so that what it changes without a word is noticed. */
const SHAPES = {
  market: {
    needed: {
      ticker: "text",
      event_ticker: "text",
      status: "text",
      open_time: "text",
      close_time: "text",
      latest_expiration_time: "text",
      yes_bid_dollars: "price",
      yes_bid_size_fp: "decimal",
      yes_ask_dollars: "price",
      yes_ask_size_fp: "decimal",
      last_price_dollars: "price",
      volume_fp: "decimal",
      volume_24h_fp: "decimal",
      open_interest_fp: "decimal",
    },
    usual: { yes_sub_title: "text", rules_primary: "text", rules_secondary: "text", price_ranges: "list" },
    read: {
      title: "text",
      mve_collection_ticker: "text",
      expected_expiration_time: "text",
      settlement_ts: "text",
      fee_waiver_expiration_time: "text",
      settlement_value_dollars: "price",
      price_level_structure: "text",
    },
    words: {
      status: ["initialized", "inactive", "active", "closed", "determined", "disputed", "amended", "finalized"],
      result: ["yes", "no", "scalar"],
      market_type: ["binary", "scalar"],
    },
    unread: [
      ...["subtitle", "no_sub_title", "mve_selected_legs", "is_provisional", "primary_participant_key"],
      ...["exchange_index", "created_time", "updated_time", "occurrence_datetime", "expiration_time"],
      ...["settlement_timer_seconds", "no_bid_dollars", "no_ask_dollars", "previous_yes_bid_dollars"],
      ...["previous_yes_ask_dollars", "previous_price_dollars", "notional_value_dollars", "liquidity_dollars"],
      ...["expiration_value", "can_close_early", "early_close_condition", "strike_type", "floor_strike", "cap_strike"],
      ...["functional_strike", "custom_strike", "no_bid_size_fp", "no_ask_size_fp"],
    ],
  },
  event: {
    needed: { event_ticker: "text", series_ticker: "text", title: "text", mutually_exclusive: "flag" },
    read: {
      sub_title: "text",
      category: "text",
      strike_date: "text",
      fee_type_override: "text",
      fee_multiplier_override: "number",
    },
    unread: [
      ...["collateral_return_type", "strike_period", "settlement_sources", "last_updated_ts", "product_metadata"],
      ...["exchange_index", "markets", "available_on_brokers"],
    ],
  },
  series: {
    needed: { ticker: "text", title: "text", category: "text", fee_type: "text", fee_multiplier: "number" },
    words: {
      fee_type: ["quadratic", "quadratic_with_maker_fees", "quadratic_with_combo_maker_fees", "flat"],
    },
    unread: [
      ...["frequency", "categories", "tags", "settlement_sources", "contract_url", "contract_terms_url"],
      ...["additional_prohibitions", "volume_fp", "product_metadata", "last_updated_ts", "exchange_index"],
    ],
  },
  trade: {
    needed: { trade_id: "text", count_fp: "decimal", yes_price_dollars: "price", created_time: "text" },
    read: { is_block_trade: "flag" },
    words: { taker_outcome_side: ["yes", "no"], taker_side: ["yes", "no"] },
    unread: ["ticker", "no_price_dollars", "taker_book_side"],
  },
  book: { needed: { orderbook_fp: "object" } },
  candle: {
    needed: { end_period_ts: "number", yes_bid: "object", yes_ask: "object" },
    read: { price: "object", volume_fp: "decimal", volume: "decimal" },
    unread: ["open_interest_fp", "open_interest"],
  },
  /** What stands around the rows of a page; without a cursor every listing would end after its first page. */
  page: {
    needed: { cursor: "text" },
    read: { markets: "list", events: "list", trades: "list" },
    unread: ["milestones"],
  },
  stream: {
    needed: { type: "text" },
    read: { id: "number", sid: "number", seq: "number", msg: "any" },
    words: {
      type: [
        ...["subscribed", "unsubscribed", "ok", "error", "ticker", "trade", "orderbook_snapshot", "orderbook_delta"],
        ...[
          "market_lifecycle_v2",
          "event_lifecycle",
          "event_fee_update",
          "multivariate_market_lifecycle",
          "multivariate",
        ],
      ],
    },
  },
  stream_ticker: {
    needed: { market_ticker: "text" },
    usual: { yes_bid_dollars: "price", yes_ask_dollars: "price" },
    read: { price_dollars: "price", yes_bid_size_fp: "decimal", yes_ask_size_fp: "decimal", ts_ms: "number" },
    unread: [
      ...["market_id", "last_trade_size_fp", "volume_fp", "open_interest_fp", "dollar_volume"],
      ...["dollar_open_interest", "ts", "time"],
    ],
  },
  stream_trade: {
    needed: {
      market_ticker: "text",
      trade_id: "text",
      count_fp: "decimal",
      yes_price_dollars: "price",
      ts_ms: "number",
    },
    read: { is_block_trade: "flag" },
    words: { taker_outcome_side: ["yes", "no"], taker_side: ["yes", "no"] },
    unread: ["market_id", "no_price_dollars", "taker_book_side", "ts"],
  },
  stream_lifecycle: {
    needed: { market_ticker: "text", event_type: "text" },
    words: {
      event_type: [
        ...["created", "activated", "deactivated", "close_date_updated", "determined", "settled"],
        ...["price_level_structure_updated", "metadata_updated"],
      ],
    },
    unread: [
      ...["market_id", "open_ts", "close_ts", "determination_ts", "settled_ts", "result", "settlement_value"],
      ...["is_deactivated", "price_level_structure", "price_ranges", "additional_metadata", "ts_ms"],
    ],
  },
} as const satisfies Readonly<Record<string, WireShape>>;

export type KalshiWatches = WireWatches<typeof SHAPES>;

/** What the readers of this folder are built from. */
export type KalshiPorts = VenuePorts & { readonly watch: KalshiWatches };

export const watchKalshi = (drift: DriftCounter): KalshiWatches => watchWire(SHAPES, drift);
