/** What the test oracle expects of the frames of a stream. */
import { amount, type Expected, exactly, oneOf, price } from "../expectation.ts";
import { isObject, type JsonObject, numberOf } from "../json.ts";
import type { ExpectedItem } from "./data.ts";
import { displayedPrice } from "./price.ts";

/** A signal that a market changed or was listed, for example "changed KX-A". */
export interface ExpectedSignal {
  readonly text: string;
  /** False if the documents do not say whether the frame is such a signal. */
  readonly isRequired: boolean;
}

export interface ExpectedStreamTrade {
  readonly marketId: string;
  readonly item: ExpectedItem;
}

/** What one frame must cause. */
export interface ExpectedFrame {
  readonly frame: unknown;
  /** Clock when the frame is sent, Unix milliseconds. */
  readonly receivedAt: number;
  /** False for the book that a subscription returns if the recording does not contain it. */
  readonly isRecorded: boolean;
  /** Why the frame has no effect; null if it has one. Documented in README.md. */
  readonly ignoredBecause: string | null;
  /** Expected quotes after the frame of the markets that it quotes, as the sum of all messages. */
  readonly quotes: ReadonlyMap<string, Expected>;
  readonly trades: readonly ExpectedStreamTrade[];
  readonly signals: readonly ExpectedSignal[];
}

export interface ExpectedStream {
  readonly frames: readonly ExpectedFrame[];
  /** Subscriptions after the first that the recording justifies, for example by a lost message. */
  readonly resubscriptionsMax: number;
}

/** The expected quote of a market. */
export interface StreamQuote {
  readonly bid: number | null;
  readonly ask: number | null;
  /** undefined if the recording does not contain the level. */
  readonly bidSize?: number | null;
  readonly askSize?: number | null;
  /** Whether the size may be unknown (null) until the next frame. */
  readonly mayLackBidSize?: boolean;
  readonly mayLackAskSize?: boolean;
  readonly last: number | null;
  /** Other last prices that an adapter may have kept. */
  readonly otherLasts?: readonly (number | null)[];
  readonly indicative: number | null;
  /** Fields whose values the documents do not decide. */
  readonly alternatives?: Expected;
}

export const EMPTY_STREAM_QUOTE: StreamQuote = { bid: null, ask: null, last: null, indicative: null };

/** Keeps the expected quote of each market while frames are read. */
export class QuoteStates {
  readonly #states = new Map<string, StreamQuote>();
  #updatedIds = new Set<string>();

  get(marketId: string): StreamQuote {
    return this.#states.get(marketId) ?? EMPTY_STREAM_QUOTE;
  }

  /** Replaces the named fields. Alternatives last until the next update. A stated last price has no other. */
  update(marketId: string, fields: Partial<StreamQuote>): void {
    this.#updatedIds.add(marketId);
    const kept = fields.last === undefined ? {} : { otherLasts: undefined };
    this.#states.set(marketId, { ...this.get(marketId), alternatives: undefined, ...kept, ...fields });
  }

  /** Returns the expected fields of the markets updated since the last call. */
  takeUpdated(): ReadonlyMap<string, Expected> {
    const updatedIds = this.#updatedIds;
    this.#updatedIds = new Set();
    return new Map([...updatedIds].map((marketId) => [marketId, detailsOf(this.get(marketId))]));
  }
}

function detailsOf(quote: StreamQuote): Expected {
  const lastPrices = [quote.last, ...(quote.otherLasts ?? [])];
  return {
    bid: price(quote.bid),
    ask: price(quote.ask),
    ...sizeFact("bid_size", quote.bidSize, quote.mayLackBidSize),
    ...sizeFact("ask_size", quote.askSize, quote.mayLackAskSize),
    last_price: oneOf(...lastPrices.map(price)),
    yes_price: oneOf(...lastPrices.map((last) => price(displayedPrice({ ...quote, last })))),
    ...quote.alternatives,
  };
}

function sizeFact(name: string, size: number | null | undefined, mayLack: boolean | undefined): Expected {
  if (size === undefined) return {};
  return { [name]: mayLack === true ? oneOf(amount(size, 1e-6), exactly(null)) : amount(size, 1e-6) };
}

export interface RecordedFrame {
  readonly frame: unknown;
  /** When the recorder received the frame, Unix milliseconds; null if it is not recorded. */
  readonly receivedAt: number | null;
}

/** Lists the frames of a recording. A recorder may have stored them with their time: `{received_ms, frame}`. */
export function recordedFramesOf(payload: unknown): RecordedFrame[] {
  const { frames, messages } = isObject(payload) ? (payload as JsonObject) : {};
  const list = [payload, frames, messages].find(Array.isArray) ?? [payload];
  return list.map((item: unknown) => {
    if (!isObject(item) || !("frame" in item)) return { frame: item, receivedAt: null };
    return { frame: item.frame, receivedAt: numberOf(item.received_ms) ?? numberOf(item.received_at) };
  });
}

/** Parses a frame that was recorded as text. Text that is not JSON is returned unchanged. */
export function parseFrame(frame: unknown): unknown {
  if (typeof frame !== "string") return frame;
  try {
    return JSON.parse(frame);
  } catch {
    return frame;
  }
}
