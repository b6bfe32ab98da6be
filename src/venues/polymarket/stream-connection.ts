import type { MarketListing } from "../../domain/market.ts";
import type { StreamHandlers } from "../../ports/venue.ts";
import { openReconnectingSocket, type ReconnectingSocket } from "../shared/reconnecting-socket.ts";
import { StallDetector } from "../shared/stall-detector.ts";
import type { PolymarketPorts } from "./client.ts";
import { type BookFault, OrderBookTracker } from "./order-book-tracker.ts";
import type { TokenPair } from "./parse-trades.ts";
import {
  isAnyMessage,
  isAssetMessage,
  isNewMarketMessage,
  isPriceChange,
  isPriceChangeMessage,
  isResolvedMessage,
} from "./wire.ts";

const HEARTBEAT_MS = 10_000;
/** Maximum silence: two unanswered heartbeats and a margin. */
const SILENCE_MS_MAX = 25_000;
/** Minimum time between two snapshot requests for a market with an inconsistent book. */
const REFRESH_MS_MIN = 5_000;
/** Maximum number of changes of an invalid message that are checked for drift. */
const CHECKED_CHANGES_MAX = 100;
/** Matches frames that are not JSON: upper-case text such as PONG or NO NEW ASSETS. */
const PLAIN_TEXT_PATTERN = /^[A-Z\s]*$/;

export interface StreamOptions {
  readonly ports: Pick<PolymarketPorts, "sockets" | "clock" | "random" | "countDrop" | "driftDetectors">;
  readonly wsUrl: string;
  readonly handlers: StreamHandlers;
}

export function tokensOf({ venueKeys }: Pick<MarketListing, "venueKeys">): TokenPair | null {
  const { tokenYes, tokenNo } = venueKeys;
  return tokenYes === undefined || tokenNo === undefined ? null : { tokenYes, tokenNo };
}

/** One WebSocket connection and its markets. Both tokens of a market are subscribed on the same connection. */
export class StreamConnection {
  readonly #options: StreamOptions;
  readonly #trackers = new Map<string, OrderBookTracker>();
  readonly #trackerByToken = new Map<string, OrderBookTracker>();
  readonly #refreshedAt = new Map<string, number>();
  readonly #stallDetector: StallDetector;
  #socket: ReconnectingSocket | null = null;
  #isUp = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#stallDetector = new StallDetector(options.ports.clock);
  }

  /** Number of markets on this connection. */
  get size(): number {
    return this.#trackers.size;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  add(markets: readonly MarketListing[]): void {
    const tokens: string[] = [];
    for (const market of markets) {
      const pair = tokensOf(market);
      if (pair === null) continue;
      const tracker = new OrderBookTracker(market.marketId, pair, this.#options.ports.countDrop);
      this.#trackers.set(market.marketId, tracker);
      for (const token of [pair.tokenYes, pair.tokenNo]) {
        this.#trackerByToken.set(token, tracker);
        tokens.push(token);
      }
    }
    if (tokens.length > 0 && this.#isUp) this.#subscribe(tokens);
  }

  remove(marketId: string): void {
    const tracker = this.#trackers.get(marketId);
    if (tracker === undefined) return;
    const tokens = [tracker.tokens.tokenYes, tracker.tokens.tokenNo];
    this.#trackers.delete(marketId);
    this.#refreshedAt.delete(marketId);
    for (const token of tokens) this.#trackerByToken.delete(token);
    if (this.#isUp) this.#unsubscribe(tokens);
  }

  open(): void {
    const { ports, wsUrl, handlers } = this.#options;
    this.#socket = openReconnectingSocket({
      sockets: ports.sockets,
      clock: ports.clock,
      random: ports.random,
      url: wsUrl,
      heartbeat: { text: () => "PING", everyMs: HEARTBEAT_MS },
      silenceMsMax: SILENCE_MS_MAX,
      countDrop: ports.countDrop,
      isStalled: () => this.#trackerByToken.size > 0 && this.#stallDetector.detectStall(),
      onOpen: (send) => {
        this.#stallDetector.restart();
        for (const tracker of this.#trackers.values()) tracker.reset();
        const tokens = [...this.#trackerByToken.keys()];
        send(JSON.stringify({ type: "market", assets_ids: tokens, custom_feature_enabled: true }));
        this.#isUp = true;
        handlers.onUp();
      },
      onMessage: (text, receivedAt) => this.#readFrame(text, receivedAt),
      onDown: (reason) => {
        this.#isUp = false;
        handlers.onDown(reason);
      },
    });
  }

  close(): void {
    this.#isUp = false;
    this.#socket?.close();
  }

  #subscribe(tokens: readonly string[]): void {
    this.#socket?.send(JSON.stringify({ operation: "subscribe", assets_ids: tokens, custom_feature_enabled: true }));
  }

  #unsubscribe(tokens: readonly string[]): void {
    this.#socket?.send(JSON.stringify({ operation: "unsubscribe", assets_ids: tokens }));
  }

  /** A frame is one message, an array of messages or plain text. */
  #readFrame(text: string, receivedAt: number): void {
    if (PLAIN_TEXT_PATTERN.test(text)) return;
    let frame: unknown;
    try {
      frame = JSON.parse(text);
    } catch {
      this.#options.ports.countDrop("bad_frame");
      return;
    }
    for (const message of Array.isArray(frame) ? frame : [frame]) this.#readMessage(message, receivedAt);
  }

  #readMessage(message: unknown, receivedAt: number): void {
    const { driftDetectors, countDrop } = this.#options.ports;
    const emit = this.#options.handlers.onMessage;
    const type = driftDetectors.stream.check(message, isAnyMessage) ? message.event_type : null;
    if (type === "book") {
      this.#update(this.#trackerOf(message), (tracker) => tracker.readBook(message, receivedAt, emit));
    } else if (type === "price_change") {
      this.#update(this.#trackerOfChanges(message), (tracker) => tracker.readChanges(message, receivedAt, emit));
    } else if (type === "last_trade_price") {
      this.#trackerOf(message)?.readTrade(message, receivedAt, emit);
    } else if (type === "tick_size_change") {
      const tracker = this.#trackerOf(message);
      if (tracker !== undefined) emit({ kind: "changed", marketId: tracker.marketId, receivedAt });
    } else if (isResolvedMessage(message)) {
      const trackers = new Set(message.assets_ids.flatMap((token) => this.#trackerByToken.get(token) ?? []));
      for (const { marketId } of trackers) emit({ kind: "changed", marketId, receivedAt });
    } else if (isNewMarketMessage(message)) {
      emit({ kind: "listed", marketId: String(message.id), receivedAt });
    } else if (type === null || type === "market_resolved" || type === "new_market") {
      countDrop("bad_message");
    }
  }

  #trackerOf(message: unknown): OrderBookTracker | undefined {
    const tracker = isAssetMessage(message) ? this.#trackerByToken.get(message.asset_id) : undefined;
    if (tracker !== undefined) this.#stallDetector.recordMessage();
    return tracker;
  }

  #trackerOfChanges(message: unknown): OrderBookTracker | undefined {
    const { countDrop, driftDetectors } = this.#options.ports;
    if (!isPriceChangeMessage(message)) {
      countDrop("bad_message");
      // Reports which of the changes is invalid.
      for (const change of changesOf(message)) driftDetectors.stream_price_change.check(change, isPriceChange);
      return undefined;
    }
    const change = message.price_changes.find(({ asset_id }) => this.#trackerByToken.has(asset_id));
    if (change === undefined) return undefined;
    this.#stallDetector.recordMessage();
    return this.#trackerByToken.get(change.asset_id);
  }

  /** Applies a message; if the book is inconsistent afterwards, renews the subscription to receive a snapshot. */
  #update(tracker: OrderBookTracker | undefined, apply: (tracker: OrderBookTracker) => BookFault): void {
    if (tracker === undefined || apply(tracker) === null) return;
    const now = this.#options.ports.clock.monotonic();
    const refreshedAt = this.#refreshedAt.get(tracker.marketId);
    if (refreshedAt !== undefined && now - refreshedAt < REFRESH_MS_MIN) return;
    this.#refreshedAt.set(tracker.marketId, now);
    const tokens = [tracker.tokens.tokenYes, tracker.tokens.tokenNo];
    this.#unsubscribe(tokens);
    this.#subscribe(tokens);
  }
}

/** Returns the changes of an invalid price change message. */
function changesOf(message: unknown): readonly unknown[] {
  const changes =
    typeof message === "object" && message !== null && "price_changes" in message ? message.price_changes : null;
  return Array.isArray(changes) ? changes.slice(0, CHECKED_CHANGES_MAX) : [];
}
