/** What Manifold's bets and broadcasts mean. */
import { oneOf, price, time } from "../expectation.ts";
import { isObject, type JsonObject, numberOf, objectOf, textOf } from "../json.ts";
import { type ExpectedItem, leftOutItem, tradeItem } from "./data.ts";
import { answersOf, hasAnswerMarkets, isContract } from "./manifold-markets.ts";
import { tradablePrice } from "./price.ts";
import {
  type ExpectedFrame,
  type ExpectedSignal,
  type ExpectedStream,
  type ExpectedStreamTrade,
  parseFrame,
  QuoteStates,
  recordedFramesOf,
} from "./stream.ts";

/** A limit order is a taker only when it is placed; its later fills are the bets of others. */
const IMMEDIATE_MS = 1_000;
/** Fields of an updated contract that change its status or outcome. */
const STATUS_FIELDS = ["isResolved", "resolution", "resolutionTime", "closeTime"] as const;

export const isBet = (row: JsonObject): boolean =>
  typeof row.contractId === "string" && "probAfter" in row && "createdTime" in row;
export const isBetPoint = (row: JsonObject): boolean => "probAfter" in row && "createdTime" in row;

export function marketIdOfBet(bet: JsonObject): string {
  const answerId = textOf(bet.answerId);
  return answerId === null ? String(bet.contractId) : `${bet.contractId}:${answerId}`;
}

/** A bet's price is the mana per share; a negative amount sells. */
export function expectedBet(bet: JsonObject): ExpectedItem {
  if (bet.isRedemption === true) return leftOutItem(bet, "redemption");
  if (bet.isRebalance === true) return leftOutItem(bet, "rebalance");
  const { mana, shares } = filledNow(bet);
  if (mana === 0 || shares === 0) return leftOutItem(bet, "not_filled");
  const at = numberOf(bet.createdTime);
  const sidePrice = mana / shares;
  const isYes = bet.outcome === "YES";
  const yesPrice = tradablePrice(isYes ? sidePrice : 1 - sidePrice);
  if (yesPrice === null || at === null) return leftOutItem(bet, "price_out_of_range");
  const isBuy = mana > 0;
  return tradeItem(bet, { at, yesPrice, size: Math.abs(shares), takerSide: isYes === isBuy ? "yes" : "no" });
}

function filledNow(bet: JsonObject): { readonly mana: number; readonly shares: number } {
  if (numberOf(bet.limitProb) === null || !Array.isArray(bet.fills)) {
    return { mana: numberOf(bet.amount) ?? 0, shares: numberOf(bet.shares) ?? 0 };
  }
  const createdAt = numberOf(bet.createdTime) ?? 0;
  const fills = bet.fills
    .filter(isObject)
    .filter((fill) => (numberOf(fill.timestamp) ?? 0) <= createdAt + IMMEDIATE_MS);
  const sum = (field: string) => fills.reduce((total, fill) => total + (numberOf(fill[field]) ?? 0), 0);
  return { mana: sum("amount"), shares: sum("shares") };
}

/**
 * Prices at the ends of intervals: the probability after the last bet before the end. All bets count, also those of
 * siblings, which arrive as redemptions of 0 shares.
 */
export function expectedBins(
  bets: readonly JsonObject[],
  range: { readonly fromMs: number; readonly toMs: number; readonly intervalMs: number },
): ExpectedItem[] {
  const points = bets
    .map((bet) => ({
      at: numberOf(bet.createdTime) ?? 0,
      before: tradablePrice(bet.probBefore),
      after: tradablePrice(bet.probAfter),
    }))
    .filter(({ after }) => after !== null)
    .sort((a, b) => a.at - b.at);
  const items: ExpectedItem[] = [];
  for (let startAt = range.fromMs; startAt + range.intervalMs <= range.toMs; startAt += range.intervalMs) {
    const endAt = startAt + range.intervalMs;
    const current = points.findLast(({ at }) => at < endAt)?.after ?? points[0]?.before ?? null;
    if (current === null) continue;
    const facts = { at: time(endAt), yes_price: price(current) };
    items.push({ raw: { end: new Date(endAt).toISOString() }, leftOut: null, at: endAt, facts });
  }
  return items;
}

export interface BetMarket {
  readonly contractId: string;
  readonly answerId: string | null;
}

/** Markets of the bets in broadcasts. */
export function marketsOfBroadcasts(payload: unknown): BetMarket[] {
  const bets = recordedFramesOf(payload).flatMap(({ frame }) => betsOf(objectOf(parseFrame(frame))));
  const contracts = recordedFramesOf(payload).flatMap(({ frame }) => {
    const message = objectOf(parseFrame(frame));
    const id =
      message.topic === "global/updated-contract" ? textOf(objectOf(objectOf(message.data).contract).id) : null;
    return id === null ? [] : [{ contractId: id, answerId: null }];
  });
  const ofBets = bets.map((bet) => ({ contractId: String(bet.contractId), answerId: textOf(bet.answerId) }));
  const known = new Set(ofBets.map(({ contractId }) => contractId));
  const all = [...ofBets, ...contracts.filter(({ contractId }) => !known.has(contractId))];
  return [...new Map(all.map((market) => [`${market.contractId}:${market.answerId}`, market])).values()];
}

function betsOf(message: JsonObject): JsonObject[] {
  const { bets } = objectOf(message.data);
  return (Array.isArray(bets) ? bets : [bets]).filter(isObject);
}

/** @param subscribedTopics topics that the adapter subscribed to; the venue sends broadcasts of these topics only */
export function expectedManifoldStream(
  payload: unknown,
  markets: readonly BetMarket[],
  subscribedTopics: ReadonlySet<string>,
  capturedAt: number,
): ExpectedStream {
  const states = new QuoteStates();
  const frames = recordedFramesOf(payload).map(({ frame, receivedAt }): ExpectedFrame => {
    const message = objectOf(parseFrame(frame));
    const trades: ExpectedStreamTrade[] = [];
    const signals: ExpectedSignal[] = [];
    const topic = textOf(message.topic);
    let ignoredBecause: string | null = null;
    if (message.type !== "broadcast" || topic === null) ignoredBecause = "control_frame";
    else if (!subscribedTopics.has(topic)) ignoredBecause = "channel_not_subscribed";
    else if (topic === "global/new-bet") ignoredBecause = readBets(betsOf(message), states, trades);
    else if (topic === "global/updated-contract") ignoredBecause = readUpdate(message, markets, signals);
    else ignoredBecause = readNewContract(message, signals);
    const times = betsOf(message).map((bet) => numberOf(bet.createdTime) ?? 0);
    const at = receivedAt ?? Math.max(capturedAt, ...times);
    return {
      frame: message,
      receivedAt: at,
      isRecorded: true,
      ignoredBecause,
      quotes: states.takeUpdated(),
      trades,
      signals,
    };
  });
  return { frames, resubscriptionsMax: 0 };
}

function readBets(bets: readonly JsonObject[], states: QuoteStates, trades: ExpectedStreamTrade[]): string | null {
  for (const bet of bets) {
    const marketId = marketIdOfBet(bet);
    const item = expectedBet(bet);
    if (item.leftOut === null) trades.push({ marketId, item });
    const indicative = tradablePrice(bet.probAfter);
    if (indicative === null) continue;
    // A conversion of shares at an unchanged probability says nothing about the price.
    const isUnchanged = bet.isRedemption === true && bet.probBefore === bet.probAfter;
    const previous = states.get(marketId).indicative;
    const alternatives = isUnchanged ? { yes_price: oneOf(price(previous), price(indicative)) } : undefined;
    states.update(marketId, { indicative, alternatives });
  }
  return bets.length === 0 ? "message_not_used" : null;
}

function readUpdate(message: JsonObject, markets: readonly BetMarket[], signals: ExpectedSignal[]): string | null {
  const contract = objectOf(objectOf(message.data).contract);
  const isStatusChange = STATUS_FIELDS.some((field) => field in contract);
  const mayMatter = isStatusChange || "answers" in contract || "question" in contract;
  const own = markets.filter(({ contractId }) => contractId === contract.id);
  if (!mayMatter || own.length === 0) return "message_not_used";
  for (const { contractId, answerId } of own) {
    const marketId = answerId === null ? contractId : `${contractId}:${answerId}`;
    signals.push({ text: `changed ${marketId}`, isRequired: isStatusChange });
  }
  return null;
}

function readNewContract(message: JsonObject, signals: ExpectedSignal[]): string | null {
  const contract = objectOf(objectOf(message.data).contract);
  if (message.topic !== "global/new-contract" || !isContract(contract)) return "message_not_used";
  const isBinary = contract.outcomeType === "BINARY";
  const ids = isBinary
    ? [String(contract.id)]
    : hasAnswerMarkets(contract)
      ? answersOf(contract).map((answer) => `${contract.id}:${answer.id}`)
      : [];
  const isRequired = isBinary || contract.outcomeType === "MULTIPLE_CHOICE";
  for (const id of ids) signals.push({ text: `listed ${id}`, isRequired });
  return ids.length === 0 ? "not_binary" : null;
}
