import type { DriftCounter } from "../../ports/venue.ts";
import { type WireShape, type WireWatches, watchWire } from "../shared/schema-drift.ts";

/** All that Limitless documents of what we read, so that what it changes without a word is noticed. */
const SHAPES = {
  /** A single market, a child of a group, or a group. */
  market: {
    needed: { slug: "text", title: "text", status: "text", expirationTimestamp: "decimal", createdAt: "time" },
    usual: {
      tradeType: "text",
      categories: "list",
      collateralToken: "object",
      description: "text",
      volume: "decimal",
      volumeFormatted: "decimal",
      prices: "list",
      tokens: "object",
      tradePrices: "object",
      metadata: "object",
    },
    read: {
      marketType: "text",
      address: "text",
      expired: "flag",
      startAt: "time",
      resolutionDate: "time",
      openInterest: "decimal",
      openInterestFormatted: "decimal",
      liquidity: "decimal",
      liquidityFormatted: "decimal",
      conditionId: "text",
      winningOutcomeIndex: "decimal",
      payoutNumerators: "list",
      groupId: "decimal",
      orderInGroup: "decimal",
      negRiskRequestId: "text",
      negRiskMarketId: "text",
      markets: "list",
    },
    words: {
      status: ["FUNDED", "FUNDED_FLAGGED", "LOCKED", "DRAFTED", "RESOLVED"],
      tradeType: ["amm", "clob", "group"],
      marketType: ["single", "group"],
    },
    unread: [
      ...["id", "proxyTitle", "expirationDate", "updatedAt", "tags", "creator", "priorityIndex", "positionIds"],
      ...["isRewardable", "settings", "venue", "priceOracleMetadata", "imageUrl", "logo", "outcomeTokens"],
      ...["automationType", "hidden", "hasImage", "ogImageURI", "imageURI", "stats", "trends", "strikePrice"],
      ...["deadline", "ticker", "questionId", "feedEvents", "nextMarketUpdate", "dailyReward", "marketPageId"],
    ],
  },
  page: { needed: { data: "list", totalMarketsCount: "decimal" } },
  book: {
    needed: { bids: "list", asks: "list" },
    read: { lastTradePrice: "price" },
    unread: ["tokenId", "adjustedMidpoint", "midpoint", "maxSpread", "minSize"],
  },
  trade: {
    needed: { createdAt: "time", price: "price", side: "decimal", matchedSize: "decimal", tokenId: "text" },
    read: { txHash: "text" },
    unread: ["makerAmount", "takerAmount", "title", "profile"],
  },
  feed_event: {
    needed: { createdAt: "time", eventType: "text", data: "object" },
    read: { id: "decimal" },
    words: { eventType: ["NEW_TRADE"] },
    unread: ["bodyHash", "user"],
  },
  history_point: { needed: { timestamp: "time", price: "decimal" } },
  stream_book: {
    needed: { marketSlug: "text", orderbook: "object", timestamp: "time" },
    unread: ["version"],
  },
  stream_price: {
    needed: { marketAddress: "text", updatedPrices: "any" },
    read: { timestamp: "time" },
    unread: ["blockNumber"],
  },
  stream_lifecycle: {
    needed: { slug: "text" },
    words: { type: ["AMM", "CLOB"], winningOutcome: ["YES", "NO"] },
    unread: ["title", "groupSlug", "categoryIds", "createdAt", "winningIndex", "resolutionDate"],
  },
} as const satisfies Readonly<Record<string, WireShape>>;

export type LimitlessWatches = WireWatches<typeof SHAPES>;

export const watchLimitless = (drift: DriftCounter): LimitlessWatches => watchWire(SHAPES, drift);
