import { countChildren, type LeftOutReason, settledReasonOf } from "../../domain/event-children.ts";
import type {
  EventListing,
  FeeShares,
  MarketListing,
  MarketSnapshot,
  MarketStatus,
  Outcome,
  Quote,
  TakerFee,
} from "../../domain/market.ts";
import { isCrossed } from "../../domain/order-book.ts";
import { uniformGrid } from "../../domain/order-rules.ts";
import { fromMicros, parseDecimal, toMicros } from "../../domain/price.ts";
import { toCents } from "../../domain/usd.ts";
import type { DropCounter } from "../../ports/venue.ts";
import type { LimitlessContext } from "./client.ts";
import { htmlToText } from "./html-text.ts";
import { parsePairPrice, parseTime, removePlaceholders } from "./parse-values.ts";
import { isMarketRow, type MarketRow } from "./wire.ts";

const WEB_URL = "https://limitless.exchange/markets/";
const PRICE_RANGES = uniformGrid(0.001);
const AMM_FEE_RATE = 0.004;
/** Buying fees as shares of the traded value, by price of the token. The venue publishes only these points. */
const BUY_FEE_POINTS: FeeShares = [
  [0, 0.03],
  [0.5, 0.03],
  [0.55, 0.0252],
  [0.6, 0.0213],
  [0.65, 0.018],
  [0.7, 0.0151],
  [0.75, 0.0126],
  [0.8, 0.0105],
  [0.85, 0.0085],
  [0.9, 0.0068],
  [0.95, 0.0053],
  [0.99, 0.0042],
  [0.999, 0.004],
];
const SELL_FEE_POINTS: FeeShares = [
  [0.01, 0.0042],
  [0.05, 0.006],
  [0.1, 0.0078],
  [0.2, 0.0111],
  [0.3, 0.0132],
  [0.4, 0.0144],
  [0.5, 0.015],
  [0.6, 0.0144],
  [0.7, 0.0132],
  [0.8, 0.0111],
  [0.9, 0.0078],
  [0.95, 0.006],
  [0.99, 0.0045],
  [0.999, 0.0042],
];
const DOLLAR_TOKENS = new Set(["USDC", "USDBC", "USDC.E", "USDT", "DAI", "USD"]);
const GROUP_CHILDREN_MAX = 1_000;
const NO_PRICES = { bid: null, ask: null };
/** Matches categories that are durations instead of topics. */
const TIME_FRAME_PATTERN = /^(\d+\s?(min|minutes?|h|hours?)|minutely|hourly|daily|weekly|monthly)$/i;

export type ParseContext = Pick<LimitlessContext, "id" | "countDrop" | "driftDetectors"> & {
  readonly receivedAt: number;
};

/**
 * The group of a child. Slug and title are stored in `venueKeys`, because a child row alone does not name its group.
 */
export interface ParentGroup {
  readonly slug: string;
  readonly title: string;
  /** Null if only `venueKeys` are available. */
  readonly row: MarketRow | null;
}

export interface ParsedRows {
  readonly markets: MarketSnapshot[];
  readonly events: EventListing[];
}

/** Parses listing rows or single markets: a group becomes an event with its children, any other row a market. */
export function parseRows(rows: readonly unknown[], context: ParseContext): ParsedRows {
  const parsed: ParsedRows = { markets: [], events: [] };
  context.driftDetectors.market.startPage(rows);
  for (const row of context.driftDetectors.market.filter(rows, isMarketRow, () =>
    context.countDrop("bad_market_row"),
  )) {
    if (isGroupRow(row)) parseGroup(row, context, parsed);
    else {
      const market = parseMarket(row, null, context);
      if (market !== null) parsed.markets.push(market);
    }
  }
  return parsed;
}

/** A group has children and no tokens. A child may have marketType "group", but it has tokens. */
export function isGroupRow(row: MarketRow): boolean {
  if (!Array.isArray(row.markets)) return false;
  return row.markets.length > 0 || (row.marketType === "group" && !row.tokens && !row.address);
}

/** Returns whether the row belongs to a group. A row outside its group's response does not name the group. */
export function isChildRow(row: MarketRow): boolean {
  return [row.groupId, row.orderInGroup, row.negRiskRequestId].some((value) => value !== null && value !== undefined);
}

function parseGroup(row: MarketRow, context: ParseContext, parsed: ParsedRows): void {
  const children = row.markets ?? [];
  if (children.length > GROUP_CHILDREN_MAX) context.countDrop("group_too_large", children.length - GROUP_CHILDREN_MAX);
  const parent: ParentGroup = { slug: row.slug, title: row.title, row };
  const states = children.map((child, index): LeftOutReason | null => {
    if (index >= GROUP_CHILDREN_MAX) return "unreadable";
    if (context.driftDetectors.market.check(child, isMarketRow)) {
      const market = parseMarket(child, parent, context);
      if (market !== null) parsed.markets.push(market);
      return market === null ? "unreadable" : settledReasonOf(market.listing);
    }
    context.countDrop("bad_market_row");
    return "unreadable";
  });
  parsed.events.push({
    venue: context.id,
    eventId: row.slug,
    title: row.title,
    description: parseText(row.description),
    category: parseCategory(row.categories),
    url: pageUrl(row.slug),
    mutuallyExclusive: typeof row.negRiskMarketId === "string" && row.negRiskMarketId !== "",
    exhaustive: false,
    children: countChildren(states),
    featured: false,
    endAt: parseTime(row.expirationTimestamp),
  });
}

/** Parses a market. Returns null and counts the row if it has no id. */
export function parseMarket(row: MarketRow, parent: ParentGroup | null, context: ParseContext): MarketSnapshot | null {
  const isAmm = row.tradeType === "amm";
  const marketId = isAmm ? row.address : row.slug;
  if (typeof marketId !== "string" || marketId === "") {
    context.countDrop("market_without_id");
    return null;
  }
  const quote = parseQuote(row, isAmm, context);
  const status = parseStatus(row, quote, context.receivedAt);
  const outcome = status === "finalized" ? parseOutcome(row) : null;
  const closeAt = parseTime(row.expirationTimestamp) ?? parseTime(parent?.row?.expirationTimestamp);
  const listing: MarketListing = {
    venue: context.id,
    marketId,
    eventId: parent?.slug ?? null,
    title: parent === null ? row.title : `${parent.title} — ${row.title}`,
    outcomeLabel: parent === null ? null : row.title,
    url: pageUrl(parent?.slug ?? row.slug),
    category: parseCategory(row.categories) ?? parseCategory(parent?.row?.categories),
    // A market with status RESOLVED and no result is still being determined.
    status: status === "finalized" && outcome === null ? "determined" : status,
    paused: false,
    outcome,
    rules: parseText(row.description) ?? parseText(parent?.row?.description),
    openAt: parseTime(row.createdAt),
    closeAt,
    expectedResolutionAt: closeAt,
    resolvedAt: outcome === null ? null : parseTime(row.resolutionDate),
    priceRanges: isAmm ? null : PRICE_RANGES,
    // `settings.minSize` is the minimum size of orders that earn rewards. The venue publishes no minimum order size.
    minOrderContracts: null,
    contractStep: null,
    takerDelayMs: parseTakerDelay(row, parent),
    protocolVersion: null,
    takerFee: parseFee(row, isAmm),
    venueKeys: {
      slug: row.slug,
      kind: isAmm ? "amm" : "clob",
      ...(row.tokens ? { yesToken: row.tokens.yes, noToken: row.tokens.no } : {}),
      ...(row.conditionId ? { conditionId: row.conditionId } : {}),
      ...(parent === null ? {} : { groupSlug: parent.slug, groupTitle: parent.title }),
      // The market of Polymarket that this one copies. Its deadline can differ.
      ...(row.metadata?.externalSlug ? { mirroredSlug: row.metadata.externalSlug } : {}),
    },
  };
  return { listing, quote, activity: parseActivity(row, parent) };
}

/**
 * Returns the status. An unknown status counts as closed. FUNDED includes markets past their deadline, which accept no
 * orders.
 */
function parseStatus(row: MarketRow, quote: Quote, now: number): MarketStatus {
  if (row.status === "RESOLVED") return "finalized";
  if (row.status === "LOCKED") return "closed";
  if (row.status === "DRAFTED") return "pending";
  if (row.status !== "FUNDED" && row.status !== "FUNDED_FLAGGED") return "closed";
  const deadline = parseTime(row.expirationTimestamp);
  if (row.expired === true || (deadline !== null && now >= deadline)) return "closed";
  // A recurring market may have quotes before its start. A market that starts in the future without quotes is pending.
  const startAt = parseTime(row.startAt);
  const isQuoted = quote.bid !== null || quote.ask !== null;
  return startAt !== null && startAt > now && !isQuoted ? "pending" : "active";
}

/** Returns the outcome from the payout numerators, or from the winning index if there are none. */
function parseOutcome(row: MarketRow): Outcome | null {
  const numerators = (row.payoutNumerators ?? []).map(parseDecimal);
  const [yes, no] = numerators;
  if (
    numerators.length === 2 &&
    typeof yes === "number" &&
    typeof no === "number" &&
    yes >= 0 &&
    no >= 0 &&
    yes + no > 0
  ) {
    if (no === 0) return { kind: "yes" };
    if (yes === 0) return { kind: "no" };
    const value = fromMicros(toMicros(yes / (yes + no)));
    return yes === no ? { kind: "void", value } : { kind: "partial", value };
  }
  const index = parseDecimal(row.winningOutcomeIndex);
  if (index === 0) return { kind: "yes" };
  return index === 1 ? { kind: "no" } : null;
}

/** `prices` of an order-book market is not read: it is the mid of the quotes, even if they are placeholders. */
function parseQuote(row: MarketRow, isAmm: boolean, { countDrop, receivedAt }: ParseContext): Quote {
  return {
    ...(isAmm ? NO_PRICES : parseBestPrices(row, countDrop)),
    bidSize: null,
    askSize: null,
    lastPrice: null,
    indicativePrice: isAmm ? parsePairPrice(row.prices, countDrop) : null,
    eventAt: null,
    receivedAt,
  };
}

/** Returns the YES bid and ask: the prices at which a taker sells and buys. */
function parseBestPrices(row: MarketRow, countDrop: DropCounter): Pick<Quote, "bid" | "ask"> {
  const bid = parsePairPrice(row.tradePrices?.sell?.market, countDrop);
  const ask = parsePairPrice(row.tradePrices?.buy?.market, countDrop);
  if (!isCrossed(bid, ask)) return removePlaceholders(bid, ask);
  countDrop("crossed_book");
  return NO_PRICES;
}

function parseActivity(row: MarketRow, parent: ParentGroup | null): MarketSnapshot["activity"] {
  const collateral = row.collateralToken ?? parent?.row?.collateralToken;
  const isInDollars = DOLLAR_TOKENS.has(collateral?.symbol?.toUpperCase() ?? "");
  const decimals = parseDecimal(collateral?.decimals) ?? 6;
  const amount = (formatted: unknown, raw: unknown): number | null => {
    if (!isInDollars) return null;
    const rawNumber = parseDecimal(raw);
    const value = parseDecimal(formatted) ?? (rawNumber === null ? null : rawNumber / 10 ** decimals);
    return value !== null && value >= 0 ? toCents(value) : null;
  };
  return {
    volume24hUsd: null,
    volumeTotalUsd: amount(row.volumeFormatted, row.volume),
    liquidityUsd: amount(row.liquidityFormatted, row.liquidity),
    openInterestUsd: amount(row.openInterestFormatted, row.openInterest),
  };
}

function parseFee(row: MarketRow, isAmm: boolean): TakerFee {
  if (row.metadata?.fee === false) return { kind: "none" };
  if (isAmm) return { kind: "flat_value", rate: AMM_FEE_RATE };
  return { kind: "value_table", buyPoints: BUY_FEE_POINTS, sellPoints: SELL_FEE_POINTS };
}

function parseTakerDelay(row: MarketRow, parent: ParentGroup | null): number | null {
  const delayMs = parseDecimal(row.settings?.takerDelayMs ?? parent?.row?.settings?.takerDelayMs);
  return delayMs !== null && delayMs >= 0 && Number.isInteger(delayMs) ? delayMs : null;
}

function parseCategory(categories: readonly unknown[] | null | undefined): string | null {
  const topic = (categories ?? []).find(
    (name): name is string => typeof name === "string" && name.trim() !== "" && !TIME_FRAME_PATTERN.test(name.trim()),
  );
  return topic?.trim().slice(0, 100) ?? null;
}

function parseText(html: string | null | undefined): string | null {
  return typeof html === "string" ? htmlToText(html) : null;
}

const pageUrl = (slug: string): string => `${WEB_URL}${encodeURIComponent(slug)}`;
