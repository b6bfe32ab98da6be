/**
 * Open markets in the venues' own form, for recordings of books, trades, histories and frames: the adapter must know a
 * market before it can read its data. Their values are invented and not compared.
 */
import type { JsonObject } from "../json.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;

const iso = (at: number) => new Date(at).toISOString();

export function sampleKalshiMarket(ticker: string, now: number, eventTicker = `${ticker}-EVENT`): JsonObject {
  return {
    ticker,
    event_ticker: eventTicker,
    market_type: "binary",
    status: "active",
    result: "",
    title: `Question ${ticker}`,
    yes_sub_title: "Outcome",
    open_time: iso(now - YEAR_MS),
    close_time: iso(now + YEAR_MS),
    latest_expiration_time: iso(now + YEAR_MS),
    yes_bid_dollars: "0.4000",
    yes_bid_size_fp: "1.00",
    yes_ask_dollars: "0.4200",
    yes_ask_size_fp: "1.00",
    last_price_dollars: "0.4100",
    volume_fp: "0.00",
    volume_24h_fp: "0.00",
    open_interest_fp: "0.00",
    price_level_structure: "linear_cent",
    price_ranges: [{ start: "0.0000", end: "1.0000", step: "0.0100" }],
  };
}

export interface SampleTokens {
  readonly yes: string;
  readonly no: string;
}

export function samplePolymarketMarket(id: string, conditionId: string, tokens: SampleTokens, now: number): JsonObject {
  return {
    id,
    question: `Question ${id}`,
    conditionId,
    slug: `question-${id}`,
    outcomes: '["Yes", "No"]',
    outcomePrices: '["0.41", "0.59"]',
    clobTokenIds: JSON.stringify([tokens.yes, tokens.no]),
    active: true,
    closed: false,
    archived: false,
    acceptingOrders: true,
    startDate: iso(now - YEAR_MS),
    endDate: iso(now + YEAR_MS),
    bestBid: 0.4,
    bestAsk: 0.42,
    orderPriceMinTickSize: 0.001,
    feesEnabled: false,
    events: [{ id: `1${id}`, title: `Event ${id}`, slug: `event-${id}`, negRisk: false }],
  };
}

export function sampleLimitlessMarket(slug: string, tokens: SampleTokens, now: number): JsonObject {
  return {
    slug,
    title: `Question ${slug}`,
    status: "FUNDED",
    tradeType: "clob",
    marketType: "single",
    collateralToken: { symbol: "USDC", decimals: 6 },
    expirationTimestamp: now + YEAR_MS,
    createdAt: iso(now - YEAR_MS),
    tokens,
    prices: [0.41, 0.59],
    tradePrices: { buy: { market: [0.42, 0.6] }, sell: { market: [0.4, 0.58] } },
    metadata: { fee: true },
    volume: "1000000",
    volumeFormatted: "1.000000",
  };
}

/** A market of a market maker, which is identified by its address. */
export function sampleLimitlessAmm(address: string, now: number): JsonObject {
  const slug = `amm-${address.toLowerCase()}`;
  return { ...sampleLimitlessMarket(slug, { yes: "1", no: "2" }, now), tradeType: "amm", address, tokens: null };
}

export function sampleManifoldContract(id: string, answerIds: readonly string[], now: number): JsonObject {
  const shared = {
    id,
    question: `Question ${id}`,
    createdTime: now - YEAR_MS,
    closeTime: now + YEAR_MS,
    isResolved: false,
    url: `https://manifold.markets/someone/${id}`,
  };
  if (answerIds.length === 0) return { ...shared, outcomeType: "BINARY", probability: 0.41 };
  const probability = 1 / (answerIds.length + 1);
  const answers = answerIds.map((answerId) => ({ id: answerId, text: `Answer ${answerId}`, probability }));
  return { ...shared, outcomeType: "MULTIPLE_CHOICE", shouldAnswersSumToOne: true, answers };
}
