/** Invented recordings of Kalshi. */
import type { JsonObject } from "../json.ts";
import { iso, NOW, type SampleRecording, sample, seconds } from "./sample.ts";

const kalshiRow = (ticker: string, changes: JsonObject = {}): JsonObject => ({
  ticker,
  event_ticker: "KXRAIN-26DEC01",
  market_type: "binary",
  status: "active",
  result: "",
  title: "Will it rain?",
  yes_sub_title: "Over 1 inch",
  open_time: iso(-86_400_000),
  close_time: iso(86_400_000),
  latest_expiration_time: iso(2 * 86_400_000),
  yes_bid_dollars: "0.4900",
  yes_bid_size_fp: "12.00",
  yes_ask_dollars: "0.5100",
  yes_ask_size_fp: "7.50",
  last_price_dollars: "0.4800",
  volume_fp: "300.00",
  volume_24h_fp: "20.00",
  open_interest_fp: "80.00",
  price_level_structure: "linear_cent",
  price_ranges: [{ start: "0.0000", end: "1.0000", step: "0.0100" }],
  ...changes,
});

const unquoted = {
  yes_bid_dollars: "0.0000",
  yes_ask_dollars: "1.0000",
  last_price_dollars: "0.0000",
  volume_fp: "0.00",
  volume_24h_fp: "0.00",
  open_interest_fp: "0.00",
};

const kalshiEvent = {
  event_ticker: "KXRAIN-26DEC01",
  series_ticker: "KXRAIN",
  title: "Rain in a city on Dec 1",
  sub_title: "Dec 1",
  mutually_exclusive: true,
  category: "Climate",
};

export const KALSHI_SAMPLES: readonly SampleRecording[] = [
  sample("kalshi-events.json", "kalshi", "GET /events?status=open&with_nested_markets=true", {
    events: [
      {
        ...kalshiEvent,
        markets: [
          kalshiRow("KXRAIN-26DEC01-T1"),
          kalshiRow("KXRAIN-26DEC01-T2", { yes_sub_title: "Over 2 inches", ...unquoted }),
          kalshiRow("KXRAIN-26DEC01-C", { mve_collection_ticker: "KXMVE-1", mve_selected_legs: [{ side: "yes" }] }),
        ],
      },
    ],
    cursor: "",
  }),
  sample("kalshi-series.json", "kalshi", "GET /series/{ticker}", {
    series: { ticker: "KXRAIN", title: "Rain", category: "Climate", fee_type: "quadratic", fee_multiplier: 0.5 },
  }),
  sample("kalshi-settled.json", "kalshi", "GET /markets?status=settled|closed", {
    markets: [
      kalshiRow("KXRAIN-26NOV01-T1", { status: "finalized", result: "no", settlement_ts: iso(-3_600_000) }),
      kalshiRow("KXRAIN-26NOV01-T2", { status: "closed" }),
    ],
    cursor: "",
  }),
  sample("kalshi-book.json", "kalshi", "GET /markets/{ticker}/orderbook", {
    ticker: "KXRAIN-26DEC01-T1",
    orderbook_fp: {
      yes_dollars: [
        ["0.4000", "50.00"],
        ["0.4200", "120.00"],
      ],
      no_dollars: [["0.5500", "75.50"]],
    },
  }),
  sample("kalshi-trades.json", "kalshi", "GET /markets/trades?ticker=", {
    trades: [
      {
        trade_id: "a",
        ticker: "KXRAIN-26DEC01-T1",
        count_fp: "3.00",
        yes_price_dollars: "0.4300",
        taker_outcome_side: "no",
        created_time: iso(-5_000),
        is_block_trade: false,
      },
      {
        trade_id: "b",
        ticker: "KXRAIN-26DEC01-T1",
        count_fp: "9.00",
        yes_price_dollars: "0.9000",
        taker_outcome_side: "yes",
        created_time: iso(-9_000),
        is_block_trade: true,
      },
    ],
    cursor: "",
  }),
  sample("kalshi-candles.json", "kalshi", "GET /historical/markets/{ticker}/candlesticks?period_interval=60", {
    ticker: "KXRAIN-26NOV01-T1",
    candlesticks: [
      {
        end_period_ts: seconds(-7_200_000),
        yes_bid: { close: "0.4800" },
        yes_ask: { close: "0.5200" },
        price: { close: "0.5000", mean: "0.5000" },
        volume: "10.00",
        open_interest: "5.00",
      },
      {
        end_period_ts: seconds(-3_600_000),
        yes_bid: { close: "0.1000" },
        yes_ask: { close: "1.0000" },
        price: { previous: "0.5000" },
        volume: "0.00",
        open_interest: "5.00",
      },
    ],
  }),
  sample("kalshi-frames.json", "kalshi", "WS ticker, trade, orderbook_delta, market_lifecycle_v2", [
    { type: "subscribed", id: 1, msg: { channel: "ticker", sid: 7 } },
    {
      type: "ticker",
      sid: 7,
      msg: {
        market_ticker: "KXRAIN-26DEC01-T1",
        price_dollars: "0.4700",
        yes_bid_dollars: "0.4600",
        yes_ask_dollars: "0.4800",
        yes_bid_size_fp: "3.00",
        yes_ask_size_fp: "4.00",
        ts_ms: NOW,
      },
    },
    {
      type: "trade",
      sid: 8,
      seq: 1,
      msg: {
        market_ticker: "KXRAIN-26DEC01-T1",
        trade_id: "c",
        count_fp: "2.00",
        yes_price_dollars: "0.4800",
        taker_outcome_side: "yes",
        is_block_trade: false,
        ts_ms: NOW,
      },
    },
    {
      type: "orderbook_snapshot",
      sid: 9,
      seq: 1,
      msg: { market_ticker: "KXRAIN-26DEC01-T1", yes_dollars_fp: [["0.4600", "3.00"]] },
    },
    {
      type: "orderbook_delta",
      sid: 9,
      seq: 2,
      msg: { market_ticker: "KXRAIN-26DEC01-T1", price_dollars: "0.5200", delta_fp: "4.00", side: "no", ts_ms: NOW },
    },
    {
      type: "market_lifecycle_v2",
      sid: 10,
      seq: 1,
      msg: { market_ticker: "KXRAIN-26DEC01-T1", event_type: "determined", result: "yes" },
    },
  ]),
];
