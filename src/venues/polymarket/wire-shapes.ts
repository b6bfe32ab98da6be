import type { DriftCounter } from "../../ports/venue.ts";
import { type WireShape, type WireWatches, watchWire } from "../shared/schema-drift.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";

const TRADE_WORDS = { side: ["BUY", "SELL"] } as const;

/** All that Polymarket documents of what we read, so that what it changes without a word is noticed. */
const SHAPES = {
  market: {
    needed: { id: "any", question: "text", active: "flag", closed: "flag" },
    usual: {
      conditionId: "text",
      slug: "text",
      description: "text",
      outcomes: "wrapped list",
      outcomePrices: "wrapped list",
      clobTokenIds: "wrapped list",
      acceptingOrders: "flag",
      startDate: "text",
      endDate: "text",
      bestBid: "price",
      bestAsk: "price",
      lastTradePrice: "price",
      volume: "decimal",
      volumeNum: "decimal",
      volume24hr: "decimal",
      liquidity: "decimal",
      liquidityNum: "decimal",
      orderPriceMinTickSize: "price",
      feesEnabled: "flag",
      acceptingOrdersTimestamp: "text",
    },
    read: {
      groupItemTitle: "text",
      archived: "flag",
      enableOrderBook: "flag",
      closedTime: "text",
      umaEndDate: "text",
      negRiskOther: "flag",
      feeSchedule: "object",
      category: "text",
      tags: "list",
      events: "list",
    },
    words: { umaResolutionStatus: ["requested", "posed", "proposed", "disputed", "resolved", "settled"] },
    unread: [
      ...["questionID", "negRiskMarketID", "negRiskRequestID", "negRisk", "groupItemThreshold", "groupItemRange"],
      ...["resolutionSource", "positionIds", "umaResolutionStatuses", "restricted", "automaticallyResolved"],
      ...["resolvedBy", "createdAt", "updatedAt", "gameStartTime", "endDateIso", "startDateIso", "umaEndDateIso"],
      ...["spread", "oneHourPriceChange", "oneDayPriceChange", "oneWeekPriceChange", "oneMonthPriceChange"],
      ...["oneYearPriceChange", "volume1wk", "volume1mo", "volume1yr", "volumeClob", "volume24hrClob", "volume1wkClob"],
      ...["volume1moClob", "volume1yrClob", "liquidityClob", "volumeAmm", "volume24hrAmm", "volume1wkAmm"],
      ...["volume1moAmm", "volume1yrAmm", "liquidityAmm", "orderMinSize", "feeType", "makerBaseFee", "takerBaseFee"],
      ...["makerRebatesFeeShareBps", "secondsDelay", "rewardsMinSize", "rewardsMaxSpread", "clobRewards"],
      ...["holdingRewardsEnabled", "sportsMarketType", "line", "gameId", "teamAID", "teamBID", "eventStartTime"],
      ...["twitterCardImage", "twitterCardLocation", "twitterCardLastRefreshed", "twitterCardLastValidated"],
      ...["sponsorName", "sponsorImage", "xAxisValue", "yAxisValue", "denominationToken", "fee", "feeRate"],
      ...["feeExponent", "image", "icon", "imageOptimized", "iconOptimized", "lowerBound", "upperBound"],
      ...["lowerBoundDate", "upperBoundDate", "marketType", "formatType", "createdBy", "updatedBy", "wideFormat"],
      ...["new", "sentDiscord", "mailchimpTag", "categoryMailchimpTag", "featured", "submitted_by", "subcategory"],
      ...["marketGroup", "marketMakerAddress", "curationOrder", "hasReviewedDates", "readyForCron"],
      ...["commentsEnabled", "comboStatus", "disqusThread", "shortOutcomes", "umaBond", "umaReward", "customLiveness"],
      ...["notificationsEnabled", "score", "categories", "markets", "creator", "ready", "funded", "pastSlugs"],
      ...["readyTimestamp", "fundedTimestamp", "cyom", "competitive", "approved", "automaticallyActive"],
      ...["clearBookOnStart", "chartColor", "seriesColor", "showGmpSeries", "showGmpOutcome", "manualActivation"],
      ...["pendingDeployment", "deploying", "deployingTimestamp", "scheduledDeploymentTimestamp", "rfqEnabled"],
      ...["internalUsers", "pagerDutyNotificationEnabled", "requiresTranslation", "decimalized"],
    ],
  },
  event: {
    needed: { id: "any", title: "text" },
    usual: { slug: "text", description: "text", endDate: "text", negRisk: "flag", tags: "list", markets: "list" },
    read: {
      category: "text",
      featured: "flag",
      enableNegRisk: "flag",
      negRiskAugmented: "flag",
      openInterest: "decimal",
    },
    unread: [
      ...["ticker", "subtitle", "resolutionSource", "startDate", "creationDate", "image", "icon", "active", "closed"],
      ...["archived", "new", "restricted", "liquidity", "volume", "sortBy", "subcategory", "isTemplate"],
      ...["templateVariables", "published_at", "createdBy", "updatedBy", "createdAt", "updatedAt", "commentsEnabled"],
      ...["competitive", "volume24hr", "volume1wk", "volume1mo", "volume1yr", "featuredImage", "disqusThread"],
      ...["parentEventId", "enableOrderBook", "liquidityAmm", "liquidityClob", "negRiskMarketID", "negRiskFeeBips"],
      ...["commentCount", "imageOptimized", "iconOptimized", "featuredImageOptimized", "subEvents", "series"],
      ...["categories", "collections", "tag_labels", "tag_slugs", "cyom", "closedTime", "showAllOutcomes"],
      ...["showMarketImages", "automaticallyResolved", "automaticallyActive", "eventDate", "startTime", "eventWeek"],
      ...["seriesSlug", "score", "elapsed", "period", "live", "ended", "finishedTimestamp", "gmpChartMode"],
      ...["eventCreators", "countryName", "electionType", "color", "tweetCount", "chats", "featuredOrder"],
      ...["estimateValue", "cantEstimate", "estimatedValue", "cumulativeMarkets", "templates", "spreadsMainLine"],
      ...["totalsMainLine", "carouselMap", "pendingDeployment", "deploying", "deployingTimestamp"],
      ...["scheduledDeploymentTimestamp", "gameStatus", "gameId", "internalUsers", "rescheduledFromGameId"],
      ...["sportradarMatchId", "homeTeamName", "awayTeamName", "bestLines", "teams", "sport", "lastHighlight"],
      ...["lastHighlightType", "lastHighlightAt", "partners", "externalPartners", "metadata", "eventMetadata"],
      ...["requiresTranslation", "finishedAt"],
    ],
  },
  /** What stands around the rows of a page. The last page has no cursor, so its absence says nothing. */
  page: {
    read: { events: "list", markets: "list", data: "list", next_cursor: "text", pagination: "object" },
  },
  book: {
    needed: { asset_id: "text", bids: "list", asks: "list", timestamp: "decimal" },
    read: { last_trade_price: "price" },
    unread: ["market", "hash", "min_order_size", "tick_size", "neg_risk", "event_type"],
  },
  trade: {
    needed: {
      side: "text",
      token_id: "text",
      size: "decimal",
      price: "price",
      timestamp: "number",
      transaction_hash: "text",
    },
    words: TRADE_WORDS,
    unread: [
      ...["proxy_wallet", "condition_id", "title", "slug", "event_slug", "outcome", "outcome_index", "icon"],
      ...["name", "pseudonym", "bio", "profile_image", "profile_image_optimized", "event_id", "market_id"],
      ...["position_id", "usdc_size", "log_index", "block_number", "is_taker", "role"],
    ],
  },
  trade_v1: {
    needed: {
      side: "text",
      asset: "text",
      size: "decimal",
      price: "price",
      timestamp: "number",
      transactionHash: "text",
    },
    words: TRADE_WORDS,
    unread: [
      ...["proxyWallet", "conditionId", "title", "slug", "icon", "eventSlug", "outcome", "outcomeIndex", "name"],
      ...["pseudonym", "bio", "profileImage", "profileImageOptimized"],
    ],
  },
  resolution: {
    needed: { condition_id: "text", status: "text" },
    read: { proposed_price: "decimal", reproposed_price: "decimal", payouts: "wrapped list", resolved_at: "decimal" },
    words: {
      status: [
        ...["initialized", "posed", "proposed", "challenged", "reproposed", "disputed", "active", "arbitration"],
        ...["resolved"],
      ],
    },
    unread: [
      ...["question_id", "was_disputed", "was_arbitrated", "extended_review", "new_version_q", "price", "reporter"],
      ...["resolution_source", "market_type", "last_update_timestamp", "resolved_block", "transaction_hash"],
      ...["log_index"],
    ],
  },
  history_point: { needed: { t: "number", p: "price" }, unread: ["resolution"] },
  stream: {
    needed: { event_type: "text" },
    words: {
      event_type: [
        ...["book", "price_change", "last_trade_price", "tick_size_change", "best_bid_ask", "new_market"],
        ...["market_resolved"],
      ],
    },
    read: {
      timestamp: "decimal",
      asset_id: "text",
      assets_ids: "list",
      price_changes: "list",
      bids: "list",
      asks: "list",
      price: "price",
      size: "decimal",
      id: "any",
      transaction_hash: "text",
      last_trade_price: "price",
    },
    unread: [
      ...["market", "hash", "min_order_size", "tick_size", "neg_risk", "side", "fee_rate_bps", "old_tick_size"],
      ...["new_tick_size", "best_bid", "best_ask", "spread", "question", "slug", "outcomes", "description"],
      ...["winning_asset_id", "winning_outcome", "event_message", "clob_token_ids", "condition_id", "active", "tags"],
      ...["order_price_min_tick_size", "group_item_title", "sports_market_type", "line", "game_start_time"],
      ...["fees_enabled", "fee_schedule", "taker_base_fee"],
    ],
  },
  stream_price_change: {
    needed: { asset_id: "text", price: "price", size: "decimal", side: "text" },
    read: { best_bid: "price", best_ask: "price" },
    words: TRADE_WORDS,
    unread: ["hash"],
  },
} as const satisfies Readonly<Record<string, WireShape>>;

export type PolymarketWatches = WireWatches<typeof SHAPES>;

/** What the readers of this folder are built from. */
export type PolymarketPorts = VenuePorts & { readonly watch: PolymarketWatches };

export const watchPolymarket = (drift: DriftCounter): PolymarketWatches => watchWire(SHAPES, drift);
