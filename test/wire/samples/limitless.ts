/** Invented recordings of Limitless. */
import type { JsonObject } from "../json.ts";
import { CAPTURED, iso, MINUTE_MS, NO, NOW, type SampleRecording, sample, YES } from "./sample.ts";

const limitlessRow = (slug: string, changes: JsonObject = {}): JsonObject => ({
  id: 5,
  slug,
  title: `Title of ${slug}`,
  status: "FUNDED",
  tradeType: "clob",
  marketType: "single",
  collateralToken: { symbol: "USDC", decimals: 6 },
  expirationTimestamp: NOW + 3_600_000,
  createdAt: iso(-3_600_000),
  categories: ["Sports"],
  volume: "2500000",
  volumeFormatted: "2.500000",
  tokens: { yes: YES, no: NO },
  prices: [0.43, 0.57],
  tradePrices: { buy: { market: [0.44, 0.58] }, sell: { market: [0.42, 0.56] } },
  metadata: { fee: true },
  winningOutcomeIndex: null,
  ...changes,
});

export const LIMITLESS_SAMPLES: readonly SampleRecording[] = [
  sample("limitless-list.json", "limitless", "GET /markets/active?page=1&limit=25", {
    data: [
      limitlessRow("rain"),
      limitlessRow("pool", { tradeType: "amm", address: "0xAbC", tokens: null, tradePrices: null, prices: [62, 38] }),
      limitlessRow("teams", {
        marketType: "group",
        tradeType: "group",
        tokens: null,
        negRiskMarketId: "0xNEG",
        markets: [limitlessRow("team-a", { orderInGroup: 0 }), limitlessRow("team-b", { orderInGroup: 1 })],
      }),
    ],
    totalMarketsCount: 3,
  }),
  sample(
    "limitless-resolved.json",
    "limitless",
    "GET /markets/{slug}",
    limitlessRow("over", { status: "RESOLVED", winningOutcomeIndex: 1, payoutNumerators: [0, 1] }),
  ),
  sample("limitless-book.json", "limitless", "GET /markets/{slug}/orderbook", {
    slug: "rain",
    book: {
      bids: [
        { price: 0.42, size: 2_000_000 },
        { price: 0.001, size: 9_000_000 },
      ],
      asks: [{ price: 0.44, size: 1_500_000 }],
      tokenId: YES,
      lastTradePrice: 0.43,
    },
  }),
  sample("limitless-tape.json", "limitless", "GET /markets/{slug}/events?page=1&limit=30", {
    slug: "rain",
    body: {
      events: [
        { createdAt: iso(-1_000), price: 0.43, side: 0, matchedSize: "12000000", tokenId: YES, txHash: "0x1" },
        { createdAt: iso(-2_000), price: 0.56, side: 0, matchedSize: "3000000", tokenId: NO, txHash: "0x2" },
      ],
      page: 1,
      limit: 30,
      totalPages: 1,
      totalRows: 2,
    },
  }),
  sample("limitless-feed.json", "limitless", "GET /markets/{address}/get-feed-events", {
    data: [
      {
        eventType: "NEW_TRADE",
        createdAt: iso(-1_000),
        data: { outcome: "NO", strategy: "Buy", contracts: "10", tradeAmountUSD: "4", txHash: "0x3" },
      },
    ],
  }),
  sample("limitless-history.json", "limitless", "GET /markets/{slug}/historical-price?interval=1h", {
    slug: "rain",
    body: {
      title: "Rain",
      prices: [
        { timestamp: NOW - 15 * MINUTE_MS, price: 0.43 },
        { timestamp: NOW - 30 * MINUTE_MS, price: 0.42 },
      ],
    },
  }),
  sample("limitless-frames.json", "limitless", "Socket.IO /markets", [
    { event: "system", payload: { message: "subscribed", markets: ["rain"] } },
    {
      event: "orderbookUpdate",
      payload: {
        marketSlug: "rain",
        orderbook: { bids: [{ price: 0.4, size: 1_000_000 }], asks: [], tokenId: YES },
        timestamp: CAPTURED,
        version: 3,
      },
    },
    {
      event: "newPriceData",
      payload: {
        marketAddress: "0xAbC",
        updatedPrices: [{ marketAddress: "0xAbC", yesPrice: 0.61, noPrice: 0.39 }],
        timestamp: CAPTURED,
      },
    },
    ["marketResolved", { slug: "rain", type: "CLOB", winningOutcome: "NO", winningIndex: 1 }],
    '42/markets,["marketResolved",{"slug":"rain","type":"CLOB","winningOutcome":"NO","winningIndex":1}]',
    { event: "marketCreated", payload: { slug: "sun", title: "Sun?", type: "CLOB" } },
  ]),
];
