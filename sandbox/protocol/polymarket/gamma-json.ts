import { toIso } from "../../../src/lib/dates/iso-time.ts";
import { DAY_MS, HOUR_MS } from "../../../src/lib/durations.ts";
import {
  type ActivityState,
  isListed,
  type LeftOutRow,
  type ListedEvent,
  type ListedMarket,
  type World,
} from "../../world/types.ts";
import {
  isProtocolV2,
  negRiskMarketId,
  otherMarketId,
  polymarketConditionId,
  polymarketEventId,
  polymarketEventSlug,
  polymarketMarketId,
  polymarketMarketSlug,
  polymarketQuestionId,
  polymarketTokenIds,
  sha256Hex,
  walletOf,
} from "./ids.ts";
import {
  computeDisplayedPrice,
  computeMarketState,
  FEE_REBATE_RATE,
  feeRateOf,
  formatDecimal,
  isAugmented,
  isNegRisk,
  type MarketState,
  ORDER_SIZE_MIN,
  outcomeNamesOf,
  recordedFeeOf,
  rewardsOf,
} from "./market-state.ts";
import { presentSeries, tagsOf } from "./series-and-tags.ts";

const MICROS = 1_000_000;
const ORACLE_WALLET = walletOf("oracle");

/** Formats an ISO time. Returns null for an unknown date (null or Infinity) in a recording. */
const formatIsoOrNull = (at: number | null) => (at !== null && Number.isFinite(at) ? toIso(at) : null);
/** Formats a time with a space and the offset +00 instead of T and Z. */
const formatSpacedIso = (at: number) => `${toIso(at).slice(0, 19).replace("T", " ")}+00`;
const roundToMicros = (value: number) => Math.round(value * MICROS) / MICROS;

export interface MarketObjectOptions {
  readonly withEvents: boolean;
  readonly withTags: boolean;
  /**
   * Whether to include price changes over an hour, a week and a month. Lists omit them, because each needs the book at
   * another time.
   */
  readonly withLongChanges: boolean;
}

/** Gamma market object: arrays are JSON strings, some numbers are repeated as strings, and an empty side is 0 or 1. */
export function presentGammaMarket(
  world: World,
  state: MarketState,
  now: number,
  options: MarketObjectOptions,
  activity: ActivityState = world.activity(state.market, now),
) {
  const { market, book, oracle } = state;
  const { event, recorded } = market;
  const negRisk = isNegRisk(event);
  const rate = feeRateOf(event);
  // Recordings do not always include the fee.
  const areFeesKnown = recorded === undefined || recordedFeeOf(event) !== null;
  const rewards = rewardsOf(market);
  const row = world.plantedRow?.(market, now) ?? null;
  const openedAt = toIso(event.openAt);
  const closesAt = formatIsoOrNull(world.plantedResolution?.(market, now)?.closeAt ?? market.closeAt);
  const bestBid = book.bids[0]?.price ?? 0;
  const bestAsk = book.asks[0]?.price ?? 1;
  const changeOver = (ageMs: number) => computePriceChange(world, state, now - ageMs);
  /** Returns the volume of the last `ageMs`, or null for markets listed before this period. */
  const recentVolume = (ageMs: number) => (now - market.openAt <= ageMs ? activity.volumeUsd : null);
  return {
    id: polymarketMarketId(market),
    question: market.question,
    conditionId: polymarketConditionId(market),
    questionID: polymarketQuestionId(market),
    slug: polymarketMarketSlug(market),
    description: market.rules,
    resolutionSource: market.resolutionSource,
    outcomes: JSON.stringify(outcomeNamesOf(market)),
    outcomePrices: JSON.stringify(state.prices.map(formatDecimal)),
    ...presentTokenIds(market, row),
    groupItemTitle: groupItemTitleOf(market),
    ...(event.sides === undefined ? {} : { sportsMarketType: "moneyline" }),
    groupItemThreshold: String(market.strike?.floor ?? market.strike?.cap ?? market.position),
    active: row !== "placeholder" && row !== "other",
    closed: state.isClosed,
    archived: false,
    restricted: true,
    approved: true,
    ready: false,
    funded: false,
    acceptingOrders: state.acceptsOrders,
    enableOrderBook: true,
    umaResolutionStatus: oracle.umaResolutionStatus,
    umaResolutionStatuses: JSON.stringify(oracle.umaResolutionStatuses),
    automaticallyResolved: event.frequency === "fifteen_min",
    resolvedBy: ORACLE_WALLET,
    // The venue sets this only for old markets with an automated market maker.
    marketMakerAddress: "",
    ...(recorded === undefined ? { startDate: openedAt, startDateIso: openedAt.slice(0, 10) } : {}),
    endDate: closesAt,
    endDateIso: closesAt?.slice(0, 10) ?? null,
    ...(recorded === undefined ? {} : { umaEndDate: formatIsoOrNull(recorded.expectedResolutionAt) }),
    createdAt: openedAt,
    updatedAt: toIso(Math.max(book.changedAt, state.lifecycle.since, event.openAt)),
    acceptingOrdersTimestamp: formatIsoOrNull(recorded === undefined ? market.openAt : recorded.openAt),
    ...(state.isClosed
      ? { closedTime: formatSpacedIso(state.lifecycle.since), umaEndDate: toIso(state.lifecycle.since) }
      : {}),
    bestBid,
    bestAsk,
    spread: roundToMicros(bestAsk - bestBid),
    lastTradePrice: book.lastPrice ?? 0,
    oneHourPriceChange: options.withLongChanges ? changeOver(HOUR_MS) : null,
    oneDayPriceChange: changeOver(DAY_MS),
    oneWeekPriceChange: options.withLongChanges ? changeOver(7 * DAY_MS) : null,
    oneMonthPriceChange: options.withLongChanges ? changeOver(30 * DAY_MS) : null,
    oneYearPriceChange: null,
    volume: formatDecimal(activity.volumeUsd),
    volumeNum: activity.volumeUsd,
    volumeClob: activity.volumeUsd,
    volume24hr: activity.volume24hUsd,
    volume24hrClob: activity.volume24hUsd,
    volume1wk: recentVolume(7 * DAY_MS),
    volume1mo: recentVolume(30 * DAY_MS),
    volume1yr: recentVolume(365 * DAY_MS),
    liquidity: formatDecimal(activity.liquidityUsd),
    liquidityNum: activity.liquidityUsd,
    liquidityClob: activity.liquidityUsd,
    orderPriceMinTickSize: recorded?.priceBands === null ? null : market.tick,
    orderMinSize: recorded === undefined ? ORDER_SIZE_MIN : recorded.minOrderContracts,
    negRisk,
    negRiskOther: row === "other",
    ...(negRisk
      ? { negRiskMarketID: negRiskMarketId(event), negRiskRequestID: `0x${sha256Hex(`request:${market.index}`)}` }
      : {}),
    ...(areFeesKnown ? { feesEnabled: rate > 0 } : {}),
    ...(rate > 0
      ? {
          feeType: `${event.category.toLowerCase()}_fees`,
          feeSchedule: { rate, exponent: feeExponentOf(event), takerOnly: true, rebateRate: FEE_REBATE_RATE },
        }
      : {}),
    makerBaseFee: 0,
    takerBaseFee: rate > 0 ? 1000 : 0,
    secondsDelay: 0,
    rewardsMinSize: rewards?.minSize ?? 0,
    rewardsMaxSpread: rewards?.maxSpread ?? 0,
    clobRewards: [],
    competitive: 0,
    featured: event.featured,
    new: now - market.openAt < DAY_MS,
    cyom: false,
    rfqEnabled: false,
    ...(options.withEvents
      ? {
          events: [
            presentStaticEventFields(
              event,
              event.markets.every((sibling) => now >= sibling.finalizeAt),
            ),
          ],
        }
      : {}),
    ...(options.withTags ? { tags: tagsOf(event) } : {}),
  };
}

function presentTokenIds(market: ListedMarket, row: LeftOutRow | null) {
  const ids = row === "unreadable" ? null : polymarketTokenIds(market);
  return isProtocolV2(market)
    ? { version: "v2", clobTokenIds: null, positionIds: ids }
    : { version: "v1", clobTokenIds: ids && JSON.stringify(ids) };
}

/** The group title of a market between two parties is its kind; `outcomes` names the parties. */
function groupItemTitleOf({ event, label, recorded }: ListedMarket): string {
  if (recorded !== undefined) return recorded.label ?? "";
  if (event.sides !== undefined) return "Match Winner";
  return event.markets.length > 1 ? label : "";
}

function feeExponentOf(event: ListedEvent): number {
  const fee = recordedFeeOf(event);
  return fee?.kind === "quadratic" ? fee.exponent : 1;
}

function computePriceChange(world: World, state: MarketState, at: number): number | null {
  if (at < state.market.openAt) return null;
  const pastBook = world.book(state.market, at);
  const pastPrice = computeDisplayedPrice(
    pastBook.bids[0]?.price ?? null,
    pastBook.asks[0]?.price ?? null,
    pastBook.lastPrice,
  );
  return pastPrice === null ? null : roundToMicros(state.prices[0] - pastPrice);
}

/** Returns the event fields that event objects and market objects share. */
function presentStaticEventFields(event: ListedEvent, isClosed: boolean) {
  const slug = polymarketEventSlug(event);
  const negRisk = isNegRisk(event);
  return {
    id: polymarketEventId(event),
    ticker: slug,
    slug,
    title: event.title,
    description: event.description,
    resolutionSource: event.markets[0]?.resolutionSource ?? "",
    startDate: toIso(event.openAt),
    creationDate: toIso(event.openAt),
    createdAt: toIso(event.openAt),
    endDate: formatIsoOrNull(event.closeAt),
    active: true,
    closed: isClosed,
    archived: false,
    new: false,
    featured: event.featured,
    restricted: true,
    enableOrderBook: true,
    negRisk,
    enableNegRisk: negRisk,
    negRiskAugmented: isAugmented(event),
    ...(negRisk ? { negRiskMarketID: negRiskMarketId(event), negRiskFeeBips: 0 } : {}),
    cumulativeMarkets: event.ladder,
    showAllOutcomes: event.markets.length > 1,
    seriesSlug: event.series.toLowerCase(),
  };
}

/** Gamma event object with its open and closed markets, series and tags. */
export function presentGammaEvent(world: World, event: ListedEvent, now: number) {
  const markets = event.markets.filter((market) => isListed(market, now));
  const states = markets.map((market) => computeMarketState(world, market, now));
  const activities = markets.map((market) => world.activity(market, now));
  // The sum is unknown if any value is unknown.
  const sum = (pick: (activity: ActivityState) => number | null) =>
    activities.reduce<number | null>((total, activity) => {
      const value = pick(activity);
      return total === null || value === null ? null : total + value;
    }, 0);
  const volume = sum((activity) => activity.volumeUsd);
  const isClosed = states.every((state) => state.isClosed);
  const options = { withEvents: false, withTags: false, withLongChanges: false };
  const closedAt = Math.max(...event.markets.map((market) => market.finalizeAt));
  return {
    ...presentStaticEventFields(event, isClosed),
    updatedAt: toIso(now),
    ...(isClosed ? { closedTime: formatIsoOrNull(closedAt) } : {}),
    liquidity: sum((activity) => activity.liquidityUsd),
    liquidityClob: sum((activity) => activity.liquidityUsd),
    volume,
    volume24hr: sum((activity) => activity.volume24hUsd),
    volume1wk: now - event.openAt <= 7 * DAY_MS ? volume : null,
    volume1mo: now - event.openAt <= 30 * DAY_MS ? volume : null,
    volume1yr: now - event.openAt <= 365 * DAY_MS ? volume : null,
    openInterest: sum((activity) => activity.openInterestContracts),
    competitive: 0,
    commentCount: 0,
    live: false,
    ended: isClosed,
    markets: [
      ...states.map((state, position) => presentGammaMarket(world, state, now, options, activities[position])),
      ...(isAugmented(event) && event.recorded === undefined ? [presentOtherMarket(event, isClosed)] : []),
    ],
    series: [presentSeries(event)],
    tags: tagsOf(event),
  };
}

/** The "Other" market of an augmented event: all outcomes that are not listed yet. It is not tradable. */
export function presentOtherMarket(event: ListedEvent, isClosed: boolean) {
  const id = otherMarketId(event);
  return {
    id,
    question: `${event.title} (Other)`,
    conditionId: `0x${sha256Hex(`other:${event.index}`)}`,
    slug: `${polymarketEventSlug(event)}-other`,
    description: event.description,
    outcomes: '["Yes", "No"]',
    outcomePrices: '["0", "1"]',
    groupItemTitle: "Other",
    active: false,
    closed: isClosed,
    archived: false,
    acceptingOrders: false,
    enableOrderBook: false,
    umaResolutionStatus: "",
    marketMakerAddress: "",
    startDate: toIso(event.openAt),
    endDate: formatIsoOrNull(event.closeAt),
    volume: "0",
    negRisk: true,
    negRiskOther: true,
    negRiskMarketID: negRiskMarketId(event),
  };
}

/** Whether all markets of the event are settled. */
export function isEventClosed(event: ListedEvent, now: number): boolean {
  return event.markets.every((market) => now >= market.finalizeAt);
}
