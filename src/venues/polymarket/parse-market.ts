import { countChildren, type LeftOutReason, settledReasonOf } from "../../domain/event-children.ts";
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
import { uniformGrid } from "../../domain/order-rules.ts";
import { parseDecimal } from "../../domain/price.ts";
import type { PolymarketContext } from "./client.ts";
import type { ParsedResolution } from "./parse-resolution.ts";
import { parseState } from "./parse-status.ts";
import { parseAmount, parseList, parseQuotedPrice, parseText, parseTime } from "./parse-values.ts";
import { type GammaEvent, type GammaMarket, isFeeSchedule, isGammaMarket, isGammaTag } from "./wire.ts";

/** Step of order sizes in contracts. The venue's client libraries round sizes down to two decimals. */
const CONTRACT_STEP = 0.01;

export interface ParseContext extends Pick<PolymarketContext, "id" | "countDrop" | "driftDetectors" | "settlements"> {
  /** Time at which the first bytes of the response were received, Unix milliseconds. */
  readonly receivedAt: number;
}

/** Data about a market from outside its row. */
export interface RelatedData {
  readonly event: GammaEvent | null;
  /** True if the event has only this market, so that the event's amounts are those of the market. */
  readonly isSole: boolean;
  /** Row of the oracle's feed; null if there is none, or if not read because the market looks unresolved. */
  readonly resolution: ParsedResolution | null;
}

/**
 * Parses a Gamma market. Returns null if it is not a binary question with two outcome tokens (counted) or is the
 * placeholder for outcomes that are not listed yet (not counted).
 */
export function parseMarket(row: GammaMarket, related: RelatedData, context: ParseContext): MarketSnapshot | null {
  const { countDrop } = context;
  // The meaning of "Other" changes each time that an outcome is added, so the market has no fixed question.
  if (row.negRiskOther === true) return null;
  const ids = tradingIdsOf(row);
  if (ids === null) {
    countDrop("not_binary");
    return null;
  }
  const { tokens, conditionId } = ids;
  const marketId = String(row.id);
  const { event } = related;
  const sources = { feed: related.resolution, streamed: context.settlements.find(...tokens) };
  const { status, outcome, resolvedAt } = parseState(row, sources, context.receivedAt);
  const slug = parseText(row.slug);
  const eventSlug = event === null ? null : parseText(event.slug);
  const endAt = parseTime(row.endDate);
  const listing: MarketListing = {
    venue: context.id,
    marketId,
    eventId: event === null ? null : String(event.id),
    ...namesOf(row),
    url: urlOfPage(eventSlug, slug),
    category: marketCategoryOf(row, event),
    status,
    paused: false,
    outcome,
    rules: parseText(row.description),
    openAt: parseTime(row.acceptingOrdersTimestamp) ?? parseTime(row.startDate),
    closeAt: endAt,
    expectedResolutionAt: parseTime(row.umaEndDate) ?? endAt,
    resolvedAt,
    priceRanges: uniformGrid(parseDecimal(row.orderPriceMinTickSize)),
    minOrderContracts: minOrderOf(row.orderMinSize),
    contractStep: CONTRACT_STEP,
    takerDelayMs: null,
    protocolVersion: parseText(row.version),
    takerFee: takerFeeOf(row),
    venueKeys: {
      conditionId,
      tokenYes: tokens[0],
      tokenNo: tokens[1],
      ...(slug === null ? {} : { slug }),
      ...(related.isSole ? { isSole: "1" } : {}),
    },
  };
  return { listing, quote: quoteOf(row, status, context), activity: activityOf(row, related) };
}

/**
 * Returns the ids of both outcomes: position ids in protocol V2, token ids in V1. A V2 market may also have token ids.
 */
function tokensOf({ version, clobTokenIds, positionIds }: GammaMarket): readonly [string, string] | null {
  const isV2 = parseText(version)?.toLowerCase() === "v2";
  const [first, second] = isV2 ? [positionIds, clobTokenIds] : [clobTokenIds, positionIds];
  return tokenPair(first) ?? tokenPair(second);
}

/** Returns the ids without which a market cannot be read; null if one is missing. */
function tradingIdsOf(row: GammaMarket): { tokens: readonly [string, string]; conditionId: string } | null {
  const tokens = tokensOf(row);
  const conditionId = parseText(row.conditionId);
  return tokens === null || conditionId === null ? null : { tokens, conditionId };
}

/** Returns both token ids. The first token pays on the first outcome and is the YES side, whatever its name. */
function tokenPair(value: unknown): readonly [string, string] | null {
  const list = parseList(value);
  const [yes, no] = list ?? [];
  if (list?.length !== 2 || typeof yes !== "string" || typeof no !== "string" || yes === no) return null;
  return /^\d{1,80}$/.test(yes) && /^\d{1,80}$/.test(no) ? [yes, no] : null;
}

/**
 * Returns title and label. For a yes-or-no question, the group title is the label of the YES side. Otherwise the YES
 * side is the first outcome ("FaZe", "Up", "Over"), and the group title is the kind of market ("Match Winner"). Then
 * the YES side is appended to the title, because the question mentions both sides.
 */
function namesOf(row: GammaMarket): Pick<MarketListing, "title" | "outcomeLabel"> {
  const question = row.question.trim();
  const group = parseText(row.groupItemTitle);
  const yesSide = parseText(parseList(row.outcomes)?.[0]);
  if (yesSide === null || yesSide.toLowerCase() === "yes") return { title: question, outcomeLabel: group };
  const isGroupNamed = group === null || group === yesSide || question.includes(group);
  const label = isGroupNamed ? yesSide : `${group}: ${yesSide}`;
  return { title: `${question} — ${label}`, outcomeLabel: label };
}

/** Returns the category from the tags of the event. Rows without them may still have the type of a sports market. */
function marketCategoryOf(row: GammaMarket, event: GammaEvent | null): string | null {
  const category = categoryOf(event?.tags ?? row.tags, row.category ?? event?.category);
  return category ?? (parseText(row.sportsMarketType) === null ? null : "Sports");
}

function urlOfPage(eventSlug: string | null, slug: string | null): string | null {
  const site = "https://polymarket.com";
  if (slug === null) return eventSlug === null ? null : `${site}/event/${encodeURIComponent(eventSlug)}`;
  if (eventSlug === null) return `${site}/market/${encodeURIComponent(slug)}`;
  return `${site}/event/${encodeURIComponent(eventSlug)}/${encodeURIComponent(slug)}`;
}

function minOrderOf(value: unknown): number | null {
  const contracts = parseDecimal(value);
  return contracts !== null && contracts > 0 ? contracts : null;
}

/** Returns null if fees apply but the venue does not publish the schedule. */
function takerFeeOf(row: GammaMarket): TakerFee | null {
  if (row.feesEnabled === false) return { kind: "none" };
  if (!isFeeSchedule(row.feeSchedule)) return null;
  const rate = parseDecimal(row.feeSchedule.rate);
  const exponent = parseDecimal(row.feeSchedule.exponent ?? 1);
  if (rate === null || rate < 0 || rate > 1 || exponent === null || exponent < 0) return null;
  return rate === 0 ? { kind: "none" } : { kind: "quadratic", rate, exponent };
}

/**
 * Returns the listing's top of book, which has neither sizes nor a timestamp. Only active markets have a bid and an
 * ask.
 */
function quoteOf(row: GammaMarket, status: MarketStatus, { receivedAt, countDrop }: ParseContext): Quote {
  const bid = parseQuotedPrice(row.bestBid, countDrop);
  const ask = parseQuotedPrice(row.bestAsk, countDrop);
  const isBookCrossed = isCrossed(bid, ask);
  if (isBookCrossed) countDrop("crossed_book");
  const top = isBookCrossed || status !== "active" ? { bid: null, ask: null } : { bid, ask };
  const lastPrice = parseQuotedPrice(row.lastTradePrice, countDrop);
  return { ...top, bidSize: null, askSize: null, lastPrice, indicativePrice: null, eventAt: null, receivedAt };
}

/**
 * Volumes and liquidity are the venue's USD notional. Open interest is published for events only; 0 means that the
 * venue has not computed it.
 */
function activityOf(row: GammaMarket, related: RelatedData): Activity {
  const openInterest = related.isSole ? parseAmount(related.event?.openInterest) : null;
  return {
    volume24hUsd: parseAmount(row.volume24hr),
    volumeTotalUsd: parseAmount(row.volumeNum, row.volume),
    liquidityUsd: parseAmount(row.liquidityNum, row.liquidity),
    openInterestUsd: openInterest === 0 ? null : openInterest,
  };
}

/**
 * Parses a Gamma event. Returns null for an incomplete event (nested in a market row) that does not include whether its
 * markets are mutually exclusive.
 */
export function parseEvent(row: GammaEvent, venue: VenueId, isComplete: boolean): EventListing | null {
  if (!isComplete && typeof row.negRisk !== "boolean") return null;
  const rows = (isComplete ? parseList(row.markets) : null)?.map((market) => (isGammaMarket(market) ? market : null));
  const isNegRisk = (row.negRisk === true || row.enableNegRisk === true) && !hasOtherQuestions(rows ?? []);
  return {
    venue,
    eventId: String(row.id),
    title: row.title.trim(),
    description: parseText(row.description),
    category: categoryOf(row.tags, row.category),
    url: urlOfPage(parseText(row.slug), null),
    mutuallyExclusive: isNegRisk,
    exhaustive: isNegRisk && row.negRiskAugmented !== true,
    children: rows === undefined ? null : countChildren(rows.map(leftOutReasonOf)),
    featured: row.featured === true,
    endAt: parseTime(row.endDate),
  };
}

/** Returns whether some rows are outside the set of exclusive outcomes, or the event has several sets. */
function hasOtherQuestions(rows: readonly (GammaMarket | null)[]): boolean {
  const sets = new Set(rows.flatMap((row) => parseText(row?.negRiskMarketID) ?? []));
  return sets.size > 1 || rows.some((row) => row?.negRisk === false);
}

/** Returns why a row of an event is not one of its open markets; null if it is one. */
function leftOutReasonOf(row: GammaMarket | null): LeftOutReason | null {
  if (row === null) return "unreadable";
  if (row.closed === true) {
    const state = parseState(row, { feed: null, streamed: null }, Number.POSITIVE_INFINITY);
    return settledReasonOf(state) ?? "closed";
  }
  if (row.negRiskOther === true) return "placeholder";
  return tradingIdsOf(row) === null ? "unreadable" : null;
}

/**
 * Tags that are topics, in order of precedence. Specific tags come first, because a Bitcoin question, for example, is
 * often also tagged "finance". The venue's tags are unordered. `domain/category.ts` maps the tags to the service's
 * categories.
 */
const TOPIC_TAGS = [
  ...["crypto", "weather", "climate", "climate-weather", "sports", "esports", "economy", "economics"],
  ...["politics", "elections", "geopolitics", "tech", "ai", "science", "culture", "pop-culture", "finance", "business"],
  "world",
] as const;

/** Returns the label of the first topic tag. Without one, returns the category field of old rows, or null. */
function categoryOf(tags: unknown, oldLabel: unknown): string | null {
  const labels = new Map(
    (parseList(tags) ?? [])
      .filter(isGammaTag)
      .map((tag) => [tag.slug ?? tag.label.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"), parseText(tag.label)]),
  );
  for (const slug of TOPIC_TAGS) {
    const label = labels.get(slug);
    if (label !== undefined && label !== null) return label;
  }
  return parseText(oldLabel);
}
