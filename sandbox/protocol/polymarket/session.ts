import { WebSocket } from "ws";
import type { FeedEvent, Level, ListedMarket, World } from "../../world/types.ts";
import type { Now } from "../exchange.ts";
import type { Catalogue } from "./catalogue.ts";
import type { TokenSide } from "./ids.ts";
import { computeMarketState, type MarketState } from "./market-state.ts";
import {
  createBookMessage,
  createFirstBookMessage,
  createLastTradeMessages,
  createPriceChangeMessages,
} from "./socket-json.ts";

/** Maximum number of subscribed token ids per connection; further ids are ignored. */
const ASSETS_MAX = 500;
/** Maximum unsent data per client, in bytes. A client above it is disconnected. */
const UNSENT_BYTES_MAX = 16 * 1024 * 1024;

/** The last book sent to a client. */
interface SentBook {
  readonly version: number;
  readonly at: number;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

interface Subscription {
  readonly market: ListedMarket;
  /** Subscribed tokens of the market. */
  readonly sides: Set<TokenSide>;
  sentBook: SentBook;
  /** True after a trade. With the next book change, full books are then sent after the changed levels. */
  needsFullBook: boolean;
}

export interface SessionOptions {
  readonly socket: WebSocket;
  readonly world: World;
  readonly catalogue: Catalogue;
  readonly now: Now;
  /** Called with the index of a market when one of its tokens is subscribed. */
  onSubscribe(session: Session, index: number): void;
  /** Called with the index of a market when its last token is unsubscribed. */
  onUnsubscribe(session: Session, index: number): void;
}

/** One connected client: handles its requests and sends the messages of its subscriptions. */
export class Session {
  readonly #options: SessionOptions;
  /** Subscriptions by market index. */
  readonly #subscriptions = new Map<number, Subscription>();
  #assetCount = 0;
  /** True if the client has requested the optional message types. */
  #hasCustomFeatures = false;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  *followedMarkets(): Generator<ListedMarket> {
    for (const { market } of this.#subscriptions.values()) yield market;
  }

  handleMessage(text: string): void {
    const { socket } = this.#options;
    if (text === "PING") {
      socket.send("PONG");
      return;
    }
    const request = parseRequest(text);
    if (request === null) {
      socket.send("INVALID OPERATION");
      return;
    }
    if (request.hasCustomFeatures) this.#hasCustomFeatures = true;
    if (request.operation === "subscribe") this.#subscribe(request.assets);
    else this.#unsubscribe(request.assets);
  }

  /** Unsubscribes from all markets. */
  close(): void {
    for (const index of this.#subscriptions.keys()) this.#options.onUnsubscribe(this, index);
  }

  /** Sends a message if the client has requested the optional message types. */
  sendCustom(message: object): void {
    if (this.#hasCustomFeatures) this.#send(message);
  }

  onTrade({ market, trade, at }: FeedEvent & { kind: "trade" }): void {
    const subscription = this.#subscriptions.get(market.index);
    if (subscription === undefined || at < subscription.sentBook.at) return;
    for (const { message, side } of createLastTradeMessages(market, trade)) {
      if (subscription.sides.has(side)) this.#send(message);
    }
    subscription.needsFullBook = true;
  }

  onBook(market: ListedMarket, at: number): void {
    const subscription = this.#subscriptions.get(market.index);
    if (subscription === undefined) return;
    const state = computeMarketState(this.#options.world, market, at);
    const { book } = state;
    const { sentBook } = subscription;
    if (at < sentBook.at || book.version === sentBook.version) return;
    const sides = [...subscription.sides];
    for (const message of createPriceChangeMessages(state, sentBook, sides, at)) this.#send(message);
    if (subscription.needsFullBook) for (const side of sides) this.#send(createBookMessage(state, side, at));
    subscription.needsFullBook = false;
    subscription.sentBook = { version: book.version, at, bids: book.bids, asks: book.asks };
  }

  #subscribe(assets: readonly string[]): void {
    const { world, catalogue, now, socket } = this.#options;
    /** Markets with new tokens. Both tokens share `sentBook`, so the book of a subscribed token is sent again. */
    const changed = new Map<Subscription, MarketState>();
    for (const asset of assets) {
      const found = catalogue.findMarketByToken(asset);
      if (found === null || this.#assetCount >= ASSETS_MAX) continue;
      const { market, side } = found;
      const existing = this.#subscriptions.get(market.index);
      if (existing?.sides.has(side)) continue;
      const state = computeMarketState(world, market, now());
      const { version, changedAt, bids, asks } = state.book;
      const sentBook = { version, at: changedAt, bids, asks };
      const subscription = existing ?? { market, sides: new Set<TokenSide>(), sentBook, needsFullBook: false };
      subscription.sentBook = sentBook;
      subscription.sides.add(side);
      this.#subscriptions.set(market.index, subscription);
      this.#assetCount += 1;
      changed.set(subscription, state);
      this.#options.onSubscribe(this, market.index);
    }
    if (changed.size === 0 && assets.length > 0) socket.send("NO NEW ASSETS");
    const books = [...changed].flatMap(([{ sides }, state]) =>
      state.isClosed ? [] : [...sides].map((side) => createFirstBookMessage(state, side)),
    );
    if (books.length > 0) this.#send(books);
  }

  #unsubscribe(assets: readonly string[]): void {
    for (const asset of assets) {
      const found = this.#options.catalogue.findMarketByToken(asset);
      const subscription = found === null ? undefined : this.#subscriptions.get(found.market.index);
      if (found === null || subscription === undefined || !subscription.sides.delete(found.side)) continue;
      this.#assetCount -= 1;
      if (subscription.sides.size > 0) continue;
      this.#subscriptions.delete(found.market.index);
      this.#options.onUnsubscribe(this, found.market.index);
    }
  }

  #send(payload: object): void {
    const { socket } = this.#options;
    if (socket.readyState !== WebSocket.OPEN) return;
    if (socket.bufferedAmount > UNSENT_BYTES_MAX) socket.terminate();
    else socket.send(JSON.stringify(payload));
  }
}

interface SocketRequest {
  readonly operation: "subscribe" | "unsubscribe";
  readonly assets: readonly string[];
  readonly hasCustomFeatures: boolean;
}

/** Parses a request with `type` (first request) or `operation`. Returns null if the text is not a valid request. */
function parseRequest(text: string): SocketRequest | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof parsed !== "object" || parsed === null) return null;
  const fields = new Map<string, unknown>(Object.entries(parsed));
  const operation =
    fields.get("operation") ?? (String(fields.get("type")).toLowerCase() === "market" ? "subscribe" : null);
  const assets = fields.get("assets_ids") ?? [];
  if ((operation !== "subscribe" && operation !== "unsubscribe") || !Array.isArray(assets)) return null;
  return {
    operation,
    assets: assets.filter((asset): asset is string => typeof asset === "string"),
    hasCustomFeatures: fields.get("custom_feature_enabled") === true,
  };
}
