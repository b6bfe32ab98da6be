/** Invented recordings of Polymarket. */
import type { JsonObject } from "../json.ts";
import { iso, NO, NOW, type SampleRecording, sample, seconds, YES } from "./sample.ts";

/** A condition id of 32 bytes: the Data API accepts no other length. */
const conditionIdOf = (id: string): string => `0x${id.padStart(64, "0")}`;

const gammaRow = (id: string, changes: JsonObject = {}): JsonObject => ({
  id,
  question: `Will candidate ${id} win?`,
  conditionId: conditionIdOf(id),
  slug: `candidate-${id}`,
  outcomes: '["Yes", "No"]',
  outcomePrices: '["0.305", "0.695"]',
  clobTokenIds: JSON.stringify([`${YES}${id}`, `${NO}${id}`]),
  groupItemTitle: `Candidate ${id}`,
  active: true,
  closed: false,
  archived: false,
  acceptingOrders: true,
  startDate: iso(-86_400_000),
  endDate: iso(86_400_000),
  bestBid: 0.3,
  bestAsk: 0.31,
  lastTradePrice: 0.3,
  volume: "1500.5",
  volumeNum: 1500.5,
  volume24hr: "12.25",
  liquidityNum: 300,
  orderPriceMinTickSize: 0.01,
  negRisk: true,
  feesEnabled: true,
  feeSchedule: { rate: 0.05, exponent: 1, takerOnly: true },
  ...changes,
});

const closedMarket = gammaRow("505", {
  closed: true,
  acceptingOrders: false,
  umaResolutionStatus: "resolved",
  outcomePrices: '["0", "1"]',
  closedTime: "2026-11-19 08:00:00+00",
});
const trade = (changes: JsonObject): JsonObject => ({
  side: "BUY",
  token_id: YES,
  condition_id: conditionIdOf("aa"),
  size: 25.5,
  price: 0.2972581967,
  timestamp: seconds(-60_000),
  outcome_index: 0,
  transaction_hash: "0x1",
  ...changes,
});

export const POLYMARKET_SAMPLES: readonly SampleRecording[] = [
  sample("polymarket-events.json", "polymarket", "GET https://gamma-api.polymarket.com/events/keyset?closed=false", {
    events: [
      {
        id: "77",
        title: "Who wins?",
        slug: "who-wins",
        negRisk: true,
        enableNegRisk: true,
        negRiskAugmented: true,
        openInterest: 10,
        markets: [
          gammaRow("501"),
          gammaRow("502", { feesEnabled: false }),
          gammaRow("503", { groupItemTitle: "Other", negRiskOther: true }),
          gammaRow("504", { outcomes: '["A", "B", "C"]', clobTokenIds: '["1", "2", "3"]' }),
          closedMarket,
        ],
      },
    ],
  }),
  sample("polymarket-book.json", "polymarket", "GET /book?token_id=", {
    market: conditionIdOf("aa"),
    asset_id: YES,
    timestamp: String(NOW),
    bids: [
      { price: "0.01", size: "9" },
      { price: "0.05", size: "4" },
    ],
    asks: [
      { price: "0.99", size: "9" },
      { price: "0.6", size: "2.5" },
    ],
    last_trade_price: "0.150",
  }),
  sample("polymarket-tape.json", "polymarket", "GET /v2/trades?condition=", {
    data: [
      trade({}),
      trade({ side: "SELL", token_id: NO, price: 0.7, outcome_index: 1, transaction_hash: "0x2" }),
      // Equal rows of one transaction are two trades.
      trade({ timestamp: seconds(-120_000), transaction_hash: "0x3" }),
      trade({ timestamp: seconds(-120_000), transaction_hash: "0x3" }),
    ],
    pagination: { has_more: true, next_cursor: "opaque" },
  }),
  sample("polymarket-history.json", "polymarket", "GET /prices-history?market=&fidelity=1", {
    history: [
      { t: seconds(-180_000), p: 0.31 },
      { t: seconds(-118_000), p: 0.3155 },
      { t: seconds(-61_000), p: 0.32 },
    ],
  }),
  sample("polymarket-resolutions.json", "polymarket", "GET /v2/resolutions?condition=", {
    data: [
      {
        condition_id: conditionIdOf("c1"),
        status: "resolved",
        payouts: [500_000, 500_000],
        resolved_at: seconds(-600_000),
      },
      { condition_id: conditionIdOf("c2"), status: "disputed", proposed_price: "69" },
    ],
  }),
  sample("polymarket-frames.json", "polymarket", "WS market", [
    [
      {
        event_type: "book",
        market: conditionIdOf("aa"),
        asset_id: YES,
        timestamp: String(NOW),
        bids: [{ price: "0.41", size: "5" }],
        asks: [{ price: "0.44", size: "6" }],
        last_trade_price: "",
      },
    ],
    {
      event_type: "price_change",
      market: conditionIdOf("aa"),
      timestamp: String(NOW + 5),
      price_changes: [
        { asset_id: YES, price: "0.42", size: "8", side: "BUY", best_bid: "0.42", best_ask: "0.44" },
        { asset_id: NO, price: "0.58", size: "8", side: "SELL", best_bid: "0.56", best_ask: "0.58" },
      ],
    },
    {
      event_type: "last_trade_price",
      market: conditionIdOf("aa"),
      asset_id: NO,
      price: "0.57",
      size: "3",
      side: "BUY",
      timestamp: String(NOW + 9),
      transaction_hash: "0x9",
    },
    {
      event_type: "new_market",
      id: "900123",
      market: conditionIdOf("bb"),
      question: "New?",
      slug: "new",
      assets_ids: ["31", "32"],
      outcomes: ["Yes", "No"],
      timestamp: String(NOW + 9),
    },
    {
      event_type: "market_resolved",
      id: "900123",
      market: conditionIdOf("bb"),
      assets_ids: ["31", "32"],
      timestamp: String(NOW + 10),
    },
    "PONG",
  ]),
];
