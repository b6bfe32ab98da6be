/** What Polymarket's market, event and resolution rows mean. */
import { amount, containing, type Expectation, type Expected, exactly, namingFirst, oneOf } from "../expectation.ts";
import { isObject, isoTimeOf, type JsonObject, listOf, numberOf, objectOf, textOf } from "../json.ts";
import {
  type ExpectedMarket,
  type ExpectedStatus,
  leftOutMarket,
  outcome,
  quoteFacts,
  settledAt,
  takerFee,
  timeFact,
} from "./market.ts";
import { displayedPrice, isCrossed, tradablePrice } from "./price.ts";

const PAYOUT_UNIT = 1_000_000;
const SECOND_MS = 1_000;

export const isGammaMarket = (row: JsonObject): boolean =>
  typeof row.question === "string" && ("outcomes" in row || "clobTokenIds" in row || "conditionId" in row);
export const isGammaEvent = (row: JsonObject): boolean => typeof row.title === "string" && Array.isArray(row.markets);

export interface PolymarketRelated {
  /** The event around the row, or the short event inside it; null if there is none. */
  readonly event: JsonObject | null;
  /** Number of markets of the event; null if only the short event is recorded. */
  readonly marketsInEvent: number | null;
  /** The row of `/v2/resolutions`; null if none is recorded. */
  readonly resolution: JsonObject | null;
  readonly capturedAt: number;
}

export function expectedPolymarketMarket(row: JsonObject, related: PolymarketRelated): ExpectedMarket {
  const id = String(row.id);
  const reason = leftOutReason(row);
  if (reason !== null) return leftOutMarket(id, row, reason);
  const resolution = meaningOfResolution(related.resolution);
  const status = statusOf(row, resolution.status);
  const rawTop = { bid: tradablePrice(row.bestBid), ask: tradablePrice(row.bestAsk) };
  const isTrading = status === "active";
  const top = isTrading && !isCrossed(rawTop) ? rawTop : { bid: null, ask: null };
  const quote = { ...top, bidSize: null, askSize: null, last: tradablePrice(row.lastTradePrice) };
  return {
    id,
    raw: row,
    leftOut: null,
    isListed: row.closed === true ? false : related.event === null ? null : true,
    isUnpriced: displayedPrice(quote) === null,
    facts: {
      event_id: exactly(related.event === null ? null : String(related.event.id)),
      ...nameFacts(row),
      status: statusFact(row, status),
      outcome: outcomeFact(row, status, resolution),
      ...quoteFacts(quote),
      volume_24h: amount(numberOf(row.volume24hr)),
      volume_total: amount(numberOf(row.volumeNum) ?? numberOf(row.volume)),
      liquidity: amount(numberOf(row.liquidityNum) ?? numberOf(row.liquidity)),
      open_interest: openInterestFact(related),
      price_ranges: exactly(evenRanges(numberOf(row.orderPriceMinTickSize))),
      min_order_contracts: exactly(numberOf(row.orderMinSize)),
      protocol_version: exactly(textOf(row.version)),
      ...feeFacts(row),
      close_time: timeFact(isoTimeOf(row.endDate)),
      ...(status === "finalized"
        ? { resolved_time: timeFact(resolution.resolvedAt ?? isoTimeOf(row.closedTime)) }
        : {}),
      ...eventFacts(related),
    },
  };
}

const evenRanges = (tick: number | null) => (tick === null ? null : [[0, 1, tick]]);

/** Only questions with two outcomes and their two tokens are markets here. */
function leftOutReason(row: JsonObject): string | null {
  // "Other" changes its meaning whenever an outcome is added.
  if (row.negRiskOther === true) return "other_outcome";
  const outcomes = listOf(row.outcomes);
  // Protocol V2 names outcomes by position ids and has no token ids.
  const tokens = listOf(row.clobTokenIds ?? row.positionIds);
  const isBinary = (outcomes.length === 2 || outcomes.length === 0) && tokens.length === 2;
  return isBinary && textOf(row.conditionId) !== null ? null : "not_binary";
}

/**
 * Text that says which side YES is. YES is the first outcome. Where the outcomes are not Yes and No, `groupItemTitle` is
 * often the kind of market ("Match Winner"), so the label itself must name the first outcome.
 */
function nameFacts(row: JsonObject): Expected {
  const [first, second] = listOf(row.outcomes).map((name) => textOf(name) ?? "");
  const question = { title: containing(String(row.question)) };
  if (first === undefined || second === undefined) return question;
  if (first.toLowerCase() === "yes") {
    const groupTitle = textOf(row.groupItemTitle);
    return { ...question, title_and_label: containing(...(groupTitle === null ? [] : [groupTitle])) };
  }
  return { ...question, label: namingFirst(first, second) };
}

type Settlement = {
  readonly status: ExpectedStatus | null;
  readonly value: number | null;
  readonly resolvedAt: number | null;
};

/** Status and value of the YES contract by the resolutions endpoint. */
function meaningOfResolution(row: JsonObject | null): Settlement {
  const state = textOf(row?.status);
  const resolvedSeconds = numberOf(row?.resolved_at);
  const resolvedAt = resolvedSeconds === null ? isoTimeOf(row?.resolved_at) : resolvedSeconds * SECOND_MS;
  if (state === "resolved") {
    const yes = numberOf(listOf(row?.payouts)[0]);
    return { status: "finalized", value: yes === null ? null : yes / PAYOUT_UNIT, resolvedAt };
  }
  // A proposal is not a result, contested or not.
  const isPending = ["proposed", "reproposed", "challenged", "disputed", "arbitration"].includes(state ?? "");
  return { status: isPending ? "determined" : null, value: null, resolvedAt: null };
}

/** Value of the YES contract by final prices, which are exactly 0 and 1 or both 0.5; null for other prices. */
function valueOfPrices(row: JsonObject): number | null {
  const [yes, no] = listOf(row.outcomePrices).map(numberOf);
  if (typeof yes !== "number" || typeof no !== "number") return null;
  const isFinal = (yes === 1 && no === 0) || (yes === 0 && no === 1) || (yes === 0.5 && no === 0.5);
  return isFinal ? yes : null;
}

function statusOf(row: JsonObject, resolutionStatus: ExpectedStatus | null): ExpectedStatus {
  const rowStatus = (
    textOf(row.umaResolutionStatus) ??
    textOf(listOf(row.umaResolutionStatuses).at(-1)) ??
    ""
  ).toLowerCase();
  const isClosed = row.closed === true || row.archived === true;
  if (resolutionStatus === "finalized") return "finalized";
  const isPending = resolutionStatus === "determined" || rowStatus === "proposed" || rowStatus === "disputed";
  if (isPending) return !isClosed && row.active !== false && row.acceptingOrders === true ? "active" : "determined";
  if (rowStatus === "resolved" || rowStatus === "settled") return isClosed ? "finalized" : "determined";
  if (isClosed) return row.closed === true && rowStatus === "" && valueOfPrices(row) !== null ? "finalized" : "closed";
  if (row.active === false) return "pending";
  return row.acceptingOrders === false ? "closed" : "active";
}

/** The venue does not distinguish a market that is about to open from one that no longer accepts orders. */
function statusFact(row: JsonObject, status: ExpectedStatus): Expectation {
  const mayBePending = status === "closed" && row.closed !== true && row.archived !== true;
  return mayBePending ? oneOf(exactly(status), exactly("pending")) : exactly(status);
}

function outcomeFact(row: JsonObject, status: ExpectedStatus, resolution: Settlement): Expectation {
  if (status !== "finalized") return outcome(null);
  const value = resolution.value ?? valueOfPrices(row);
  return value === null ? outcome(null) : settledAt(value);
}

/** The venue publishes open interest of events; it is the market's if the event has no other. */
function openInterestFact({ event, marketsInEvent }: PolymarketRelated): Expectation {
  const ofEvent = amount(numberOf(event?.openInterest));
  if (marketsInEvent === 1) return oneOf(ofEvent, exactly(null));
  return marketsInEvent === null ? oneOf(exactly(null), ofEvent) : exactly(null);
}

function feeFacts(row: JsonObject): Expected {
  if (row.feesEnabled === false) return takerFee(() => 0);
  const schedule = row.feeSchedule;
  if (!isObject(schedule)) return row.feesEnabled === true ? takerFee(null) : {};
  const rate = numberOf(schedule.rate) ?? 0;
  const exponent = numberOf(schedule.exponent) ?? 1;
  return takerFee((at) => rate * (at * (1 - at)) ** exponent);
}

/** `negRisk` means that exactly one market wins; an augmented event may get more markets. */
function eventFacts({ event }: PolymarketRelated): Expected {
  if (event === null || typeof event.negRisk !== "boolean") return {};
  const isExclusive = event.negRisk;
  return {
    event_title: containing(String(event.title)),
    mutually_exclusive:
      event.enableNegRisk === !isExclusive ? oneOf(exactly(true), exactly(false)) : exactly(isExclusive),
    exhaustive: exactly(isExclusive && event.negRiskAugmented !== true),
  };
}

/** Returns the first event that a market row contains. It lacks most fields. */
export function shortEventOf(row: JsonObject): JsonObject | null {
  const first = listOf(row.events)[0];
  return isObject(first) ? objectOf(first) : null;
}
