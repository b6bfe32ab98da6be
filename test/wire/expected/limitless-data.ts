/** What Limitless' books, trades, price histories and frames mean. */
import { oneOf, price, time } from "../expectation.ts";
import { collect, isObject, type JsonObject, listOf, numberOf, objectOf, textOf } from "../json.ts";
import { type ExpectedBook, type ExpectedItem, type Level, leftOutItem, orderedBook, tradeItem } from "./data.ts";
import { limitlessTimeOf, PLACEHOLDER_ASK, PLACEHOLDER_BID } from "./limitless-markets.ts";
import { complementOf, displayedPrice, tradablePrice } from "./price.ts";
import {
  type ExpectedFrame,
  type ExpectedSignal,
  type ExpectedStream,
  parseFrame,
  QuoteStates,
  recordedFramesOf,
} from "./stream.ts";

/** Raw sizes are integers with six implied decimals. */
const RAW_UNIT = 1e6;
/** Levels this close to 0 or 1 on both sides are the venue's own last orders, not a market. */
const STUB_BID_MAX = 0.002;
const STUB_ASK_MIN = 0.998;

export interface NamedPayload {
  readonly slug: string;
  readonly body: unknown;
}

/** A recorder may have stored the slug beside the response: `{slug, body}` or `{slug, book}`. */
export function namedPayloadsOf(payload: unknown): NamedPayload[] {
  if (Array.isArray(payload) && payload.length > 0 && payload.every((item) => isObject(item) && "slug" in item)) {
    return payload.flatMap(namedPayloadsOf);
  }
  if (!isObject(payload) || typeof payload.slug !== "string") return [{ slug: "recorded-market", body: payload }];
  return [
    { slug: payload.slug, body: payload.body ?? payload.book ?? payload.orderbook ?? payload.response ?? payload },
  ];
}

export const isBookBody = (row: JsonObject): boolean => Array.isArray(row.bids) && Array.isArray(row.asks);

export function expectedLimitlessBook(body: JsonObject): ExpectedBook {
  return orderedBook(levelsOf(body.bids), levelsOf(body.asks), tradablePrice(body.lastTradePrice));
}

function levelsOf(rows: unknown): Level[] {
  return listOf(rows).flatMap((row) => {
    const level = objectOf(row);
    const levelPrice = tradablePrice(level.price);
    const raw = numberOf(level.size);
    return levelPrice === null || raw === null || raw <= 0 ? [] : [{ price: levelPrice, size: raw / RAW_UNIT }];
  });
}

/** Sizes at 0.001 and 0.999 are no depth by the venue's documents, so an adapter may leave these levels out. */
export function withoutPlaceholderLevels(levels: readonly Level[]): Level[] {
  return levels.filter((level) => level.price > PLACEHOLDER_BID && level.price < PLACEHOLDER_ASK);
}

export function isStub(bid: number | null, ask: number | null): boolean {
  return bid !== null && ask !== null && bid <= STUB_BID_MAX && ask >= STUB_ASK_MIN;
}

export const isClobTrade = (row: JsonObject): boolean => "matchedSize" in row && "price" in row;
export const isFeedTrade = (row: JsonObject): boolean => isObject(row.data) && "contracts" in row.data;

/** Trades name a token. NO at p is YES at 1 - p; side 0 buys the token and 1 sells it. */
export function expectedClobTrade(row: JsonObject, noToken: string | null): ExpectedItem {
  const tokenPrice = tradablePrice(row.price);
  const raw = numberOf(row.matchedSize);
  const at = limitlessTimeOf(row.createdAt);
  if (tokenPrice === null) return leftOutItem(row, "price_out_of_range");
  if (raw === null || raw <= 0 || at === null) return leftOutItem(row, "bad_trade_row");
  const isNo = row.tokenId === noToken;
  const side = numberOf(row.side);
  const isBuy = side === 0;
  return tradeItem(row, {
    at,
    yesPrice: isNo ? complementOf(tokenPrice) : tokenPrice,
    size: raw / RAW_UNIT,
    takerSide: side !== 0 && side !== 1 ? null : isNo === isBuy ? "no" : "yes",
  });
}

/** Trades of a market maker: the price is the amount paid per contract. */
export function expectedFeedTrade(row: JsonObject): ExpectedItem {
  const data = objectOf(row.data);
  const size = numberOf(data.contracts);
  const paid = numberOf(data.tradeAmountUSD);
  const at = limitlessTimeOf(row.createdAt);
  if (size === null || size <= 0 || paid === null || at === null) return leftOutItem(row, "bad_trade_row");
  const tokenPrice = tradablePrice(paid / size);
  if (tokenPrice === null) return leftOutItem(row, "price_out_of_range");
  const isNo = data.outcome === "NO";
  const strategy = textOf(data.strategy)?.toLowerCase();
  const isBuy = strategy === "buy";
  return tradeItem(row, {
    at,
    yesPrice: isNo ? complementOf(tokenPrice) : tokenPrice,
    size,
    takerSide: strategy !== "buy" && strategy !== "sell" ? null : isNo === isBuy ? "no" : "yes",
  });
}

const isPoint = (row: JsonObject): boolean => "timestamp" in row && "price" in row;

/** Points oldest first. A response may have one series per token; only the YES series is the market's. */
export function limitlessPointsOf(body: unknown): JsonObject[] {
  const series = collect(body, (row) => Array.isArray(row.prices));
  const yesSeries = series.find((row) => textOf(row.title)?.toLowerCase().startsWith("yes")) ?? series[0];
  const points = yesSeries === undefined ? collect(body, isPoint) : collect(yesSeries.prices, isPoint);
  return points.toSorted((a, b) => (limitlessTimeOf(a.timestamp) ?? 0) - (limitlessTimeOf(b.timestamp) ?? 0));
}

export function expectedLimitlessHistory(points: readonly JsonObject[], intervalMs: number): ExpectedItem[] {
  const isPercent = points.filter((point) => (numberOf(point.price) ?? 0) > 1).length > points.length / 2;
  return points.map((point) => {
    const number = numberOf(point.price);
    const pointPrice = tradablePrice(number === null ? null : isPercent ? number / 100 : number);
    const at = limitlessTimeOf(point.timestamp);
    if (pointPrice === null || at === null) return leftOutItem(point, "price_out_of_range");
    return { raw: point, leftOut: null, at, facts: { at: time(at, intervalMs - 1), yes_price: price(pointPrice) } };
  });
}

/** An event of the Socket.IO namespace, recorded as `{event, payload}`, `[event, payload]` or raw text. */
export interface SocketEvent {
  readonly event: string;
  readonly payload: unknown;
}

export function socketEventOf(frame: unknown): SocketEvent | null {
  if (typeof frame === "string") {
    const start = frame.indexOf("[");
    return start < 0 ? null : socketEventOf(parseFrame(frame.slice(start)));
  }
  if (Array.isArray(frame)) return typeof frame[0] === "string" ? { event: frame[0], payload: frame[1] } : null;
  if (!isObject(frame)) return null;
  const event = textOf(frame.event) ?? textOf(frame.type);
  return event === null ? null : { event, payload: frame.payload ?? frame.data };
}

export interface FollowedIds {
  readonly slugs: readonly string[];
  readonly addresses: readonly string[];
}

export function idsOfEvents(payload: unknown): FollowedIds {
  const payloads = recordedFramesOf(payload).map(({ frame }) => objectOf(socketEventOf(frame)?.payload));
  const named = (field: string) => payloads.flatMap((each) => textOf(each[field]) ?? []);
  const addresses = payloads
    .filter((each) => "updatedPrices" in each)
    .flatMap((each) => textOf(each.marketAddress) ?? []);
  return { slugs: [...new Set(named("marketSlug"))], addresses: [...new Set(addresses)] };
}

export function expectedLimitlessStream(payload: unknown, capturedAt: number): ExpectedStream {
  const states = new QuoteStates();
  const resolvedSlugs = new Set<string>();
  const frames = recordedFramesOf(payload).map(({ frame, receivedAt }): ExpectedFrame => {
    const socketEvent = socketEventOf(frame);
    const body = objectOf(socketEvent?.payload);
    const signals: ExpectedSignal[] = [];
    const ignoredBecause = readEvent(socketEvent?.event ?? "", body, states, signals, resolvedSlugs);
    const at = receivedAt ?? Math.max(capturedAt, limitlessTimeOf(body.timestamp) ?? 0);
    const quotes = states.takeUpdated();
    return { frame: socketEvent, receivedAt: at, isRecorded: true, ignoredBecause, quotes, trades: [], signals };
  });
  return { frames, resubscriptionsMax: 0 };
}

function readEvent(
  event: string,
  body: JsonObject,
  states: QuoteStates,
  signals: ExpectedSignal[],
  resolvedSlugs: Set<string>,
): string | null {
  if (event === "orderbookUpdate") {
    readBook(body, states);
    return null;
  }
  if (event === "newPriceData") return readPrice(body, states);
  if (event === "marketCreated") {
    signals.push({ text: `listed ${body.slug}`, isRequired: true });
    return null;
  }
  if (event !== "marketResolved") return event === "system" ? "control_frame" : "message_not_used";
  const slug = String(body.slug);
  // The lifecycle room and the market room both send the resolution.
  if (resolvedSlugs.has(slug)) return "repeated_message";
  resolvedSlugs.add(slug);
  signals.push({ text: `changed ${slug}`, isRequired: true });
  return null;
}

/** Every frame is a complete book. Orders at 0.001 and 0.999, and a stub, give no price and may be shown or not. */
function readBook(body: JsonObject, states: QuoteStates): void {
  const book = expectedLimitlessBook(objectOf(body.orderbook));
  const [bid, ask] = [book.bids[0] ?? null, book.asks[0] ?? null];
  const marketId = String(body.marketSlug);
  const last = book.last ?? states.get(marketId).last;
  const top = { bid: bid?.price ?? null, ask: ask?.price ?? null };
  const sizes = { bidSize: bid?.size ?? null, askSize: ask?.size ?? null };
  const isBidDoubtful = isStub(top.bid, top.ask) || top.bid === PLACEHOLDER_BID;
  const isAskDoubtful = isStub(top.bid, top.ask) || top.ask === PLACEHOLDER_ASK;
  const bids = isBidDoubtful ? [top.bid, null] : [top.bid];
  const asks = isAskDoubtful ? [top.ask, null] : [top.ask];
  const yesPrices = bids.flatMap((each) => asks.map((other) => displayedPrice({ bid: each, ask: other, last })));
  const alternatives = {
    bid: oneOf(...bids.map(price)),
    ask: oneOf(...asks.map(price)),
    yes_price: oneOf(...yesPrices.map(price)),
  };
  const mayLack = { mayLackBidSize: isBidDoubtful, mayLackAskSize: isAskDoubtful };
  states.update(marketId, { ...top, ...sizes, ...mayLack, last, alternatives });
}

function readPrice(body: JsonObject, states: QuoteStates): string | null {
  const { updatedPrices, marketAddress } = body;
  const entry = Array.isArray(updatedPrices)
    ? (updatedPrices.map(objectOf).find((each) => each.marketAddress === marketAddress) ?? objectOf(updatedPrices[0]))
    : objectOf(updatedPrices);
  const indicative = tradablePrice(entry.yesPrice ?? entry.yes);
  if (indicative === null) return "price_out_of_range";
  states.update(String(marketAddress), { indicative });
  return null;
}
