import type {
  Activity,
  EventListing,
  MarketListing,
  MarketSnapshot,
  MarketStatus,
  Quote,
  TakerFee,
  VenueId,
} from "../../domain/market.ts";
import { isCrossed } from "../../domain/order-book.ts";
import { parseDecimal } from "../../domain/price.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { categoryOf } from "./category.ts";
import { outcomeOfPrices, type ResolutionFacts } from "./parse-resolution.ts";
import { amountOf, listOf, priceOf, textOf, timeOf } from "./parse-values.ts";
import type { PolymarketDriftDetectors } from "./wire.ts";
import { type GammaEvent, type GammaMarket, isFeeSchedule } from "./wire.ts";

export interface ParseContext {
  readonly venue: VenueId;
  /** When the answer began to arrive. */
  readonly receivedAt: number;
  readonly drop: DropCounter;
  readonly detectors: PolymarketDriftDetectors;
}

/** What stands around a market in the reply it came in. */
export interface MarketSurroundings {
  readonly event: GammaEvent | null;
  /** The event has this market alone, so what is told of the event is told of the market. */
  readonly isSole: boolean;
  readonly resolution: ResolutionFacts | null;
}

/**
 * Gamma market to domain, or null when it is not a binary question with two outcome tokens (counted) or stands for
 * names not yet listed (by the venue's design, so not counted).
 */
export function parseMarket(
  row: GammaMarket,
  around: MarketSurroundings,
  context: ParseContext,
): MarketSnapshot | null {
  const { drop } = context;
  // "Other" means something else each time a name is added: its price says nothing about a fixed question.
  if (row.negRiskOther === true) return null;
  const tokens = tokenPair(row.clobTokenIds);
  const conditionId = textOf(row.conditionId);
  if (tokens === null || conditionId === null) {
    drop("not_binary");
    return null;
  }
  const marketId = String(row.id);
  const { event } = around;
  const status = statusOf(row, around.resolution, context.receivedAt);
  const slug = textOf(row.slug);
  const eventSlug = event === null ? null : textOf(event.slug);
  const endAt = timeOf(row.endDate);
  const listing: MarketListing = {
    venue: context.venue,
    marketId,
    eventId: event === null ? null : String(event.id),
    title: row.question.trim(),
    outcomeLabel: outcomeLabel(row),
    url: urlOfMarket(eventSlug, slug),
    category: categoryOf(event?.tags ?? row.tags, row.category ?? event?.category),
    status,
    paused: false,
    outcome: outcomeOf(row, status, around.resolution),
    rules: textOf(row.description),
    openAt: timeOf(row.acceptingOrdersTimestamp) ?? timeOf(row.startDate),
    closeAt: endAt,
    expectedResolutionAt: timeOf(row.umaEndDate) ?? endAt,
    resolvedAt: status === "finalized" ? (around.resolution?.resolvedAt ?? timeOf(row.closedTime)) : null,
    tickSize: tickSizeOf(row.orderPriceMinTickSize),
    takerFee: takerFeeOf(row),
    venueKeys: {
      conditionId,
      tokenYes: tokens[0],
      tokenNo: tokens[1],
      ...(slug === null ? {} : { slug }),
      ...(around.isSole ? { isSole: "1" } : {}),
    },
  };
  return { listing, quote: quoteOf(row, status, context), activity: activityOf(row, around) };
}

/** Index 0 is the token that pays on the question's first outcome: the YES side, whatever it is called. */
function tokenPair(value: unknown): readonly [string, string] | null {
  const list = listOf(value);
  const [yes, no] = list ?? [];
  if (list?.length !== 2 || typeof yes !== "string" || typeof no !== "string" || yes === no) return null;
  return /^\d{1,80}$/.test(yes) && /^\d{1,80}$/.test(no) ? [yes, no] : null;
}

function outcomeLabel(row: GammaMarket): string | null {
  const label = textOf(row.groupItemTitle);
  if (label !== null) return label;
  const first = textOf(listOf(row.outcomes)?.[0]);
  return first === null || first.toLowerCase() === "yes" ? null : first;
}

function urlOfMarket(eventSlug: string | null, slug: string | null): string | null {
  const site = "https://polymarket.com";
  if (slug === null) return eventSlug === null ? null : `${site}/event/${encodeURIComponent(eventSlug)}`;
  if (eventSlug === null) return `${site}/market/${encodeURIComponent(slug)}`;
  return `${site}/event/${encodeURIComponent(eventSlug)}/${encodeURIComponent(slug)}`;
}

const SETTLED_WORDS: ReadonlySet<string> = new Set(["resolved", "settled"]);
const PROPOSED_WORDS: ReadonlySet<string> = new Set(["proposed", "disputed"]);

/** The venue reference's section 3.7, top down. A passed end date by itself does not end trading. */
function statusOf(row: GammaMarket, resolution: ResolutionFacts | null, now: number): MarketStatus {
  const oracle = textOf(row.umaResolutionStatus)?.toLowerCase() ?? "";
  if (row.closed === true) {
    const isSettled =
      SETTLED_WORDS.has(oracle) || resolution?.state === "settled" || outcomeOfPrices(row.outcomePrices) !== null;
    if (isSettled) return "finalized";
  }
  if (PROPOSED_WORDS.has(oracle) || resolution?.state === "proposed" || resolution?.state === "contested")
    return "determined";
  if (row.closed === true || row.archived === true) return "closed";
  const opensAt = timeOf(row.acceptingOrdersTimestamp) ?? timeOf(row.startDate);
  if (row.active === false) return "pending";
  if (row.acceptingOrders === false) return opensAt !== null && opensAt > now ? "pending" : "closed";
  return "active";
}

function outcomeOf(row: GammaMarket, status: MarketStatus, resolution: ResolutionFacts | null) {
  if (status === "finalized") return resolution?.outcome ?? outcomeOfPrices(row.outcomePrices);
  return status === "determined" ? (resolution?.outcome ?? null) : null;
}

function tickSizeOf(value: unknown): number | null {
  const tick = parseDecimal(value);
  return tick !== null && tick > 0 && tick < 1 ? tick : null;
}

/** Unknown (null) where the venue says that fees apply but not which. */
function takerFeeOf(row: GammaMarket): TakerFee | null {
  if (row.feesEnabled === false) return { kind: "none" };
  if (!isFeeSchedule(row.feeSchedule)) return null;
  const rate = parseDecimal(row.feeSchedule.rate);
  const exponent = parseDecimal(row.feeSchedule.exponent ?? 1);
  if (rate === null || rate < 0 || rate > 1 || exponent === null || exponent < 0) return null;
  return rate === 0 ? { kind: "none" } : { kind: "quadratic", rate, exponent };
}

/** The listing's top of book: no sizes and no time of its own. Nobody can trade where orders are not taken. */
function quoteOf(row: GammaMarket, status: MarketStatus, { receivedAt, drop }: ParseContext): Quote {
  let bid = priceOf(row.bestBid, drop);
  let ask = priceOf(row.bestAsk, drop);
  if (isCrossed(bid, ask)) {
    drop("crossed_book");
    bid = null;
    ask = null;
  }
  if (status !== "active") {
    bid = null;
    ask = null;
  }
  const lastPrice = priceOf(row.lastTradePrice, drop);
  return { bid, ask, bidSize: null, askSize: null, lastPrice, indicativePrice: null, eventAt: null, receivedAt };
}

/** Volumes and liquidity are the venue's own USD notional; open interest is told of events only. */
function activityOf(row: GammaMarket, around: MarketSurroundings): Activity {
  return {
    volume24hUsd: amountOf(row.volume24hr),
    volumeTotalUsd: amountOf(row.volumeNum, row.volume),
    liquidityUsd: amountOf(row.liquidityNum, row.liquidity),
    openInterestUsd: around.isSole ? amountOf(around.event?.openInterest) : null,
  };
}

/**
 * Gamma event to domain. Short events inside markets may lack what says whether its markets exclude each other; such an
 * event is null rather than guessed.
 */
export function parseEvent(row: GammaEvent, venue: VenueId, isWhole: boolean): EventListing | null {
  if (!isWhole && typeof row.negRisk !== "boolean") return null;
  const isNegRisk = row.negRisk === true || row.enableNegRisk === true;
  const slug = textOf(row.slug);
  return {
    venue,
    eventId: String(row.id),
    title: row.title.trim(),
    description: textOf(row.description),
    category: categoryOf(row.tags, row.category),
    url: slug === null ? null : `https://polymarket.com/event/${encodeURIComponent(slug)}`,
    mutuallyExclusive: isNegRisk,
    exhaustive: isNegRisk && row.negRiskAugmented !== true,
    featured: row.featured === true,
    endAt: timeOf(row.endDate),
  };
}
