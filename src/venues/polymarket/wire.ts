/**
 * Schemas of the parts of Polymarket's responses that the adapter reads, annotated with Polymarket's documentation.
 * Fields are often missing, null, "" or numeric text. So most schemas accept any value, and `parse-values.ts` parses it
 * leniently. Rows without their identifying fields are rejected.
 */
import Type from "typebox";
import { driftDetectorsFor } from "../shared/schema-drift.ts";
import {
  always,
  compileCheck,
  enumeration,
  type FieldAnnotation,
  optional,
  unchecked,
  unused,
} from "../shared/wire-schema.ts";

const lenient = (type: FieldAnnotation["type"], presence: FieldAnnotation["presence"] = "sometimes") =>
  unchecked({ type, presence });

const Id = Type.Union([Type.String({ pattern: "^[0-9]{1,20}$" }), Type.Integer({ minimum: 0 })]);
const numeric = (type: FieldAnnotation["type"]) => Type.Union([Type.String(), Type.Number()], { documented: { type } });
const Decimal = numeric("decimal");
const Price = numeric("price");
const Rows = Type.Array(Type.Unknown());
const Cursor = optional(Type.String());
const Side = Type.Union([Type.Literal("BUY"), Type.Literal("SELL")]);

export const GammaMarket = Type.Object(
  {
    id: Id,
    question: Type.String({ minLength: 1 }),
    conditionId: lenient("string", "usually"),
    slug: lenient("string", "usually"),
    description: lenient("string", "usually"),
    outcomes: lenient("encoded array", "usually"),
    outcomePrices: lenient("encoded array", "usually"),
    version: lenient("string"),
    clobTokenIds: lenient("encoded array"),
    positionIds: lenient("encoded array"),
    groupItemTitle: lenient("string"),
    active: lenient("boolean", "always"),
    closed: lenient("boolean", "always"),
    archived: lenient("boolean"),
    acceptingOrders: lenient("boolean", "usually"),
    enableOrderBook: lenient("boolean"),
    umaResolutionStatus: unchecked({ values: ["requested", "posed", "proposed", "disputed", "resolved", "settled"] }),
    umaResolutionStatuses: lenient("encoded array"),
    startDate: lenient("string", "usually"),
    endDate: lenient("string", "usually"),
    acceptingOrdersTimestamp: lenient("string", "usually"),
    closedTime: lenient("string"),
    umaEndDate: lenient("string"),
    bestBid: lenient("price", "usually"),
    bestAsk: lenient("price", "usually"),
    lastTradePrice: lenient("price", "usually"),
    volume: lenient("decimal", "usually"),
    volumeNum: lenient("decimal", "usually"),
    volume24hr: lenient("decimal", "usually"),
    liquidity: lenient("decimal", "usually"),
    liquidityNum: lenient("decimal", "usually"),
    orderPriceMinTickSize: lenient("price", "usually"),
    negRisk: lenient("boolean"),
    negRiskMarketID: lenient("string"),
    orderMinSize: lenient("decimal", "usually"),
    negRiskOther: lenient("boolean"),
    sportsMarketType: lenient("string"),
    feesEnabled: lenient("boolean", "usually"),
    feeSchedule: lenient("object"),
    category: lenient("string"),
    tags: lenient("array"),
    events: lenient("array"),
  },
  unused(`
    questionID negRiskRequestID groupItemThreshold groupItemRange resolutionSource
    restricted automaticallyResolved resolvedBy createdAt updatedAt gameStartTime endDateIso
    startDateIso umaEndDateIso spread oneHourPriceChange oneDayPriceChange oneWeekPriceChange oneMonthPriceChange
    oneYearPriceChange volume1wk volume1mo volume1yr volumeClob volume24hrClob volume1wkClob volume1moClob
    volume1yrClob liquidityClob volumeAmm volume24hrAmm volume1wkAmm volume1moAmm volume1yrAmm liquidityAmm
    feeType makerBaseFee takerBaseFee makerRebatesFeeShareBps secondsDelay rewardsMinSize
    rewardsMaxSpread clobRewards holdingRewardsEnabled line gameId teamAID teamBID eventStartTime
    twitterCardImage twitterCardLocation twitterCardLastRefreshed twitterCardLastValidated sponsorName sponsorImage
    xAxisValue yAxisValue denominationToken fee feeRate feeExponent image icon imageOptimized iconOptimized lowerBound
    upperBound lowerBoundDate upperBoundDate marketType formatType createdBy updatedBy wideFormat new sentDiscord
    mailchimpTag categoryMailchimpTag featured submitted_by subcategory marketGroup marketMakerAddress curationOrder
    hasReviewedDates readyForCron commentsEnabled comboStatus disqusThread shortOutcomes umaBond umaReward
    customLiveness notificationsEnabled score categories markets creator ready funded pastSlugs readyTimestamp
    fundedTimestamp cyom competitive approved automaticallyActive clearBookOnStart chartColor seriesColor
    showGmpSeries showGmpOutcome manualActivation pendingDeployment deploying deployingTimestamp
    scheduledDeploymentTimestamp rfqEnabled internalUsers pagerDutyNotificationEnabled requiresTranslation decimalized fpmmLive
  `),
);
export type GammaMarket = Type.Static<typeof GammaMarket>;

export const GammaEvent = Type.Object(
  {
    id: Id,
    title: Type.String({ minLength: 1 }),
    slug: lenient("string", "usually"),
    description: lenient("string", "usually"),
    category: lenient("string"),
    endDate: lenient("string", "usually"),
    featured: lenient("boolean"),
    negRisk: lenient("boolean", "usually"),
    enableNegRisk: lenient("boolean"),
    negRiskAugmented: lenient("boolean"),
    openInterest: lenient("decimal"),
    tags: lenient("array", "usually"),
    markets: lenient("array", "usually"),
  },
  unused(`
    ticker subtitle resolutionSource startDate creationDate image icon active closed archived new restricted liquidity
    volume sortBy subcategory isTemplate templateVariables published_at createdBy updatedBy createdAt updatedAt
    commentsEnabled competitive volume24hr volume1wk volume1mo volume1yr featuredImage disqusThread parentEventId
    enableOrderBook liquidityAmm liquidityClob negRiskMarketID negRiskFeeBips commentCount imageOptimized
    iconOptimized featuredImageOptimized subEvents series categories collections tag_labels tag_slugs cyom closedTime
    showAllOutcomes showMarketImages automaticallyResolved automaticallyActive eventDate startTime eventWeek
    seriesSlug score elapsed period live ended finishedTimestamp gmpChartMode eventCreators countryName electionType
    color tweetCount chats featuredOrder estimateValue cantEstimate estimatedValue cumulativeMarkets templates
    spreadsMainLine totalsMainLine carouselMap pendingDeployment deploying deployingTimestamp
    scheduledDeploymentTimestamp gameStatus gameId internalUsers rescheduledFromGameId sportradarMatchId homeTeamName
    awayTeamName bestLines teams sport lastHighlight lastHighlightType lastHighlightAt partners externalPartners
    metadata eventMetadata requiresTranslation finishedAt
  `),
);
export type GammaEvent = Type.Static<typeof GammaEvent>;

export const Book = Type.Object(
  {
    asset_id: Type.String(),
    timestamp: lenient("decimal", "always"),
    bids: Type.Union([Rows, Type.Null()]),
    asks: Type.Union([Rows, Type.Null()]),
    last_trade_price: lenient("price"),
  },
  unused("market hash min_order_size tick_size neg_risk event_type version"),
);
export type Book = Type.Static<typeof Book>;

/** Unix seconds, at most 1e11. */
const Seconds = Type.Union([Type.Number({ minimum: 0, maximum: 1e11 }), Type.String({ pattern: "^[0-9]{1,11}$" })], {
  documented: { type: "decimal" },
});
const HistoryRow = Type.Object({ t: Seconds, p: Price }, unused("resolution"));

const TradeV2 = Type.Object(
  {
    side: Side,
    /** A trade of protocol V2 has a position id, and may have no token id. */
    token_id: optional(Type.String()),
    position_id: optional(Type.String()),
    size: Decimal,
    price: Price,
    timestamp: Seconds,
    transaction_hash: always(Type.String()),
    proxy_wallet: lenient("string"),
  },
  unused(`
    condition_id title slug event_slug outcome outcome_index icon name pseudonym bio profile_image
    profile_image_optimized event_id market_id usdc_size log_index block_number is_taker role
  `),
);
const TradeV1 = Type.Object(
  {
    side: Side,
    asset: Type.String(),
    size: Decimal,
    price: Price,
    timestamp: Seconds,
    transactionHash: always(Type.String()),
    proxyWallet: lenient("string"),
  },
  unused(`
    conditionId title slug icon eventSlug outcome outcomeIndex name pseudonym bio profileImage
    profileImageOptimized
  `),
);
export type TradeV1 = Type.Static<typeof TradeV1>;

export const Resolution = Type.Object(
  {
    condition_id: Type.String(),
    status: enumeration("initialized posed proposed challenged reproposed disputed active arbitration resolved"),
    payouts: lenient("encoded array"),
    resolved_at: lenient("time"),
  },
  unused(`
    question_id was_disputed was_arbitrated extended_review new_version_q proposed_price reproposed_price price reporter resolution_source market_type
    last_update_timestamp resolved_block transaction_hash log_index
  `),
);
export type Resolution = Type.Static<typeof Resolution>;

const Timestamp = Type.Unknown();
const PriceChange = Type.Object(
  {
    asset_id: Type.String(),
    price: Price,
    size: Decimal,
    side: Side,
    best_bid: lenient("price"),
    best_ask: lenient("price"),
  },
  unused("hash"),
);
export type PriceChange = Type.Static<typeof PriceChange>;

/** The documented fields of all messages. */
const AnyMessage = Type.Object(
  {
    event_type: enumeration(
      "book price_change last_trade_price tick_size_change best_bid_ask new_market market_resolved",
    ),
    timestamp: lenient("decimal"),
    asset_id: lenient("string"),
    assets_ids: lenient("array"),
    price_changes: lenient("array"),
    bids: lenient("array"),
    asks: lenient("array"),
    price: lenient("price"),
    size: lenient("decimal"),
    id: lenient("any"),
    transaction_hash: lenient("string"),
    last_trade_price: lenient("price"),
  },
  unused(`
    market hash min_order_size tick_size neg_risk side fee_rate_bps old_tick_size new_tick_size best_bid best_ask
    spread question slug outcomes description winning_asset_id winning_outcome event_message clob_token_ids
    condition_id active tags order_price_min_tick_size group_item_title sports_market_type line game_start_time
    fees_enabled fee_schedule taker_base_fee version
  `),
);

/** The documented fields of all pages. The last page has no cursor. */
const AnyPage = Type.Object({
  events: optional(Rows),
  markets: optional(Rows),
  data: optional(Rows),
  next_cursor: Cursor,
  pagination: lenient("object"),
});

export const isGammaMarket = compileCheck(GammaMarket);
export const isGammaEvent = compileCheck(GammaEvent);
export const isGammaTag = compileCheck(Type.Object({ label: Type.String(), slug: Type.Optional(Type.String()) }));
export const isEventsPage = compileCheck(Type.Object({ events: Rows, next_cursor: Cursor }));
export const isMarketsPage = compileCheck(Type.Object({ markets: Rows, next_cursor: Cursor }));
export const isFeeSchedule = compileCheck(
  Type.Object({ rate: Type.Unknown(), exponent: Type.Optional(Type.Unknown()) }),
);
export const isLevel = compileCheck(Type.Object({ price: Decimal, size: Decimal }));
export const isBook = compileCheck(Book);
export const isHistoryReply = compileCheck(Type.Object({ history: Rows }));
export const isHistoryRow = compileCheck(HistoryRow);
export const isTradeV1 = compileCheck(TradeV1);
export const isTradeV2 = compileCheck(TradeV2);
export const isTradesPageV2 = compileCheck(
  Type.Object({
    data: Rows,
    pagination: Type.Optional(Type.Object({ has_more: Type.Optional(Type.Unknown()), next_cursor: Cursor })),
  }),
);
export const isResolutionsReply = compileCheck(Type.Object({ data: Rows }));
export const isResolution = compileCheck(Resolution);
export const isPriceChange = compileCheck(PriceChange);
export const isPriceChangeMessage = compileCheck(
  Type.Object({
    event_type: Type.Literal("price_change"),
    timestamp: Timestamp,
    price_changes: Type.Array(PriceChange),
  }),
);
export const isLastTradeMessage = compileCheck(
  Type.Object({
    event_type: Type.Literal("last_trade_price"),
    asset_id: Type.String(),
    price: Decimal,
    size: Decimal,
    side: Side,
    timestamp: Timestamp,
    transaction_hash: optional(Type.String()),
  }),
);
export const isAssetMessage = compileCheck(Type.Object({ event_type: Type.String(), asset_id: Type.String() }));
export const isResolvedMessage = compileCheck(
  Type.Object({
    event_type: Type.Literal("market_resolved"),
    assets_ids: Type.Array(Type.String()),
    winning_asset_id: optional(Type.String()),
    timestamp: Type.Optional(Timestamp),
  }),
);
export const isNewMarketMessage = compileCheck(Type.Object({ event_type: Type.Literal("new_market"), id: Id }));
export const isAnyMessage = compileCheck(AnyMessage);

export const createPolymarketDriftDetectors = driftDetectorsFor({
  market: GammaMarket,
  event: GammaEvent,
  page: AnyPage,
  book: Book,
  trade: TradeV2,
  trade_v1: TradeV1,
  resolution: Resolution,
  history_point: HistoryRow,
  stream: AnyMessage,
  stream_price_change: PriceChange,
});
export type PolymarketDriftDetectors = ReturnType<typeof createPolymarketDriftDetectors>;
