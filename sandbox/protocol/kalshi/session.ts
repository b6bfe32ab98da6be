import type { FeedEvent, ListedMarket, World } from "../../world/types.ts";
import type { Now } from "../exchange.ts";
import type { Catalogue } from "./catalogue.ts";
import { kalshiTicker } from "./ids.ts";
import {
  createdMessage,
  deltaMessages,
  eventMessage,
  type Ladders,
  laddersOf,
  lifecycleMessage,
  snapshotMessage,
  tickerMessage,
  tradeMessage,
} from "./socket-json.ts";

const CHANNELS = [
  "ticker",
  "trade",
  "orderbook_delta",
  "market_lifecycle_v2",
  "multivariate_market_lifecycle",
] as const;
type Channel = (typeof CHANNELS)[number];
const TICKERS_MAX = 10_000;

interface Subscription {
  readonly sid: number;
  readonly channel: Channel;
  /** Null listens to all markets. */
  readonly tickers: Set<string> | null;
  readonly isYesPriced: boolean;
  /** Books as this subscriber knows them. */
  readonly books: Map<string, Ladders>;
  seq: number;
}

/** A refusal with one of the venue's numbered codes. */
class Refusal extends Error {
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

/** One connected client: its commands and what it listens to. */
export class Session {
  readonly #options: SessionOptions;
  readonly #subscriptions = new Map<number, Subscription>();
  #sids = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  obey(text: string): void {
    let id: unknown;
    try {
      const message = parseObject(text);
      id = message.id;
      this.#command(id, message.cmd, isObject(message.params) ? message.params : {});
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, message } = error;
      this.#options.send({ ...(id === undefined ? {} : { id }), type: "error", msg: { code, msg: message } });
    }
  }

  #command(id: unknown, cmd: unknown, params: Readonly<Record<string, unknown>>): void {
    if (cmd === "subscribe") this.#subscribe(id, params);
    else if (cmd === "unsubscribe") this.#unsubscribe(id, params);
    else if (cmd === "update_subscription") this.#update(id, params);
    else if (cmd === "list_subscriptions") {
      const msg = [...this.#subscriptions.values()].map(({ channel, sid }) => ({ channel, sid }));
      this.#options.send({ id, type: "ok", msg });
    } else throw new Refusal(5, "Unknown command");
  }

  #subscribe(id: unknown, params: Readonly<Record<string, unknown>>): void {
    const names = stringsOf(params.channels);
    if (names.length === 0) throw new Refusal(3, "Channels required");
    const channels = names.map((name) => CHANNELS.find((channel) => channel === name));
    const asked = tickersOf(params);
    for (const channel of channels) {
      if (channel === undefined) throw new Refusal(8, "Unknown channel name");
      if (channel === "orderbook_delta" && asked === null) throw new Refusal(14, "Market ticker required");
      if (this.#subscriptions.values().some((known) => known.channel === channel)) {
        throw new Refusal(6, "Already subscribed");
      }
    }
    for (const channel of channels) {
      if (channel === undefined) continue;
      const subscription: Subscription = {
        sid: ++this.#sids,
        channel,
        tickers: channel.endsWith("lifecycle") || channel.endsWith("lifecycle_v2") ? null : asked && new Set(asked),
        isYesPriced: params.use_yes_price === true,
        books: new Map(),
        seq: 0,
      };
      this.#subscriptions.set(subscription.sid, subscription);
      this.#options.send({ id, type: "subscribed", msg: { channel, sid: subscription.sid } });
      const isSnapshotWanted = channel === "orderbook_delta" || params.send_initial_snapshot === true;
      if (isSnapshotWanted) this.#snapshot(subscription, asked ?? []);
    }
  }

  #unsubscribe(id: unknown, params: Readonly<Record<string, unknown>>): void {
    const sids = sidsOf(params);
    if (sids.length === 0) throw new Refusal(4, "Subscription IDs required");
    for (const sid of sids) {
      const subscription = this.#subscriptions.get(sid);
      if (subscription === undefined) throw new Refusal(7, "Unknown subscription ID");
      this.#subscriptions.delete(sid);
      this.#options.send({ id, sid, seq: ++subscription.seq, type: "unsubscribed" });
    }
  }

  #update(id: unknown, params: Readonly<Record<string, unknown>>): void {
    const sids = sidsOf(params);
    const [sid] = sids;
    if (sid === undefined || sids.length !== 1) throw new Refusal(12, "Exactly one subscription ID is required");
    const subscription = this.#subscriptions.get(sid);
    if (subscription === undefined) throw new Refusal(7, "Unknown subscription ID");
    const { action } = params;
    if (action === undefined) throw new Refusal(15, "Action required");
    if (action !== "add_markets" && action !== "delete_markets" && action !== "get_snapshot") {
      throw new Refusal(13, "Unsupported action");
    }
    const { tickers } = subscription;
    const asked = tickersOf(params);
    if (asked === null || tickers === null) throw new Refusal(14, "Market ticker required");
    if (action === "delete_markets") for (const ticker of asked) tickers.delete(ticker);
    if (action === "add_markets") {
      if (tickers.size + asked.length > TICKERS_MAX) throw new Refusal(26, "Too many markets");
      for (const ticker of asked) tickers.add(ticker);
    }
    this.#options.send({ id, sid, seq: ++subscription.seq, type: "ok", msg: { market_tickers: [...tickers] } });
    const isSnapshotWanted = subscription.channel === "orderbook_delta" || params.send_initial_snapshot === true;
    if (action === "get_snapshot" || (action === "add_markets" && isSnapshotWanted))
      this.#snapshot(subscription, asked);
  }

  /** Tickers that nobody knows are passed over. */
  #snapshot(subscription: Subscription, tickers: readonly string[]): void {
    const { world, catalogue, now } = this.#options;
    for (const ticker of tickers) {
      const market = catalogue.market(ticker);
      if (market === null) continue;
      if (subscription.channel === "ticker") {
        const { changedAt } = world.book(market, now());
        this.#tell(subscription, "ticker", tickerMessage(world, market, changedAt), false);
      } else if (subscription.channel === "orderbook_delta") {
        const ladders = laddersOf(world.book(market, now()), subscription.isYesPriced);
        subscription.books.set(ticker, ladders);
        this.#tell(subscription, "orderbook_snapshot", snapshotMessage(market, ladders));
      }
    }
  }

  /** Markets whose books or trades this client wants to hear of; null means all. */
  follows(): readonly ListedMarket[] | null {
    const followed: ListedMarket[] = [];
    for (const { channel, tickers } of this.#subscriptions.values()) {
      if (channel === "market_lifecycle_v2" || channel === "multivariate_market_lifecycle") continue;
      if (tickers === null) return null;
      for (const ticker of tickers) {
        const market = this.#options.catalogue.market(ticker);
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
      if (event.kind === "trade" && channel === "trade") this.#tell(subscription, "trade", tradeMessage(event));
      else if (event.kind === "book" && channel === "ticker") {
        this.#tell(subscription, "ticker", tickerMessage(world, event.market, event.at), false);
      } else if (event.kind === "book" && channel === "orderbook_delta") {
        this.#tellDeltas(subscription, event.market, event.at);
      } else if (channel === "market_lifecycle_v2") this.#tellLife(subscription, event);
    }
  }

  #tellDeltas(subscription: Subscription, market: ListedMarket, at: number): void {
    const ticker = kalshiTicker(market);
    const before = subscription.books.get(ticker);
    if (before === undefined) return;
    const after = laddersOf(this.#options.world.book(market, at), subscription.isYesPriced);
    subscription.books.set(ticker, after);
    for (const message of deltaMessages(market, before, after, at))
      this.#tell(subscription, "orderbook_delta", message);
  }

  #tellLife(subscription: Subscription, event: FeedEvent): void {
    if (event.kind === "listed") {
      const { market } = event;
      if (market.position === 0) this.#tell(subscription, "event_lifecycle", eventMessage(market.event));
      this.#tell(subscription, "market_lifecycle_v2", createdMessage(market));
    } else if (event.kind === "lifecycle") {
      const message = lifecycleMessage(this.#options.world, event);
      if (message !== null) this.#tell(subscription, "market_lifecycle_v2", message);
    }
  }

  /** The ticker channel does not number its messages. */
  #tell(subscription: Subscription, type: string, msg: object, isNumbered = true): void {
    const { sid } = subscription;
    this.#options.send(isNumbered ? { type, sid, seq: ++subscription.seq, msg } : { type, sid, msg });
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Refused below, like JSON that is not an object.
  }
  throw new Refusal(1, "Unable to process message");
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** Markets named in a command, or null when none is. */
function tickersOf(params: Readonly<Record<string, unknown>>): string[] | null {
  const tickers = stringsOf(params.market_tickers);
  if (typeof params.market_ticker === "string") tickers.push(params.market_ticker);
  if (tickers.length > TICKERS_MAX) throw new Refusal(26, "Too many markets");
  return tickers.length === 0 ? null : tickers;
}

function sidsOf(params: Readonly<Record<string, unknown>>): number[] {
  const sids = Array.isArray(params.sids) ? params.sids : [];
  return [...sids, params.sid].filter((sid) => typeof sid === "number");
}
