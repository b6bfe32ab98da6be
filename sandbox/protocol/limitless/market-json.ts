import { isListed, type ListedEvent, type ListedMarket, type WorldOutcome } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { bookPrices } from "./book-json.ts";
import { roundSymbol } from "./catalogue.ts";
import { categoryNames } from "./categories.ts";
import * as ids from "./ids.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const USDC = { address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", decimals: 6, symbol: "USDC" };
const CREATOR = {
  name: "Limitless",
  imageURI: "https://limitless.exchange/assets/images/logo.svg",
  link: "https://x.com/trylimitless",
};
const EXCHANGE = "0xa4409d988ca2218d956beefd3874100f444f0dc3";
const NEG_RISK_EXCHANGE = "0x5a38afc17f7e97ad8d6c547ddb837e40b4aedfc6";
const NEG_RISK_ADAPTER = "0x6151ef8368b6316c1aa3c68453ef083ad31e712f";
/** One market in this many is marked by the moderators, or trades without a fee. */
const FLAGGED_EVERY = 37;
const FREE_EVERY = 23;
const ROUND_MS = 15 * 60_000;
/** What strike fields hold before a round has begun. */
const NO_STRIKE_YET = "---";

/** The same markets every time, about one in `every`. */
function isChosen(market: ListedMarket, every: number): boolean {
  if (market.recorded !== undefined) return false;
  return (Math.imul(market.index + 1, 0x9e3779b1) >>> 0) % every === 0;
}

export function isRound(event: ListedEvent): boolean {
  return event.frequency === "fifteen_min";
}

export function automationType(event: ListedEvent): string {
  if (isRound(event)) return "lumy";
  return event.category === "Sports" ? "sports" : "manual";
}

/** A round is traded before it begins; what it is about happens in its last quarter of an hour. */
export function roundStartAt(market: ListedMarket): number {
  return market.closeAt - ROUND_MS;
}

/** Strike of a market as text, the placeholder before its round has begun, null where it has none. */
export function strikeText(market: ListedMarket, now: number): string | null {
  if (isRound(market.event) && now < roundStartAt(market)) return NO_STRIKE_YET;
  const level = market.strike?.floor ?? market.strike?.cap ?? null;
  return level === null ? null : String(level);
}

/** USD, contracts and token amounts travel as integers with six implied decimals, beside a decimal string. */
export function rawUnits(amount: number): string {
  return String(Math.round(amount * 1e6));
}

/** Nothing where a recording does not tell the amount. */
function amountPair(name: string, amount: number | null): Record<string, string> {
  if (amount === null) return {};
  const raw = rawUnits(amount);
  return { [name]: raw, [`${name}Formatted`]: (Number(raw) / 1e6).toFixed(6) };
}

function displayDate(at: number): string | null {
  if (!Number.isFinite(at)) return null;
  const date = new Date(at);
  return `${MONTHS[date.getUTCMonth()]} ${date.getUTCDate()}, ${date.getUTCFullYear()}`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function descriptionHtml(text: string, source: string | null): string {
  const paragraphs = text.split(/\n{2,}/).map((part) => `<p>${escapeHtml(part).replaceAll("\n", "<br>")}</p>`);
  if (source !== null) paragraphs.push(`<p>Resolution source:&nbsp;<strong>${escapeHtml(source)}</strong></p>`);
  return paragraphs.join("");
}

/** Half-integers resolve as equal shares; other splits as whole numerators that add up to 1000 before reduction. */
function payout(outcome: WorldOutcome): { winningOutcomeIndex: 0 | 1; payoutNumerators: [number, number] } {
  if (outcome.kind === "yes") return { winningOutcomeIndex: 0, payoutNumerators: [1, 0] };
  if (outcome.kind === "no") return { winningOutcomeIndex: 1, payoutNumerators: [0, 1] };
  if (outcome.kind === "void") return { winningOutcomeIndex: 0, payoutNumerators: [1, 1] };
  const yes = Math.round(outcome.value * 1000);
  const divisor = greatestCommonDivisor(yes, 1000 - yes);
  return {
    winningOutcomeIndex: yes >= 500 ? 0 : 1,
    payoutNumerators: [yes / divisor, (1000 - yes) / divisor],
  };
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? Math.max(a, 1) : greatestCommonDivisor(b, a % b);
}

/** Raw status word with the fields that go with it. */
function life(context: ExchangeContext, market: ListedMarket, now: number): Record<string, unknown> {
  const { phase, outcome, since } = context.world.lifecycle(market, now);
  if (phase === "finalized" && outcome !== null) {
    return {
      status: "RESOLVED",
      expired: true,
      ...payout(outcome),
      resolutionDate: new Date(since).toISOString(),
    };
  }
  const isLive = phase === "pending" || phase === "active";
  const funded = isChosen(market, FLAGGED_EVERY) ? "FUNDED_FLAGGED" : "FUNDED";
  return {
    status: market.recorded !== undefined && phase === "pending" ? "DRAFTED" : isLive ? funded : "LOCKED",
    expired: now >= market.closeAt,
    winningOutcomeIndex: null,
    ...startFields(market, phase === "pending"),
  };
}

function startFields(market: ListedMarket, isPending: boolean): Record<string, unknown> {
  if (isRound(market.event)) return { startAt: new Date(roundStartAt(market)).toISOString() };
  return isPending ? { startAt: new Date(market.openAt).toISOString() } : {};
}

function metadata(market: ListedMarket, now: number): Record<string, unknown> {
  return {
    fee: market.recorded?.takerFee?.kind !== "none" && !isChosen(market, FREE_EVERY),
    isBannered: market.event.featured,
    isPolyArbitrage: false,
    shouldMarketMake: market.mechanism === "clob",
    ...(isRound(market.event)
      ? {
          openPrice: strikeText(market, now),
          takerDelayMs: 500,
          chainlinkDataStream: `${roundSymbol(market.event)}/USD`,
        }
      : {}),
  };
}

function tradingFields(context: ExchangeContext, market: ListedMarket, now: number): Record<string, unknown> {
  if (market.mechanism === "amm") {
    const yes = ammPrice(context, market, now);
    const { liquidityUsd } = context.world.activity(market, now);
    return {
      tradeType: "amm",
      address: ids.limitlessAddress(market),
      prices: [yes, Math.round((1 - yes) * 1e6) / 1e6],
      // The world knows what rests in books, not what lies in a pool: left out rather than shown as nothing.
      ...(liquidityUsd !== null && liquidityUsd > 0 ? amountPair("liquidity", liquidityUsd) : {}),
    };
  }
  const tokens = ids.limitlessTokens(market);
  return {
    tradeType: "clob",
    tokens,
    positionIds: [tokens.yes, tokens.no],
    ...bookPrices(context.world.book(market, now)),
    isRewardable: true,
    settings: {
      minSize: "50000000",
      maxSpread: 0.035,
      dailyReward: "5",
      rewardsEpoch: "0.003472222222222222",
      c: "3",
      rebateRate: 0,
    },
    venue: {
      exchange: market.event.mutuallyExclusive && ids.isGroup(market.event) ? NEG_RISK_EXCHANGE : EXCHANGE,
      adapter: market.event.mutuallyExclusive && ids.isGroup(market.event) ? NEG_RISK_ADAPTER : null,
    },
  };
}

/** Probability that an AMM shows, on the grid of its token decimals. */
export function ammPrice(context: ExchangeContext, market: ListedMarket, at: number): number {
  const probability = context.world.probability(market, at);
  if (probability === null) throw new Error("an AMM is listed only where its price is known");
  return Math.round(probability * 1e6) / 1e6;
}

function commonFields(event: ListedEvent, createdAt: number | null, expiresAt: number): Record<string, unknown> {
  return {
    proxyTitle: null,
    collateralToken: USDC,
    expirationDate: displayDate(expiresAt),
    createdAt: createdAt === null ? null : new Date(createdAt).toISOString(),
    categories: categoryNames(event),
    tags: [...event.tags],
    creator: CREATOR,
    priorityIndex: 0,
    automationType: automationType(event),
    hidden: false,
    imageUrl: null,
    logo: null,
  };
}

/** One market: an order-book market, an AMM, or a child of a group (whose title is only the outcome's name). */
export function presentMarket(context: ExchangeContext, market: ListedMarket, now: number): Record<string, unknown> {
  const { event } = market;
  const grouped = ids.isGroup(event);
  const activity = context.world.activity(market, now);
  const since = Math.max(market.openAt, Math.min(now, context.world.lifecycle(market, now).since));
  return {
    id: ids.numericMarketId(market),
    slug: ids.limitlessSlug(market),
    title: grouped ? market.label : market.question,
    description: descriptionHtml(market.rules, market.resolutionSource || null),
    ...commonFields(event, market.recorded === undefined ? market.openAt : market.recorded.openAt, market.closeAt),
    // The venue writes this number as text now and then.
    expirationTimestamp:
      isChosen(market, 2) || !Number.isFinite(market.closeAt) ? market.closeAt : String(market.closeAt),
    updatedAt: new Date(since).toISOString(),
    ...life(context, market, now),
    ...tradingFields(context, market, now),
    marketType: "single",
    metadata: metadata(market, now),
    ...amountPair("volume", activity.volumeUsd),
    // A pair of YES and NO locks one USDC, so contracts outstanding are dollars of collateral.
    ...amountPair("openInterest", activity.openInterestContracts),
    conditionId: ids.conditionId(market),
    negRiskRequestId: grouped && event.mutuallyExclusive ? ids.negRiskRequestId(market) : null,
    ...(grouped ? { groupId: ids.numericGroupId(event), orderInGroup: market.position } : {}),
    ...(event.category === "Crypto" ? { priceOracleMetadata: oracle(event) } : {}),
  };
}

function oracle(event: ListedEvent): Record<string, unknown> {
  return {
    ticker: roundSymbol(event),
    assetType: "CRYPTO",
    pythAddress: ids.negRiskMarketId(event),
    symbol: `Crypto.${roundSymbol(event)}/USD`,
    name: event.seriesTitle,
    logo: "",
  };
}

/** A group container with its children nested; it has neither book nor tokens of its own. */
export function presentGroup(context: ExchangeContext, event: ListedEvent, now: number): Record<string, unknown> {
  const listed = event.markets.filter((market) => isListed(market, now));
  const children = listed.map((market) => presentMarket(context, market, now));
  const statuses = children.map((child) => String(child.status));
  const allResolved = statuses.every((status) => status === "RESOLVED");
  const status = allResolved ? "RESOLVED" : statuses.some((word) => word.startsWith("FUNDED")) ? "FUNDED" : "LOCKED";
  const volume = children.reduce((sum, child) => sum + Number(child.volumeFormatted ?? 0), 0);
  return {
    id: ids.numericGroupId(event),
    slug: ids.limitlessEventSlug(event),
    title: event.title,
    description: descriptionHtml(event.description, null),
    ...commonFields(event, event.openAt, event.closeAt),
    expirationTimestamp: event.closeAt,
    updatedAt: new Date(event.openAt).toISOString(),
    status,
    expired: now >= event.closeAt,
    winningOutcomeIndex: null,
    tradeType: "group",
    marketType: "group",
    metadata: { fee: true, isBannered: event.featured, isPolyArbitrage: false, shouldMarketMake: true },
    ...amountPair("volume", volume),
    outcomeTokens: listed.map((market) => market.label),
    ...(event.mutuallyExclusive ? { negRiskMarketId: ids.negRiskMarketId(event) } : {}),
    markets: children,
  };
}
