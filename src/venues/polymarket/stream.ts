import type { MarketListing } from "../../domain/market.ts";
import type { OrderBook } from "../../domain/order-book.ts";
import { isObject } from "../../lib/is-object.ts";
import { parseShallowJson } from "../../lib/json/json-depth.ts";
import type { StreamHandlers, StreamMessage, VenueStream } from "../../ports/venue.ts";
import { openReconnectingSocket, type ReconnectingSocket } from "../shared/reconnecting-socket.ts";
import { createStallDetector, type StallDetector } from "../shared/stall-detector.ts";
import type { PolymarketContext } from "./client.ts";
import { type BookFault, BURST_PAUSE_MS_MAX, OrderBookTracker } from "./order-book-tracker.ts";
import type { TokenPair } from "./parse-trades.ts";
import { parseMs } from "./parse-values.ts";
import {
  isAnyMessage,
  isAssetMessage,
  isNewMarketMessage,
  isPriceChange,
  isPriceChangeMessage,
  isResolvedMessage,
} from "./wire.ts";

/** Maximum number of tokens per connection. The venue does not publish a limit; other users report about 500. */
const TOKENS_PER_CONNECTION = 300;
const TOKENS_PER_MARKET = 2;
const MARKETS_PER_CONNECTION = TOKENS_PER_CONNECTION / TOKENS_PER_MARKET;
export const STREAM_MARKETS_MAX = 1_500;
/** Maximum number of ids of new markets that are kept. All connections announce a new market; it is reported once. */
const LISTED_IDS_MAX = 2_000;

/** Opens the market stream over as many connections as the followed markets need. */
export function openStream(options: StreamOptions): VenueStream {
  const { handlers } = options;
  const connections: StreamConnection[] = [];
  const connectionOf = new Map<string, StreamConnection>();
  const listedIds = new Set<string>();
  let isUp = false;
  let isClosed = false;

  const onMessage = (message: StreamMessage) => {
    if (message.kind === "listed") {
      if (listedIds.has(message.marketId)) return;
      if (listedIds.size >= LISTED_IDS_MAX) listedIds.clear();
      listedIds.add(message.marketId);
    }
    handlers.onMessage(message);
  };
  const onUp = () => {
    if (isUp || !connections.every((connection) => connection.isUp)) return;
    isUp = true;
    handlers.onUp();
  };
  const onDown = (reason: string) => {
    if (!isUp) return;
    isUp = false;
    handlers.onDown(reason);
  };

  /** Removes a market, and closes its connection if the connection has no other market. */
  const remove = (marketId: string, connection: StreamConnection) => {
    connection.remove(marketId);
    connectionOf.delete(marketId);
    if (connection.size > 0) return;
    connections.splice(connections.indexOf(connection), 1);
    connection.close();
  };

  /** Moves markets from the list to a connection until it is full. */
  const fill = (connection: StreamConnection, unassigned: MarketListing[]) => {
    const markets = unassigned.splice(0, MARKETS_PER_CONNECTION - connection.size);
    for (const market of markets) connectionOf.set(market.marketId, connection);
    connection.add(markets);
  };

  return {
    follow(markets) {
      if (isClosed) return;
      const followed = new Map(markets.slice(0, STREAM_MARKETS_MAX).map((market) => [market.marketId, market]));
      for (const [marketId, connection] of [...connectionOf]) {
        if (!followed.has(marketId)) remove(marketId, connection);
      }
      const unassigned = [...followed.values()].filter(
        (market) => !connectionOf.has(market.marketId) && tokensOf(market) !== null,
      );
      for (const connection of connections) fill(connection, unassigned);
      while (unassigned.length > 0) {
        const connection = new StreamConnection({ ...options, handlers: { onMessage, onUp, onDown } });
        connections.push(connection);
        fill(connection, unassigned);
        connection.open();
      }
      onUp();
    },
    bookOf: (marketId) => connectionOf.get(marketId)?.bookOf(marketId) ?? null,
    close() {
      isClosed = true;
      for (const connection of connections) connection.close();
      connections.length = 0;
      connectionOf.clear();
    },
  };
}

const HEARTBEAT_MS = 10_000;
/** Maximum silence: two unanswered heartbeats and a margin. */
const SILENCE_MS_MAX = 25_000;
/** Minimum time between two snapshot requests for a market. It doubles with each request that yields no snapshot. */
const SNAPSHOT_REQUEST_MS_MIN = 5_000;
const SNAPSHOT_REQUEST_MS_MAX = 10 * 60_000;
/** Maximum number of changes of an invalid message that are checked for schema drift. */
const CHECKED_CHANGES_MAX = 100;
/**
 * Maximum time since the last message about any followed market for an order book to be current. Detecting a stalled
 * stream takes minutes, because some sets of markets have few messages.
 */
const BOOK_SILENCE_MS_MAX = 10_000;
/** Matches frames that are not JSON: upper-case text such as PONG or NO NEW ASSETS. */
const PLAIN_TEXT_PATTERN = /^[A-Z\s]*$/;

export interface StreamOptions {
  readonly ports: Pick<
    PolymarketContext,
    "sockets" | "clock" | "random" | "countDrop" | "driftDetectors" | "settlements"
  >;
  readonly wsUrl: string;
  readonly handlers: StreamHandlers;
}

/** The latest request for a snapshot of a market's order book. */
interface SnapshotRequest {
  /** Monotonic milliseconds. */
  readonly at: number;
  /** Number of consecutive requests without a snapshot, not counting the first subscription. */
  readonly repeats: number;
}

function tokensOf({ venueKeys }: Pick<MarketListing, "venueKeys">): TokenPair | null {
  const { tokenYes, tokenNo } = venueKeys;
  return tokenYes === undefined || tokenNo === undefined ? null : { tokenYes, tokenNo };
}

/** One WebSocket connection and its markets. Both tokens of a market are subscribed on the same connection. */
class StreamConnection {
  readonly #options: StreamOptions;
  readonly #trackers = new Map<string, OrderBookTracker>();
  readonly #trackerByToken = new Map<string, OrderBookTracker>();
  readonly #snapshotRequests = new Map<string, SnapshotRequest>();
  /** Trackers to settle, with the monotonic time at which this is due, in order of that time. */
  readonly #unsettled = new Map<OrderBookTracker, number>();
  readonly #stallDetector: StallDetector;
  #cancelSettle: (() => void) | null = null;
  #socket: ReconnectingSocket | null = null;
  #isUp = false;
  /** Latest message about a followed market: when it was received, in monotonic (`at`) and Unix milliseconds. */
  #latestMessage: { readonly at: number; readonly receivedAt: number } | null = null;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#stallDetector = createStallDetector(options.ports.clock);
  }

  /** Number of markets on this connection. */
  get size(): number {
    return this.#trackers.size;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Returns the market's complete book, or null while the stream is down, silent, or the book is inconsistent. */
  bookOf(marketId: string): OrderBook | null {
    const latest = this.#latestMessage;
    if (!this.#isUp || latest === null) return null;
    if (this.#options.ports.clock.monotonic() - latest.at > BOOK_SILENCE_MS_MAX) return null;
    return this.#trackers.get(marketId)?.currentBook(latest.receivedAt) ?? null;
  }

  add(markets: readonly MarketListing[]): void {
    const { ports, handlers } = this.#options;
    const trackerPorts = { ...ports, emit: handlers.onMessage };
    const tokens: string[] = [];
    for (const market of markets) {
      const pair = tokensOf(market);
      if (pair === null) continue;
      const tracker = new OrderBookTracker(market.marketId, pair, trackerPorts);
      this.#trackers.set(market.marketId, tracker);
      this.#snapshotRequests.set(market.marketId, { at: ports.clock.monotonic(), repeats: 0 });
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
    this.#unsettled.delete(tracker);
    this.#trackers.delete(marketId);
    this.#snapshotRequests.delete(marketId);
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
        for (const [marketId, tracker] of this.#trackers) {
          tracker.reset();
          this.#snapshotRequests.set(marketId, { at: ports.clock.monotonic(), repeats: 0 });
        }
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
    this.#cancelSettle?.();
    this.#socket?.close();
  }

  #subscribe(tokens: readonly string[]): void {
    this.#socket?.send(JSON.stringify({ operation: "subscribe", assets_ids: tokens, custom_feature_enabled: true }));
  }

  #unsubscribe(tokens: readonly string[]): void {
    this.#socket?.send(JSON.stringify({ operation: "unsubscribe", assets_ids: tokens }));
  }

  /** Reads a frame: one message, an array of messages, or plain text. */
  #readFrame(text: string, receivedAt: number): void {
    if (PLAIN_TEXT_PATTERN.test(text)) return;
    let frame: unknown;
    try {
      frame = parseShallowJson(text);
    } catch {
      this.#options.ports.countDrop("bad_frame");
      return;
    }
    for (const message of Array.isArray(frame) ? frame : [frame]) this.#readMessage(message, receivedAt);
  }

  #readMessage(message: unknown, receivedAt: number): void {
    const { driftDetectors, countDrop, settlements } = this.#options.ports;
    const emit = this.#options.handlers.onMessage;
    const type = driftDetectors.stream.check(message, isAnyMessage) ? message.event_type : null;
    if (type === "book") {
      this.#update(this.#trackerOf(message, receivedAt), (tracker) => tracker.readBook(message, receivedAt));
    } else if (type === "price_change") {
      this.#update(this.#trackerOfChanges(message, receivedAt), (tracker) => tracker.readChanges(message, receivedAt));
    } else if (type === "last_trade_price") {
      this.#trackerOf(message, receivedAt)?.readTrade(message, receivedAt);
    } else if (type === "tick_size_change") {
      const tracker = this.#trackerOf(message, receivedAt);
      if (tracker !== undefined) emit({ kind: "changed", marketId: tracker.marketId, receivedAt });
    } else if (isResolvedMessage(message)) {
      if (message.winning_asset_id) settlements.add(message.winning_asset_id, parseMs(message.timestamp));
      const trackers = new Set(message.assets_ids.flatMap((token) => this.#trackerByToken.get(token) ?? []));
      for (const { marketId } of trackers) emit({ kind: "changed", marketId, receivedAt });
    } else if (isNewMarketMessage(message)) {
      emit({ kind: "listed", marketId: String(message.id), receivedAt });
    } else if (type === null || type === "market_resolved" || type === "new_market") {
      countDrop("bad_message");
    }
  }

  #trackerOf(message: unknown, receivedAt: number): OrderBookTracker | undefined {
    const tracker = isAssetMessage(message) ? this.#trackerByToken.get(message.asset_id) : undefined;
    if (tracker !== undefined) this.#recordMessage(receivedAt);
    return tracker;
  }

  #recordMessage(receivedAt: number): void {
    this.#stallDetector.recordMessage();
    this.#latestMessage = { at: this.#options.ports.clock.monotonic(), receivedAt };
  }

  #trackerOfChanges(message: unknown, receivedAt: number): OrderBookTracker | undefined {
    const { countDrop, driftDetectors } = this.#options.ports;
    if (!isPriceChangeMessage(message)) {
      countDrop("bad_message");
      // Reports which of the changes is invalid.
      for (const change of changesOf(message)) driftDetectors.stream_price_change.check(change, isPriceChange);
      return undefined;
    }
    const change = message.price_changes.find(({ asset_id }) => this.#trackerByToken.has(asset_id));
    if (change === undefined) return undefined;
    this.#recordMessage(receivedAt);
    return this.#trackerByToken.get(change.asset_id);
  }

  /** Applies a message, and renews the subscription if the book is inconsistent or still missing. */
  #update(tracker: OrderBookTracker | undefined, apply: (tracker: OrderBookTracker) => BookFault): void {
    if (tracker === undefined) return;
    const fault = apply(tracker);
    if (tracker.isUnsettled && !this.#unsettled.has(tracker)) {
      this.#unsettled.set(tracker, this.#options.ports.clock.monotonic() + BURST_PAUSE_MS_MAX);
      this.#scheduleSettle();
    }
    this.#requestSnapshot(tracker, fault !== null);
  }

  /** Renews the subscription of a market without a book, because the venue then sends a snapshot. */
  #requestSnapshot({ marketId, tokens, hasBook }: OrderBookTracker, isFault: boolean): void {
    if (!this.#isUp) return;
    const now = this.#options.ports.clock.monotonic();
    const { at, repeats } = this.#snapshotRequests.get(marketId) ?? { at: now, repeats: 0 };
    if (hasBook) {
      if (repeats > 1) this.#snapshotRequests.set(marketId, { at, repeats: 1 });
      return;
    }
    const waitMs = Math.min(SNAPSHOT_REQUEST_MS_MAX, SNAPSHOT_REQUEST_MS_MIN * 2 ** Math.max(0, repeats - 1));
    const isFirstFault = isFault && repeats === 0;
    if (!isFirstFault && now - at < waitMs) return;
    this.#snapshotRequests.set(marketId, { at: now, repeats: repeats + 1 });
    this.#unsubscribe([tokens.tokenYes, tokens.tokenNo]);
    this.#subscribe([tokens.tokenYes, tokens.tokenNo]);
  }

  /** Sets one timer, for the tracker that is due first. */
  #scheduleSettle(): void {
    const [dueAt] = this.#unsettled.values();
    if (dueAt === undefined || this.#cancelSettle !== null) return;
    const { clock } = this.#options.ports;
    this.#cancelSettle = clock.setTimeout(
      () => {
        this.#cancelSettle = null;
        this.#settleDue();
        this.#scheduleSettle();
      },
      Math.max(0, dueAt - clock.monotonic()),
    );
  }

  #settleDue(): void {
    const { clock } = this.#options.ports;
    const due = this.#unsettled.entries().filter(([, dueAt]) => dueAt <= clock.monotonic());
    for (const [tracker] of [...due]) {
      this.#unsettled.delete(tracker);
      this.#update(tracker, () => tracker.settle());
    }
  }
}

/** Returns the changes of an invalid price change message. */
function changesOf(message: unknown): readonly unknown[] {
  const changes = isObject(message) ? message.price_changes : null;
  return Array.isArray(changes) ? changes.slice(0, CHECKED_CHANGES_MAX) : [];
}
