import { isListed, type ListedEvent, type ListedMarket, type WorldOutcome } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { bookPrices, REWARD_SIZE_MIN, REWARD_SPREAD_MAX } from "./book-json.ts";
import { roundSymbol } from "./catalogue.ts";
import { categoryNames } from "./categories.ts";
import * as ids from "./ids.ts";
import { rawUnits, round6 } from "./units.ts";

/** For example "Nov 21, 2026". */
const DISPLAY_DATE = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone: "UTC" });
const USDC = { address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", decimals: 6, symbol: "USDC" };
const CREATOR = {
  name: "Limitless",
  imageURI: "https://limitless.exchange/assets/images/logo.svg",
  link: "https://x.com/trylimitless",
};
const EXCHANGE = "0xa4409d988ca2218d956beefd3874100f444f0dc3";
const NEG_RISK_EXCHANGE = "0x5a38afc17f7e97ad8d6c547ddb837e40b4aedfc6";
const NEG_RISK_ADAPTER = "0x6151ef8368b6316c1aa3c68453ef083ad31e712f";
/** One market in this many is flagged by moderators or is free of fees. */
const FLAGGED_EVERY = 37;
const FREE_EVERY = 23;
const ROUND_MS = 15 * 60_000;

/** Deterministic sample: about one market in `every`. Recorded markets are never sampled. */
function isSampled(market: ListedMarket, every: number): boolean {
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

/** Trading opens before the round starts; the round is the last 15 minutes before the close. */
function roundStartAt(market: ListedMarket): number {
  return market.closeAt - ROUND_MS;
}

/** Strike of a market as text; the placeholder "---" before its round starts; null if it has none. */
export function strikeText(market: ListedMarket, now: number): string | null {
  if (isRound(market.event) && now < roundStartAt(market)) return "---";
  const level = market.strike?.floor ?? market.strike?.cap ?? null;
  return level === null ? null : String(level);
}

/** An amount in raw units and as a decimal string; no fields if a recording does not include the amount. */
function amountPair(name: string, amount: number | null): Record<string, string> {
  if (amount === null) return {};
  const raw = rawUnits(amount);
  return { [name]: raw, [`${name}Formatted`]: (Number(raw) / 1e6).toFixed(6) };
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function descriptionHtml(text: string, source: string | null): string {
  const paragraphs = text.split(/\n{2,}/).map((part) => `<p>${escapeHtml(part).replaceAll("\n", "<br>")}</p>`);
  if (source !== null) paragraphs.push(`<p>Resolution source:&nbsp;<strong>${escapeHtml(source)}</strong></p>`);
  return paragraphs.join("");
}

/** Payout per outcome as a reduced integer ratio; partial outcomes are rounded to thousandths. */
function payout(outcome: WorldOutcome): { winningOutcomeIndex: 0 | 1; payoutNumerators: [number, number] } {
  if (outcome.kind === "yes") return { winningOutcomeIndex: 0, payoutNumerators: [1, 0] };
  if (outcome.kind === "no") return { winningOutcomeIndex: 1, payoutNumerators: [0, 1] };
  if (outcome.kind === "void") return { winningOutcomeIndex: 0, payoutNumerators: [1, 1] };
  const yes = Math.round(outcome.value * 1000);
  const divisor = greatestCommonDivisor(yes, 1000 - yes);
  return { winningOutcomeIndex: yes >= 500 ? 0 : 1, payoutNumerators: [yes / divisor, (1000 - yes) / divisor] };
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? Math.max(a, 1) : greatestCommonDivisor(b, a % b);
}

function statusFields(context: ExchangeContext, market: ListedMarket, now: number): Record<string, unknown> {
  const { phase, outcome, since } = context.world.lifecycle(market, now);
  if (phase === "finalized" && outcome !== null) {
    return { status: "RESOLVED", expired: true, ...payout(outcome), resolutionDate: new Date(since).toISOString() };
  }
  const isLive = phase === "pending" || phase === "active";
  const funded = isSampled(market, FLAGGED_EVERY) ? "FUNDED_FLAGGED" : "FUNDED";
  return {
    status: market.recorded !== undefined && phase === "pending" ? "DRAFTED" : isLive ? funded : "LOCKED",
    expired: now >= market.closeAt,
    winningOutcomeIndex: null,
    startAt: startTime(market, phase === "pending"),
  };
}

function startTime(market: ListedMarket, isPending: boolean): string | undefined {
  if (isRound(market.event)) return new Date(roundStartAt(market)).toISOString();
  return isPending ? new Date(market.openAt).toISOString() : undefined;
}

function metadata(market: ListedMarket, now: number): Record<string, unknown> {
  return {
    fee: market.recorded?.takerFee?.kind !== "none" && !isSampled(market, FREE_EVERY),
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
      prices: [yes, round6(1 - yes)],
      // Pools of the simulated world have no liquidity figure; the field is omitted instead of sent as 0.
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
      minSize: String(REWARD_SIZE_MIN),
      maxSpread: REWARD_SPREAD_MAX,
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

/** YES price of an AMM, rounded to six decimals. */
export function ammPrice(context: ExchangeContext, market: ListedMarket, at: number): number {
  const probability = context.world.probability(market, at);
  if (probability === null) throw new Error("AMM markets without a price must not be listed");
  return round6(probability);
}

function commonFields(event: ListedEvent, createdAt: number | null, expiresAt: number): Record<string, unknown> {
  return {
    proxyTitle: null,
    collateralToken: USDC,
    expirationDate: Number.isFinite(expiresAt) ? DISPLAY_DATE.format(expiresAt) : null,
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

/** An order-book market, an AMM, or a child of a group. The title of a child is the name of its outcome. */
export function presentMarket(context: ExchangeContext, market: ListedMarket, now: number): Record<string, unknown> {
  const { event } = market;
  const isGrouped = ids.isGroup(event);
  const activity = context.world.activity(market, now);
  const since = Math.max(market.openAt, Math.min(now, context.world.lifecycle(market, now).since));
  return {
    id: ids.numericMarketId(market),
    slug: ids.limitlessSlug(market),
    title: isGrouped ? market.label : market.question,
    description: descriptionHtml(market.rules, market.resolutionSource || null),
    ...commonFields(event, market.recorded === undefined ? market.openAt : market.recorded.openAt, market.closeAt),
    // The venue sends this number sometimes as a number and sometimes as text.
    expirationTimestamp:
      isSampled(market, 2) || !Number.isFinite(market.closeAt) ? market.closeAt : String(market.closeAt),
    updatedAt: new Date(since).toISOString(),
    ...statusFields(context, market, now),
    ...tradingFields(context, market, now),
    marketType: "single",
    metadata: metadata(market, now),
    ...amountPair("volume", activity.volumeUsd),
    // A YES/NO pair locks one USDC, so open contracts equal dollars of collateral.
    ...amountPair("openInterest", activity.openInterestContracts),
    conditionId: ids.conditionId(market),
    negRiskRequestId: isGrouped && event.mutuallyExclusive ? ids.negRiskRequestId(market) : null,
    groupId: isGrouped ? ids.numericGroupId(event) : undefined,
    orderInGroup: isGrouped ? market.position : undefined,
    priceOracleMetadata: event.category === "Crypto" ? presentOracle(event) : undefined,
  };
}

function presentOracle(event: ListedEvent): Record<string, unknown> {
  return {
    ticker: roundSymbol(event),
    assetType: "CRYPTO",
    pythAddress: ids.negRiskMarketId(event),
    symbol: `Crypto.${roundSymbol(event)}/USD`,
    name: event.seriesTitle,
    logo: "",
  };
}

/** A group container with nested children. It has no book and no tokens. */
export function presentGroup(context: ExchangeContext, event: ListedEvent, now: number): Record<string, unknown> {
  const listed = event.markets.filter((market) => isListed(market, now));
  const children = listed.map((market) => presentMarket(context, market, now));
  const statuses = children.map((child) => String(child.status));
  const allResolved = statuses.every((status) => status === "RESOLVED");
  const status = allResolved ? "RESOLVED" : statuses.some((value) => value.startsWith("FUNDED")) ? "FUNDED" : "LOCKED";
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
    negRiskMarketId: event.mutuallyExclusive ? ids.negRiskMarketId(event) : undefined,
    markets: children,
  };
}
