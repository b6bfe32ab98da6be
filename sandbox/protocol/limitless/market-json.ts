import { escapeHtml } from "../../../src/lib/escape-html.ts";
import { isListed, type ListedEvent, type ListedMarket, type WorldOutcome } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { presentBookPrices } from "./book-json.ts";
import { categoryNamesOf } from "./categories.ts";
import * as ids from "./ids.ts";
import { isSampled, publishedBook } from "./published-book.ts";
import { roundTo6Decimals, toRawUnits } from "./units.ts";

const USDC = { decimals: 6, symbol: "USDC" };
const EXCHANGE_ADDRESS = "0xa4409d988ca2218d956beefd3874100f444f0dc3";
const NEG_RISK_EXCHANGE_ADDRESS = "0x5a38afc17f7e97ad8d6c547ddb837e40b4aedfc6";
/** One market in this many is flagged by moderators. */
const MARKETS_PER_FLAGGED_MARKET = 37;
/** One market in this many charges no fees. */
const MARKETS_PER_FREE_MARKET = 23;
const ROUND_MS = 15 * 60_000;
const TAKER_DELAY_MS = 500;

/** Trading opens before the 15-minute round starts. The round ends when the market closes. */
const roundStartOf = (market: ListedMarket): number => market.closeAt - ROUND_MS;

/** Presents an amount in raw units and as a decimal string, or as no fields if a recording does not include it. */
function presentAmount(name: string, amount: number | null): Record<string, string> {
  if (amount === null) return {};
  const raw = toRawUnits(amount);
  return { [name]: raw, [`${name}Formatted`]: (Number(raw) / 1e6).toFixed(6) };
}

function renderDescription(text: string, source: string | null): string {
  const paragraphs = text.split(/\n{2,}/).map((part) => `<p>${escapeHtml(part).replaceAll("\n", "<br>")}</p>`);
  if (source !== null) paragraphs.push(`<p>Resolution source:&nbsp;<strong>${escapeHtml(source)}</strong></p>`);
  return paragraphs.join("");
}

/** Payouts of YES and NO as a reduced integer ratio; partial payouts are rounded to thousandths. */
function presentPayout(outcome: WorldOutcome): { winningOutcomeIndex: 0 | 1; payoutNumerators: [number, number] } {
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

function presentStatus(context: ExchangeContext, market: ListedMarket, now: number): Record<string, unknown> {
  const { phase, outcome, since } = context.world.lifecycle(market, now);
  if (phase === "finalized" && outcome !== null) {
    return {
      status: "RESOLVED",
      expired: true,
      ...presentPayout(outcome),
      resolutionDate: new Date(since).toISOString(),
    };
  }
  const isLive = phase === "pending" || phase === "active";
  const fundedStatus = isSampled(market, MARKETS_PER_FLAGGED_MARKET) ? "FUNDED_FLAGGED" : "FUNDED";
  return {
    status: market.recorded !== undefined && phase === "pending" ? "DRAFTED" : isLive ? fundedStatus : "LOCKED",
    expired: now >= market.closeAt,
    winningOutcomeIndex: null,
    startAt: startTimeOf(market, phase === "pending"),
  };
}

function startTimeOf(market: ListedMarket, isPending: boolean): string | undefined {
  if (market.event.isRound) return new Date(roundStartOf(market)).toISOString();
  return isPending ? new Date(market.openAt).toISOString() : undefined;
}

function presentMetadata(market: ListedMarket, now: number): Record<string, unknown> {
  return {
    fee: market.recorded?.takerFee?.kind !== "none" && !isSampled(market, MARKETS_PER_FREE_MARKET),
    // A placeholder stands for the price until the round starts.
    ...(market.event.isRound ? { openPrice: now < roundStartOf(market) ? "---" : null } : {}),
  };
}

function presentTrading(context: ExchangeContext, market: ListedMarket, now: number): Record<string, unknown> {
  if (market.mechanism === "amm") {
    const yes = ammPriceOf(context, market, now);
    const { liquidityUsd } = context.world.activity(market, now);
    return {
      tradeType: "amm",
      address: ids.limitlessAddress(market),
      prices: [yes, roundTo6Decimals(1 - yes)],
      // Simulated pools have no liquidity value. The field is omitted, because 0 would mean an empty pool.
      ...(liquidityUsd !== null && liquidityUsd > 0 ? presentAmount("liquidity", liquidityUsd) : {}),
    };
  }
  return {
    tradeType: "clob",
    tokens: ids.limitlessTokens(market),
    ...presentBookPrices(publishedBook(context, market, now)),
    settings: { takerDelayMs: takerDelayOf(market) },
    venue: {
      exchange:
        market.event.mutuallyExclusive && ids.isGroup(market.event) ? NEG_RISK_EXCHANGE_ADDRESS : EXCHANGE_ADDRESS,
    },
  };
}

/** Returns the YES price of an AMM, rounded to six decimals. */
export function ammPriceOf(context: ExchangeContext, market: ListedMarket, at: number): number {
  const probability = context.world.probability(market, at);
  if (probability === null) throw new Error("AMM markets without a price must not be listed");
  return roundTo6Decimals(probability);
}

function presentCommonFields(event: ListedEvent, createdAt: number | null): Record<string, unknown> {
  return {
    collateralToken: USDC,
    createdAt: createdAt === null ? null : new Date(createdAt).toISOString(),
    categories: categoryNamesOf(event),
  };
}

/** Presents an order-book market, an AMM, or a child of a group. The title of a child is the name of its outcome. */
export function presentMarket(context: ExchangeContext, market: ListedMarket, now: number): Record<string, unknown> {
  const { event } = market;
  const isGrouped = ids.isGroup(event);
  const activity = context.world.activity(market, now);
  return {
    slug: ids.limitlessSlug(market),
    title: isGrouped ? market.label : market.question,
    description: renderDescription(market.rules, market.resolutionSource || null),
    ...presentCommonFields(event, market.recorded === undefined ? market.openAt : market.recorded.openAt),
    // The venue sends this time as a number for some markets and as text for others.
    expirationTimestamp:
      isSampled(market, 2) || !Number.isFinite(market.closeAt) ? market.closeAt : String(market.closeAt),
    ...presentStatus(context, market, now),
    ...presentTrading(context, market, now),
    marketType: "single",
    metadata: presentMetadata(market, now),
    ...presentAmount("volume", activity.volumeUsd),
    // A pair of YES and NO contracts locks one USDC, so the number of open pairs equals the collateral in USDC.
    ...presentAmount("openInterest", activity.openInterestContracts),
    conditionId: ids.conditionIdOf(market),
    negRiskRequestId: isGrouped && event.mutuallyExclusive ? ids.negRiskRequestIdOf(market) : null,
    groupId: isGrouped ? ids.numericGroupIdOf(event) : undefined,
    orderInGroup: isGrouped ? market.position : undefined,
  };
}

/** Presents a group with its child markets. A group has no book and no tokens. */
export function presentGroup(context: ExchangeContext, event: ListedEvent, now: number): Record<string, unknown> {
  const children = event.markets
    .filter((market) => isListed(market, now))
    .map((market) => presentMarket(context, market, now));
  const statuses = children.map((child) => String(child.status));
  const isEveryChildResolved = statuses.every((status) => status === "RESOLVED");
  const status = isEveryChildResolved
    ? "RESOLVED"
    : statuses.some((value) => value.startsWith("FUNDED"))
      ? "FUNDED"
      : "LOCKED";
  const volume = children.reduce((sum, child) => sum + Number(child.volumeFormatted ?? 0), 0);
  return {
    slug: ids.limitlessEventSlug(event),
    title: event.title,
    description: renderDescription(event.description, null),
    ...presentCommonFields(event, event.openAt),
    expirationTimestamp: event.closeAt,
    status,
    expired: now >= event.closeAt,
    winningOutcomeIndex: null,
    tradeType: "group",
    marketType: "group",
    metadata: { fee: true },
    ...presentAmount("volume", volume),
    negRiskMarketId: event.mutuallyExclusive ? ids.negRiskMarketIdOf(event) : undefined,
    markets: children,
  };
}

/** Delay of taker orders in milliseconds. Without a recording, only 15-minute rounds have one. */
function takerDelayOf({ event, recorded }: ListedMarket): number | null {
  if (recorded !== undefined) return recorded.takerDelayMs;
  return event.isRound ? TAKER_DELAY_MS : 0;
}
