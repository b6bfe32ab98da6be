import { isObject } from "../../../src/lib/is-object.ts";
import type { FeedEvent, ListedMarket, World } from "../../world/types.ts";
import type { Now } from "../exchange.ts";
import type { Catalogue } from "./catalogue.ts";
import { kalshiTicker } from "./ids.ts";
import {
  createDeltaMessages,
  createSnapshotMessage,
  createTickerMessage,
  createTradeMessage,
  type Ladders,
  lifecycleEventType,
  toLadders,
} from "./socket-json.ts";

const CHANNELS = ["ticker", "trade", "orderbook_delta", "market_lifecycle_v2"] as const;
type Channel = (typeof CHANNELS)[number];
const TICKERS_MAX = 10_000;

interface Subscription {
  readonly sid: number;
  readonly channel: Channel;
  /** Subscribed markets; null for all markets. */
  readonly tickers: Set<string> | null;
  /** Last published book by ticker. */
  readonly books: Map<string, Ladders>;
  seq: number;
}

/** Thrown for a rejected command, with the venue's numeric error code. */
class CommandError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface SessionOptions {
  readonly world: World;
  readonly catalogue: Catalogue;
  readonly now: Now;
  send(message: object): void;
}

/** One connected client: handles its commands and publishes the events of its subscriptions. */
export class Session {
  readonly #options: SessionOptions;
  readonly #subscriptions = new Map<number, Subscription>();
  #lastSid = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  handleMessage(text: string): void {
    let id: unknown;
    try {
      const message = parseObject(text);
      id = message.id;
      this.#runCommand(id, message.cmd, isObject(message.params) ? message.params : {});
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      const { code, message } = error;
      this.#options.send({ ...(id === undefined ? {} : { id }), type: "error", msg: { code, msg: message } });
    }
  }

  #runCommand(id: unknown, cmd: unknown, params: Readonly<Record<string, unknown>>): void {
    if (cmd === "subscribe") this.#subscribe(id, params);
    else if (cmd === "unsubscribe") this.#unsubscribe(id, params);
    else if (cmd === "update_subscription") this.#update(id, params);
    else if (cmd === "list_subscriptions") {
      const msg = [...this.#subscriptions.values()].map(({ channel, sid }) => ({ channel, sid }));
      this.#options.send({ id, type: "ok", msg });
    } else throw new CommandError(5, "Unknown command");
  }

  #subscribe(id: unknown, params: Readonly<Record<string, unknown>>): void {
    const names = filterStrings(params.channels);
    if (names.length === 0) throw new CommandError(3, "Channels required");
    const channels = names.map((name) => CHANNELS.find((channel) => channel === name));
    const tickers = parseTickers(params);
    for (const channel of channels) {
      if (channel === undefined) throw new CommandError(8, "Unknown channel name");
      if (channel === "orderbook_delta" && tickers === null) throw new CommandError(14, "Market ticker required");
    }
    // The venue has retired error 6 (Already subscribed): each subscribe command creates subscriptions with new ids.
    for (const channel of channels) {
      if (channel === undefined) continue;
      const subscription: Subscription = {
        sid: ++this.#lastSid,
        channel,
        tickers: channel === "market_lifecycle_v2" ? null : tickers && new Set(tickers),
        books: new Map(),
        seq: 0,
      };
      this.#subscriptions.set(subscription.sid, subscription);
      this.#options.send({ id, type: "subscribed", msg: { channel, sid: subscription.sid } });
      const sendsSnapshot = channel === "orderbook_delta" || params.send_initial_snapshot === true;
      if (sendsSnapshot) this.#publishSnapshots(subscription, tickers ?? []);
    }
  }

  #unsubscribe(id: unknown, params: Readonly<Record<string, unknown>>): void {
    const sids = parseSids(params);
    if (sids.length === 0) throw new CommandError(4, "Subscription IDs required");
    for (const sid of sids) {
      const subscription = this.#subscriptions.get(sid);
      if (subscription === undefined) throw new CommandError(7, "Unknown subscription ID");
      this.#subscriptions.delete(sid);
      this.#options.send({ id, sid, seq: ++subscription.seq, type: "unsubscribed" });
    }
  }

  #update(id: unknown, params: Readonly<Record<string, unknown>>): void {
    const sids = parseSids(params);
    const [sid] = sids;
    if (sid === undefined || sids.length !== 1) throw new CommandError(12, "Exactly one subscription ID is required");
    const subscription = this.#subscriptions.get(sid);
    if (subscription === undefined) throw new CommandError(7, "Unknown subscription ID");
    const { action } = params;
    if (action === undefined) throw new CommandError(15, "Action required");
    if (action !== "add_markets" && action !== "delete_markets") {
      throw new CommandError(13, "Unsupported action");
    }
    const { tickers: subscribed } = subscription;
    const tickers = parseTickers(params);
    if (tickers === null || subscribed === null) throw new CommandError(14, "Market ticker required");
    if (action === "delete_markets") for (const ticker of tickers) subscribed.delete(ticker);
    if (action === "add_markets") {
      if (subscribed.size + tickers.length > TICKERS_MAX) throw new CommandError(26, "Too many markets");
      for (const ticker of tickers) subscribed.add(ticker);
    }
    this.#options.send({ id, sid, seq: ++subscription.seq, type: "ok", msg: { market_tickers: [...subscribed] } });
    const sendsSnapshot = subscription.channel === "orderbook_delta" || params.send_initial_snapshot === true;
    if (action === "add_markets" && sendsSnapshot) this.#publishSnapshots(subscription, tickers);
  }

  /** Publishes the current state of the given markets; unknown tickers are skipped. */
  #publishSnapshots(subscription: Subscription, tickers: readonly string[]): void {
    const { world, catalogue, now } = this.#options;
    for (const ticker of tickers) {
      const market = catalogue.findMarket(ticker);
      if (market === null) continue;
      if (subscription.channel === "ticker") {
        const { changedAt } = world.book(market, now());
        this.#publish(subscription, "ticker", createTickerMessage(world, market, changedAt), false);
      } else if (subscription.channel === "orderbook_delta") {
        const ladders = toLadders(world.book(market, now()));
        subscription.books.set(ticker, ladders);
        this.#publish(subscription, "orderbook_snapshot", createSnapshotMessage(market, ladders));
      }
    }
  }

  /** Returns the markets whose books or trades the client subscribes to, or null for all markets. */
  followedMarkets(): readonly ListedMarket[] | null {
    const followed: ListedMarket[] = [];
    for (const { channel, tickers } of this.#subscriptions.values()) {
      if (channel === "market_lifecycle_v2") continue;
      if (tickers === null) return null;
      for (const ticker of tickers) {
        const market = this.#options.catalogue.findMarket(ticker);
        if (market !== null) followed.push(market);
      }
    }
    return followed;
  }

  onFeed(event: FeedEvent): void {
    const { world } = this.#options;
    for (const subscription of this.#subscriptions.values()) {
      const { channel, tickers } = subscription;
      if (tickers !== null && !tickers.has(kalshiTicker(event.market))) continue;
      if (event.kind === "trade" && channel === "trade")
        this.#publish(subscription, "trade", createTradeMessage(event));
      else if (event.kind === "book" && channel === "ticker") {
        this.#publish(subscription, "ticker", createTickerMessage(world, event.market, event.at), false);
      } else if (event.kind === "book" && channel === "orderbook_delta") {
        this.#publishDeltas(subscription, event.market, event.at);
      } else if (channel === "market_lifecycle_v2") this.#publishLifecycle(subscription, event);
    }
  }

  #publishDeltas(subscription: Subscription, market: ListedMarket, at: number): void {
    const ticker = kalshiTicker(market);
    const previous = subscription.books.get(ticker);
    if (previous === undefined) return;
    const current = toLadders(this.#options.world.book(market, at));
    subscription.books.set(ticker, current);
    for (const message of createDeltaMessages(market, previous, current, at))
      this.#publish(subscription, "orderbook_delta", message);
  }

  #publishLifecycle(subscription: Subscription, event: FeedEvent): void {
    const event_type =
      event.kind === "listed"
        ? "created"
        : event.kind === "lifecycle"
          ? lifecycleEventType(this.#options.world, event)
          : null;
    if (event_type === null) return;
    this.#publish(subscription, "market_lifecycle_v2", { event_type, market_ticker: kalshiTicker(event.market) });
  }

  /** Sends a message. All messages except those of the ticker channel have sequence numbers. */
  #publish(subscription: Subscription, type: string, msg: object, isNumbered = true): void {
    const { sid } = subscription;
    this.#options.send(isNumbered ? { type, sid, seq: ++subscription.seq, msg } : { type, sid, msg });
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Invalid JSON is rejected below.
  }
  throw new CommandError(1, "Unable to process message");
}

function filterStrings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** Returns the market tickers of a command, or null if it has none. */
function parseTickers(params: Readonly<Record<string, unknown>>): string[] | null {
  const tickers = filterStrings(params.market_tickers);
  if (tickers.length > TICKERS_MAX) throw new CommandError(26, "Too many markets");
  return tickers.length === 0 ? null : tickers;
}

function parseSids(params: Readonly<Record<string, unknown>>): number[] {
  const sids = Array.isArray(params.sids) ? params.sids : [];
  return [...sids, params.sid].filter((sid) => typeof sid === "number");
}
