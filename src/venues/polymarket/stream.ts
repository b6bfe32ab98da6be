import type { MarketListing } from "../../domain/market.ts";
import type { StreamHandlers, StreamMessage, VenueStream } from "../../ports/venue.ts";
import { openReconnectingSocket, type ReconnectingSocket } from "../shared/reconnecting-socket.ts";
import { StallDetector } from "../shared/stall-detector.ts";
import type { PolymarketPorts } from "./context.ts";
import { OrderBookTracker } from "./order-book-tracker.ts";
import {
  isAnyMessage,
  isAssetMessage,
  isNewMarketMessage,
  isPriceChange,
  isPriceChangeMessage,
  isResolvedMessage,
} from "./wire.ts";

/** Token ids of one connection. The venue's own bound is not published; others report about 500. */
const IDS_PER_CONNECTION = 300;
const TOKENS_PER_MARKET = 2;
const MARKETS_PER_CONNECTION = IDS_PER_CONNECTION / TOKENS_PER_MARKET;
export const STREAM_MARKETS_MAX = 1_500;
const CHANGES_LOOKED_AT_MAX = 100;
const HEARTBEAT_MS = 10_000;
/** Two heartbeats unanswered, and some. */
const SILENCE_MS_MAX = 25_000;
/** A market whose book keeps being wrong is asked for anew at most this often. */
const REFRESH_MS_MIN = 5_000;
/** What the venue says in words: capitals alone, none of them JSON. */
const WORD = /^[A-Z\s]*$/;
/** Every connection tells of each new market; so many are remembered to tell it on once. */
const LISTED_REMEMBERED_MAX = 2_000;

interface StreamOptions {
  readonly ports: PolymarketPorts;
  readonly wsUrl: string;
  readonly handlers: StreamHandlers;
}

/** The market stream over as many connections as the followed markets need; both tokens of a market share one. */
export function openMarketStream(options: StreamOptions): VenueStream {
  const { handlers } = options;
  const shards: Shard[] = [];
  const shardOf = new Map<string, Shard>();
  const listed = new Set<string>();
  let isUp = false;
  let isClosed = false;

  const onMessage = (message: StreamMessage) => {
    if (message.kind === "listed") {
      if (listed.has(message.marketId)) return;
      if (listed.size >= LISTED_REMEMBERED_MAX) listed.clear();
      listed.add(message.marketId);
    }
    handlers.onMessage(message);
  };
  const onUp = () => {
    if (isUp || !shards.every((shard) => shard.isUp)) return;
    isUp = true;
    handlers.onUp();
  };
  const onDown = (reason: string) => {
    if (!isUp) return;
    isUp = false;
    handlers.onDown(reason);
  };

  const leave = (marketId: string, shard: Shard) => {
    shard.remove(marketId);
    shardOf.delete(marketId);
    if (shard.size > 0) return;
    shards.splice(shards.indexOf(shard), 1);
    shard.close();
  };

  return {
    follow(markets) {
      if (isClosed) return;
      const wanted = new Map(markets.slice(0, STREAM_MARKETS_MAX).map((market) => [market.marketId, market]));
      for (const [marketId, shard] of [...shardOf]) if (!wanted.has(marketId)) leave(marketId, shard);
      const joining = [...wanted.values()].filter(
        (market) => !shardOf.has(market.marketId) && tokensOf(market) !== null,
      );
      for (const shard of shards) assign(joining, shard, shardOf);
      while (joining.length > 0) {
        const shard = new Shard({ ...options, handlers: { onMessage, onUp, onDown } });
        shards.push(shard);
        assign(joining, shard, shardOf);
        shard.open();
      }
      onUp();
    },
    close() {
      isClosed = true;
      for (const shard of shards) shard.close();
      shards.length = 0;
      shardOf.clear();
    },
  };
}

/** Moves as many of the joining markets as have room to a shard. */
function assign(joining: MarketListing[], shard: Shard, shardOf: Map<string, Shard>): void {
  const taken = joining.splice(0, MARKETS_PER_CONNECTION - shard.size);
  for (const market of taken) shardOf.set(market.marketId, shard);
  shard.add(taken);
}

function tokensOf(market: Pick<MarketListing, "venueKeys">): { tokenYes: string; tokenNo: string } | null {
  const { tokenYes, tokenNo } = market.venueKeys;
  return tokenYes === undefined || tokenNo === undefined ? null : { tokenYes, tokenNo };
}

/** One connection and the markets on it. */
class Shard {
  readonly #options: StreamOptions;
  readonly #markets = new Map<string, OrderBookTracker>();
  readonly #byToken = new Map<string, OrderBookTracker>();
  readonly #refreshedAt = new Map<string, number>();
  #socket: ReconnectingSocket | null = null;
  readonly #pace: StallDetector;
  #isUp = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#pace = new StallDetector(options.ports.clock);
  }

  get size(): number {
    return this.#markets.size;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  add(markets: readonly MarketListing[]): void {
    const assets: string[] = [];
    for (const market of markets) {
      const tokens = tokensOf(market);
      if (tokens === null) continue;
      const followed = new OrderBookTracker(market.marketId, tokens, this.#options.ports.drop);
      this.#markets.set(market.marketId, followed);
      for (const token of [tokens.tokenYes, tokens.tokenNo]) {
        this.#byToken.set(token, followed);
        assets.push(token);
      }
    }
    if (assets.length > 0 && this.#isUp) this.#subscribe(assets);
  }

  remove(marketId: string): void {
    const followed = this.#markets.get(marketId);
    if (followed === undefined) return;
    const assets = [followed.tokens.tokenYes, followed.tokens.tokenNo];
    this.#markets.delete(marketId);
    this.#refreshedAt.delete(marketId);
    for (const token of assets) this.#byToken.delete(token);
    if (this.#isUp) this.#unsubscribe(assets);
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
      drop: ports.drop,
      isFrozen: () => this.#byToken.size > 0 && this.#pace.takeAlarm(),
      onOpen: (send) => {
        this.#pace.restart();
        for (const market of this.#markets.values()) market.forget();
        send(JSON.stringify({ type: "market", assets_ids: [...this.#byToken.keys()], custom_feature_enabled: true }));
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

  #subscribe(assets: readonly string[]): void {
    this.#socket?.send(JSON.stringify({ operation: "subscribe", assets_ids: assets, custom_feature_enabled: true }));
  }

  #unsubscribe(assets: readonly string[]): void {
    this.#socket?.send(JSON.stringify({ operation: "unsubscribe", assets_ids: assets }));
  }

  /** A frame is one object, an array of them, or a word such as PONG or NO NEW ASSETS. */
  #readFrame(text: string, receivedAt: number): void {
    if (WORD.test(text)) return;
    let frame: unknown;
    try {
      frame = JSON.parse(text);
    } catch {
      this.#options.ports.drop("bad_frame");
      return;
    }
    for (const message of Array.isArray(frame) ? frame : [frame]) this.#readMessage(message, receivedAt);
  }

  #readMessage(message: unknown, receivedAt: number): void {
    const { handlers } = this.#options;
    const tell = (told: StreamMessage) => handlers.onMessage(told);
    const { detectors } = this.#options.ports;
    const kind = detectors.stream.check(message, isAnyMessage) ? message.event_type : null;
    if (kind === "book") {
      this.#settle(this.#marketOf(message), (market) => market.readBook(message, receivedAt, tell));
    } else if (kind === "price_change") {
      this.#settle(this.#marketOfChanges(message), (market) => market.readChanges(message, receivedAt, tell));
    } else if (kind === "last_trade_price") {
      this.#marketOf(message)?.readTrade(message, receivedAt, tell);
    } else if (kind === "tick_size_change") {
      const market = this.#marketOf(message);
      if (market !== undefined) tell({ kind: "changed", marketId: market.marketId, receivedAt });
    } else if (isResolvedMessage(message)) {
      const markets = new Set(message.assets_ids.flatMap((token) => this.#byToken.get(token) ?? []));
      for (const { marketId } of markets) tell({ kind: "changed", marketId, receivedAt });
    } else if (isNewMarketMessage(message)) {
      tell({ kind: "listed", marketId: String(message.id), receivedAt });
    } else if (kind === null || kind === "market_resolved" || kind === "new_market") {
      this.#options.ports.drop("bad_message");
    }
  }

  #marketOf(message: unknown): OrderBookTracker | undefined {
    const market = isAssetMessage(message) ? this.#byToken.get(message.asset_id) : undefined;
    if (market !== undefined) this.#pace.heard();
    return market;
  }

  #marketOfChanges(message: unknown): OrderBookTracker | undefined {
    const { drop, detectors } = this.#options.ports;
    if (!isPriceChangeMessage(message)) {
      drop("bad_message");
      // Refused as a whole; which of its changes is of another shape is told by a look at each.
      for (const change of changesOf(message)) detectors.stream_price_change.check(change, isPriceChange);
      return undefined;
    }
    const known = message.price_changes.find((change) => this.#byToken.has(change.asset_id));
    if (known === undefined) return undefined;
    this.#pace.heard();
    return this.#byToken.get(known.asset_id);
  }

  /** Reads, and asks for a fresh book when what we hold turned out wrong: only a new subscription brings one at once. */
  #settle(market: OrderBookTracker | undefined, read: (market: OrderBookTracker) => string | null): void {
    if (market === undefined || read(market) === null) return;
    const now = this.#options.ports.clock.monotonic();
    const last = this.#refreshedAt.get(market.marketId);
    if (last !== undefined && now - last < REFRESH_MS_MIN) return;
    this.#refreshedAt.set(market.marketId, now);
    const assets = [market.tokens.tokenYes, market.tokens.tokenNo];
    this.#unsubscribe(assets);
    this.#subscribe(assets);
  }
}

function changesOf(message: unknown): readonly unknown[] {
  const changes =
    typeof message === "object" && message !== null && "price_changes" in message ? message.price_changes : null;
  return Array.isArray(changes) ? changes.slice(0, CHANGES_LOOKED_AT_MAX) : [];
}
