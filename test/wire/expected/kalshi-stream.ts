/** What the frames of Kalshi's WebSocket mean. */
import { isObject, type JsonObject, numberOf, objectOf, textOf } from "../json.ts";
import { expectedKalshiTrade } from "./kalshi-data.ts";
import { sizeOf } from "./kalshi-markets.ts";
import { isCrossed, tradablePrice } from "./price.ts";
import {
  type ExpectedFrame,
  type ExpectedSignal,
  type ExpectedStream,
  type ExpectedStreamTrade,
  parseFrame,
  QuoteStates,
  recordedFramesOf,
} from "./stream.ts";

/** Channel of each type of message. Other types are replies to commands. */
export const KALSHI_CHANNELS: Readonly<Record<string, string>> = {
  ticker: "ticker",
  trade: "trade",
  market_lifecycle_v2: "market_lifecycle_v2",
  event_lifecycle: "market_lifecycle_v2",
  event_fee_update: "market_lifecycle_v2",
  orderbook_snapshot: "orderbook_delta",
  orderbook_delta: "orderbook_delta",
};

/** Returns the tickers that the frames name, in order. */
export function tickersOfFrames(payload: unknown): string[] {
  const tickers = recordedFramesOf(payload).flatMap(({ frame }) => {
    const parsed = parseFrame(frame);
    return (isObject(parsed) ? textOf(objectOf(parsed.msg).market_ticker) : null) ?? [];
  });
  return [...new Set(tickers)];
}

/** @param subscribedChannels channels that the adapter subscribed to; the venue sends frames of these channels only */
export function expectedKalshiStream(
  payload: unknown,
  subscribedChannels: ReadonlySet<string>,
  capturedAt: number,
): ExpectedStream {
  const states = new QuoteStates();
  const lastSeqByChannel = new Map<string, number>();
  let gaps = 0;
  const frames = recordedFramesOf(payload).map(({ frame, receivedAt }): ExpectedFrame => {
    const parsed = objectOf(parseFrame(frame));
    const message = objectOf(parsed.msg);
    const channel = KALSHI_CHANNELS[String(parsed.type)];
    const trades: ExpectedStreamTrade[] = [];
    const signals: ExpectedSignal[] = [];
    let ignoredBecause: string | null = null;
    if (channel === undefined) ignoredBecause = "control_frame";
    else if (!subscribedChannels.has(channel)) ignoredBecause = "channel_not_subscribed";
    else {
      const order = orderOf(parsed.seq, channel, lastSeqByChannel);
      if (order === "gap") gaps += 1;
      if (order === "repeated") ignoredBecause = "message_repeated";
      else if (parsed.type === "ticker") readTicker(message, states);
      else if (parsed.type === "trade") ignoredBecause = readTrade(message, trades);
      else if (parsed.type === "market_lifecycle_v2") signals.push(signalOf(message));
      else ignoredBecause = "message_not_used";
    }
    const at = receivedAt ?? Math.max(capturedAt, numberOf(message.ts_ms) ?? 0);
    return {
      frame: parsed,
      receivedAt: at,
      isRecorded: true,
      ignoredBecause,
      quotes: states.takeUpdated(),
      trades,
      signals,
    };
  });
  return { frames, resubscriptionsMax: gaps };
}

/** `seq` increases by one per subscription. */
function orderOf(seq: unknown, channel: string, lastSeqByChannel: Map<string, number>): "next" | "repeated" | "gap" {
  if (typeof seq !== "number") return "next";
  const last = lastSeqByChannel.get(channel);
  lastSeqByChannel.set(channel, seq);
  if (last === undefined || seq === last + 1) return "next";
  return seq === last ? "repeated" : "gap";
}

function readTicker(message: JsonObject, states: QuoteStates): void {
  const rawTop = { bid: tradablePrice(message.yes_bid_dollars), ask: tradablePrice(message.yes_ask_dollars) };
  const top = isCrossed(rawTop) ? { bid: null, ask: null } : rawTop;
  const last = tradablePrice(message.price_dollars);
  states.update(String(message.market_ticker), {
    ...top,
    bidSize: top.bid === null ? null : sizeOf(message.yes_bid_size_fp),
    askSize: top.ask === null ? null : sizeOf(message.yes_ask_size_fp),
    // The price is 0 in a market without a trade.
    ...(last === null ? {} : { last }),
  });
}

function readTrade(message: JsonObject, trades: ExpectedStreamTrade[]): string | null {
  const item = expectedKalshiTrade(message);
  if (item.leftOut === null) trades.push({ marketId: String(message.market_ticker), item });
  return item.leftOut;
}

function signalOf(message: JsonObject): ExpectedSignal {
  const kind = message.event_type === "created" ? "listed" : "changed";
  return { text: `${kind} ${message.market_ticker}`, isRequired: true };
}
