import type { Clock } from "../../ports/clock.ts";
import type { SocketWire } from "./wire.ts";

export const LIFECYCLE_CHANNEL = "market_lifecycle_v2";
/** Channels that are subscribed to for the followed markets only. */
const MARKET_CHANNELS = ["ticker", "trade"] as const;
/** Delay before subscriptions that were rejected, ended or not confirmed are renewed. It doubles with each attempt. */
const RESUBSCRIBE_MS_MIN = 5_000;
const RESUBSCRIBE_MS_MAX = 5 * 60_000;

export interface SubscriptionsOptions {
  readonly clock: Clock;
  readonly marketsMax: number;
  /** Called when every subscription is confirmed. */
  onUp(): void;
  /** Called if messages were lost or a command was rejected. The subscriptions are then renewed. */
  onDown(reason: string): void;
}

/** Keeps the subscriptions of the WebSocket in line with the followed markets, and renews them after errors. */
export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  #marketsMax: number;
  #followedTickers: ReadonlySet<string> = new Set();
  /** Tickers in the latest subscribe and update commands. */
  #subscribedTickers: ReadonlySet<string> = new Set();
  /** Confirmed subscription ids by channel. */
  #sids = new Map<string, number>();
  readonly #lastSeq = new Map<number, number>();
  readonly #unconfirmedChannels = new Set<string>();
  #commandId = 0;
  #isUp = false;
  /** True if messages were lost or a command was rejected. Only new subscriptions make the stream complete again. */
  #isIncomplete = false;
  /** Id of the request for the list of subscriptions; null if no response is pending. */
  #listCommandId: number | null = null;
  #send: ((text: string) => void) | null = null;
  #resubscribeMs = RESUBSCRIBE_MS_MIN;
  #cancelRestart: (() => void) | null = null;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    this.#marketsMax = options.marketsMax;
  }

  get followedCount(): number {
    return this.#followedTickers.size;
  }

  isFollowed(ticker: string): boolean {
    return this.#followedTickers.has(ticker);
  }

  /** Called when the socket opens. `send` writes to the socket. */
  onConnected(send: (text: string) => void): void {
    this.#reset();
    this.#send = send;
    this.#subscribeAll();
  }

  onDisconnected(): void {
    this.#reset();
    this.#send = null;
  }

  /** Replaces the followed markets; markets beyond the maximum are ignored. */
  follow(tickers: readonly string[]): void {
    this.#followedTickers = new Set(tickers.slice(0, this.#marketsMax));
    this.#synchronise();
  }

  /** Halves the maximum number of followed markets. */
  halveMarkets(): void {
    this.#marketsMax = Math.max(1, Math.floor(this.#marketsMax / 2));
    this.#followedTickers = new Set([...this.#followedTickers].slice(0, this.#marketsMax));
  }

  confirm(channel: string, sid: number): void {
    // The pending list of subscriptions will contain this one.
    if (this.#listCommandId !== null) return;
    this.#sids.set(channel, sid);
    this.#unconfirmedChannels.delete(channel);
    if (this.#unconfirmedChannels.size > 0) return;
    this.#synchronise();
    if (this.#unconfirmedChannels.size > 0 || this.#isIncomplete) return;
    this.#cancelScheduledRestart();
    if (this.#isUp) return;
    this.#isUp = true;
    this.#resubscribeMs = RESUBSCRIBE_MS_MIN;
    this.#options.onUp();
  }

  /** Reports the stream as down and renews all subscriptions after a delay. */
  renew(reason: string): void {
    if (this.#isUp) this.#options.onDown(reason);
    this.#isUp = false;
    this.#isIncomplete = true;
    this.#scheduleRestart();
  }

  /** Returns whether the message is the response to the request for the list of subscriptions. */
  isListResponse({ id }: SocketWire): boolean {
    return typeof id === "number" && id === this.#listCommandId;
  }

  /**
   * Ends the listed subscriptions and subscribes again.
   * @param sids every subscription of the socket, including those whose confirmation was lost
   */
  replaceListed(sids: readonly number[]): void {
    this.#listCommandId = null;
    if (sids.length > 0) this.#command("unsubscribe", { sids });
    this.#subscribeAll();
  }

  /** Returns false if the message belongs to a subscription that has ended. */
  isCurrent({ sid }: SocketWire): boolean {
    return typeof sid !== "number" || this.#sids.values().some((current) => current === sid);
  }

  /** Compares the message with the previous one of its subscription. `gap`: messages between them were lost. */
  checkSequence({ sid, seq }: SocketWire): "next" | "repeated" | "gap" {
    if (typeof sid !== "number" || typeof seq !== "number") return "next";
    const last = this.#lastSeq.get(sid);
    this.#lastSeq.set(sid, seq);
    if (last === seq) return "repeated";
    return last === undefined || seq === last + 1 ? "next" : "gap";
  }

  close(): void {
    this.#cancelScheduledRestart();
  }

  #reset(): void {
    this.#cancelScheduledRestart();
    this.#sids = new Map();
    this.#lastSeq.clear();
    this.#unconfirmedChannels.clear();
    this.#subscribedTickers = new Set();
    this.#isUp = false;
    this.#isIncomplete = false;
    this.#listCommandId = null;
  }

  /** Schedules a restart unless one is scheduled. The restart handles missing confirmations and rejected commands. */
  #scheduleRestart(): void {
    this.#cancelRestart ??= this.#options.clock.setTimeout(() => this.#restart(), this.#resubscribeMs);
  }

  #cancelScheduledRestart(): void {
    this.#cancelRestart?.();
    this.#cancelRestart = null;
  }

  /**
   * Requests the list of subscriptions; its response ends all of them and subscribes again. Without the list, a
   * subscription whose confirmation was lost would continue with an unknown id.
   */
  #restart(): void {
    this.#reset();
    this.#resubscribeMs = Math.min(this.#resubscribeMs * 2, RESUBSCRIBE_MS_MAX);
    this.#scheduleRestart();
    this.#listCommandId = this.#command("list_subscriptions");
  }

  #subscribeAll(): void {
    this.#subscribe([LIFECYCLE_CHANNEL], {});
    this.#subscribeFollowed();
  }

  /** Sends nothing if no markets are followed, because an empty list would subscribe to all markets. */
  #subscribeFollowed(): void {
    this.#subscribedTickers = this.#followedTickers;
    if (this.#followedTickers.size === 0) return;
    this.#subscribe(MARKET_CHANNELS, { market_tickers: [...this.#followedTickers], send_initial_snapshot: true });
  }

  #subscribe(channels: readonly string[], params: object): void {
    for (const channel of channels) this.#unconfirmedChannels.add(channel);
    this.#scheduleRestart();
    this.#command("subscribe", { channels, ...params });
  }

  /** Sends the difference between the subscribed and the followed markets, unless a confirmation is pending. */
  #synchronise(): void {
    if (this.#send === null || this.#listCommandId !== null) return;
    if (MARKET_CHANNELS.some((channel) => this.#unconfirmedChannels.has(channel))) return;
    const addedTickers = [...this.#followedTickers].filter((ticker) => !this.#subscribedTickers.has(ticker));
    const removedTickers = [...this.#subscribedTickers].filter((ticker) => !this.#followedTickers.has(ticker));
    if (addedTickers.length === 0 && removedTickers.length === 0) return;
    const sids = MARKET_CHANNELS.map((channel) => this.#sids.get(channel)).filter((sid) => sid !== undefined);
    if (sids.length < MARKET_CHANNELS.length || this.#followedTickers.size === 0) {
      if (sids.length > 0) this.#command("unsubscribe", { sids });
      for (const channel of MARKET_CHANNELS) this.#sids.delete(channel);
      for (const sid of sids) this.#lastSeq.delete(sid);
      this.#subscribeFollowed();
      return;
    }
    this.#subscribedTickers = this.#followedTickers;
    for (const sid of sids) {
      const update = { sid, action: "add_markets", market_tickers: addedTickers, send_initial_snapshot: true };
      if (addedTickers.length > 0) this.#command("update_subscription", update);
      if (removedTickers.length > 0) {
        this.#command("update_subscription", { sid, action: "delete_markets", market_tickers: removedTickers });
      }
    }
  }

  /** Sends a command and returns its id. */
  #command(cmd: string, params?: object): number {
    const id = ++this.#commandId;
    this.#send?.(JSON.stringify({ id, cmd, params }));
    return id;
  }
}
