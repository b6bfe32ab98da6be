import { toIso } from "../../../src/lib/dates/iso-time.ts";
import {
  type ActivityState,
  isListed,
  type ListedEvent,
  type ListedMarket,
  type NotTradableReason,
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
  polymarketTokenIds,
  sha256Hex,
} from "./ids.ts";
import {
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
} from "./market-state.ts";
import { tagsOf } from "./tags.ts";

/** Formats an ISO time. Returns null for an unknown date (null or Infinity) in a recording. */
const formatIsoOrNull = (at: number | null) => (at !== null && Number.isFinite(at) ? toIso(at) : null);
/** Formats a time with a space and the offset +00 instead of T and Z. */
const formatSpacedIso = (at: number) => `${toIso(at).slice(0, 19).replace("T", " ")}+00`;

export interface MarketObjectOptions {
  readonly withEvents: boolean;
  readonly withTags: boolean;
}

/** Presents a Gamma market: arrays are JSON text, some numbers are repeated as text, and an empty side is 0 or 1. */
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
  const row = world.plantedRow?.(market, now) ?? null;
  const closesAt = formatIsoOrNull(world.plantedResolution?.(market, now)?.closeAt ?? market.closeAt);
  return {
    id: polymarketMarketId(market),
    question: market.question,
    conditionId: polymarketConditionId(market),
    slug: polymarketMarketSlug(market),
    description: market.rules,
    outcomes: JSON.stringify(outcomeNamesOf(market)),
    outcomePrices: JSON.stringify(state.prices.map(formatDecimal)),
    ...presentTokenIds(market, row),
    groupItemTitle: groupItemTitleOf(market),
    ...(event.sides === undefined ? {} : { sportsMarketType: "moneyline" }),
    active: row !== "placeholder" && row !== "other",
    closed: state.isClosed,
    archived: false,
    acceptingOrders: state.acceptsOrders,
    enableOrderBook: true,
    umaResolutionStatus: oracle.umaResolutionStatus,
    umaResolutionStatuses: JSON.stringify(oracle.umaResolutionStatuses),
    ...(recorded === undefined ? { startDate: toIso(event.openAt) } : {}),
    endDate: closesAt,
    ...(recorded === undefined ? {} : { umaEndDate: formatIsoOrNull(recorded.expectedResolutionAt) }),
    acceptingOrdersTimestamp: formatIsoOrNull(recorded === undefined ? market.openAt : recorded.openAt),
    ...(state.isClosed
      ? { closedTime: formatSpacedIso(state.lifecycle.since), umaEndDate: toIso(state.lifecycle.since) }
      : {}),
    bestBid: book.bids[0]?.price ?? 0,
    bestAsk: book.asks[0]?.price ?? 1,
    lastTradePrice: book.lastPrice ?? 0,
    volume: formatDecimal(activity.volumeUsd),
    volumeNum: activity.volumeUsd,
    volume24hr: activity.volume24hUsd,
    liquidity: formatDecimal(activity.liquidityUsd),
    liquidityNum: activity.liquidityUsd,
    orderPriceMinTickSize: recorded?.priceBands === null ? null : market.tick,
    orderMinSize: recorded === undefined ? ORDER_SIZE_MIN : recorded.minOrderContracts,
    negRisk,
    negRiskOther: row === "other",
    ...(negRisk ? { negRiskMarketID: negRiskMarketId(event) } : {}),
    ...(areFeesKnown ? { feesEnabled: rate > 0 } : {}),
    ...(rate > 0
      ? { feeSchedule: { rate, exponent: feeExponentOf(event), takerOnly: true, rebateRate: FEE_REBATE_RATE } }
      : {}),
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

function presentTokenIds(market: ListedMarket, row: NotTradableReason | null) {
  const ids = row === "unreadable" ? null : polymarketTokenIds(market);
  return isProtocolV2(market)
    ? { version: "v2", clobTokenIds: null, positionIds: ids }
    : { version: "v1", clobTokenIds: ids && JSON.stringify(ids) };
}

/** Returns the group title. For a market between two parties it is the kind of market; `outcomes` has the parties. */
function groupItemTitleOf({ event, label, recorded }: ListedMarket): string {
  if (recorded !== undefined) return recorded.label ?? "";
  if (event.sides !== undefined) return "Match Winner";
  return event.markets.length > 1 ? label : "";
}

function feeExponentOf(event: ListedEvent): number {
  const fee = recordedFeeOf(event);
  return fee?.kind === "quadratic" ? fee.exponent : 1;
}

/** Returns the event fields that event objects and market objects share. */
function presentStaticEventFields(event: ListedEvent, isClosed: boolean) {
  const negRisk = isNegRisk(event);
  return {
    id: polymarketEventId(event),
    slug: polymarketEventSlug(event),
    title: event.title,
    description: event.description,
    endDate: formatIsoOrNull(event.closeAt),
    active: true,
    closed: isClosed,
    featured: event.featured,
    negRisk,
    enableNegRisk: negRisk,
    negRiskAugmented: isAugmented(event),
  };
}

/** Presents a Gamma event with its open and closed markets and its tags. */
export function presentGammaEvent(world: World, event: ListedEvent, now: number) {
  const markets = event.markets.filter((market) => isListed(market, now));
  const states = markets.map((market) => computeMarketState(world, market, now));
  const activities = markets.map((market) => world.activity(market, now));
  const openInterests = activities.map(({ openInterestContracts }) => openInterestContracts);
  const isClosed = states.every((state) => state.isClosed);
  const options = { withEvents: false, withTags: false };
  return {
    ...presentStaticEventFields(event, isClosed),
    // The sum is unknown if any value is unknown.
    openInterest: openInterests.includes(null)
      ? null
      : openInterests.reduce<number>((sum, each) => sum + (each ?? 0), 0),
    markets: [
      ...states.map((state, position) => presentGammaMarket(world, state, now, options, activities[position])),
      ...(isAugmented(event) && event.recorded === undefined ? [presentOtherMarket(event, isClosed)] : []),
    ],
    tags: tagsOf(event),
  };
}

/** Presents the "Other" market of an augmented event, which covers all outcomes that are not listed. Not tradable. */
function presentOtherMarket(event: ListedEvent, isClosed: boolean) {
  return {
    id: otherMarketId(event),
    question: `${event.title} (Other)`,
    conditionId: `0x${sha256Hex(`other:${event.index}`)}`,
    slug: `${polymarketEventSlug(event)}-other`,
    description: event.description,
    outcomes: '["Yes", "No"]',
    outcomePrices: '["0", "1"]',
    groupItemTitle: "Other",
    active: false,
    closed: isClosed,
    acceptingOrders: false,
    umaResolutionStatus: "",
    startDate: toIso(event.openAt),
    endDate: formatIsoOrNull(event.closeAt),
    volume: "0",
    negRisk: true,
    negRiskOther: true,
    negRiskMarketID: negRiskMarketId(event),
  };
}

/** Returns whether all markets of the event are settled. */
export function isEventClosed(event: ListedEvent, now: number): boolean {
  return event.markets.every((market) => now >= market.finalizeAt);
}
