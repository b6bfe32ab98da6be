import type { MarketListing } from "../../domain/market.ts";
import type { StreamHandlers, VenueStream } from "../../ports/venue.ts";
import { openReconnectingSocket } from "../shared/reconnecting-socket.ts";
import { StallDetector } from "../shared/stall-detector.ts";
import type { KalshiPorts } from "./client.ts";
import { parseTop } from "./parse.ts";
import { parseMs, parsePrice } from "./parse-scalars.ts";
import { parseTrade } from "./parse-tape.ts";
import type { Signer } from "./sign.ts";
import type { KalshiDriftDetectors } from "./wire.ts";
import {
  isErrorMessage,
  isLifecycleMessage,
  isSocketMessage,
  isSubscribed,
  isTickerMessage,
  isTradeMessage,
  type SocketWire,
} from "./wire.ts";

/** The server pings about every 10 s: two pings missed, and some. */
const SILENCE_MS_MAX = 25_000;
const FOLLOWED_CHANNELS = ["ticker", "trade"] as const;
const LIFECYCLE_CHANNEL = "market_lifecycle_v2";
/** A subscription that ended, was refused or not confirmed is asked for again after this, then ever later. */
const RESUBSCRIBE_MS_MIN = 5_000;
const RESUBSCRIBE_MS_MAX = 5 * 60_000;
const TOO_MANY_MARKETS = 26;

export interface KalshiStreamOptions {
  readonly ports: Pick<KalshiPorts, "sockets" | "clock" | "random" | "log" | "drop" | "detectors">;
  readonly wsUrl: string;
  readonly signer: Signer;
  readonly handlers: StreamHandlers;
  readonly marketsMax: number;
}

/** Quotes and trades of the followed markets, and what happens in the life of any. */
export function openKalshiStream(options: KalshiStreamOptions): VenueStream {
  const { ports, handlers, signer } = options;
  const { detectors } = ports;
  const pace = new StallDetector(ports.clock);
  let followed: ReadonlySet<string> = new Set();
  /** What the venue was told to send, by channel; the difference to `followed` is what is left to say. */
  let told: ReadonlySet<string> = new Set();
  let sids = new Map<string, number>();
  let lastSeq = new Map<number, number>();
  /** Channels of subscriptions asked for and not yet confirmed. */
  let awaited = new Set<string>();
  let commandId = 0;
  let isUp = false;
  /** Messages were lost or a command refused: only starting over makes the stream whole again. */
  let isTorn = false;
  let send: ((text: string) => void) | null = null;
  let marketsMax = options.marketsMax;
  let resubscribeMs = RESUBSCRIBE_MS_MIN;
  let cancelRetry: (() => void) | null = null;

  /** One timer serves confirmations that do not come and refusals alike; the one already running stands. */
  const startOverLater = () => {
    cancelRetry ??= ports.clock.setTimeout(startOver, resubscribeMs);
  };
  const stopRetry = () => {
    cancelRetry?.();
    cancelRetry = null;
  };

  const command = (cmd: string, params: object) => send?.(JSON.stringify({ id: ++commandId, cmd, params }));

  const subscribe = (channels: readonly string[], params: object) => {
    for (const channel of channels) awaited.add(channel);
    startOverLater();
    command("subscribe", { channels, ...params });
  };

  /** Never without markets: an empty list would mean all there are. */
  const subscribeFollowed = () => {
    told = followed;
    if (followed.size === 0) return;
    subscribe(FOLLOWED_CHANNELS, { market_tickers: [...followed], send_initial_snapshot: true });
  };

  const forget = () => {
    stopRetry();
    sids = new Map();
    lastSeq = new Map();
    awaited = new Set();
    told = new Set();
    isUp = false;
    isTorn = false;
  };

  const synchronise = () => {
    if (send === null || FOLLOWED_CHANNELS.some((channel) => awaited.has(channel))) return;
    const added = [...followed].filter((ticker) => !told.has(ticker));
    const removed = [...told].filter((ticker) => !followed.has(ticker));
    if (added.length === 0 && removed.length === 0) return;
    const open = FOLLOWED_CHANNELS.map((channel) => sids.get(channel)).filter((sid) => sid !== undefined);
    if (open.length < FOLLOWED_CHANNELS.length || followed.size === 0) {
      if (open.length > 0) command("unsubscribe", { sids: open });
      for (const channel of FOLLOWED_CHANNELS) sids.delete(channel);
      for (const sid of open) lastSeq.delete(sid);
      subscribeFollowed();
      return;
    }
    told = followed;
    for (const sid of open) {
      const update = (action: string, market_tickers: string[], more = {}) =>
        market_tickers.length > 0 && command("update_subscription", { sid, action, market_tickers, ...more });
      update("add_markets", added, { send_initial_snapshot: true });
      update("delete_markets", removed);
    }
  };

  /** Starts over on the open socket: what the venue has sent until now is incomplete or has ended. */
  const startOver = () => {
    const open = [...sids.values()];
    forget();
    resubscribeMs = Math.min(resubscribeMs * 2, RESUBSCRIBE_MS_MAX);
    if (open.length > 0) command("unsubscribe", { sids: open });
    subscribe([LIFECYCLE_CHANNEL], {});
    subscribeFollowed();
  };

  const distrust = (reason: string) => {
    if (isUp) handlers.onDown(reason);
    isUp = false;
    isTorn = true;
    startOverLater();
  };

  const takeSubscribed = (msg: unknown) => {
    if (!isSubscribed(msg)) return ports.drop("bad_message");
    sids.set(msg.channel, msg.sid);
    awaited.delete(msg.channel);
    if (awaited.size > 0) return;
    synchronise();
    if (awaited.size > 0 || isTorn) return;
    stopRetry();
    if (isUp) return;
    isUp = true;
    resubscribeMs = RESUBSCRIBE_MS_MIN;
    handlers.onUp();
  };

  const takeError = (msg: unknown) => {
    if (!isErrorMessage(msg)) return ports.drop("bad_message");
    ports.drop(`stream_error_${msg.code}`);
    ports.log.warn({ code: msg.code, text: msg.msg ?? null }, "the venue refused a command of the stream");
    if (msg.code === TOO_MANY_MARKETS) {
      marketsMax = Math.max(1, Math.floor(marketsMax / 2));
      followed = new Set([...followed].slice(0, marketsMax));
    }
    // Whatever was refused, what the venue sends is no longer what was asked for.
    distrust(`error ${msg.code}`);
  };

  /** False when messages were lost before this one. */
  const isInSequence = ({ sid, seq }: SocketWire): boolean => {
    if (typeof sid !== "number" || typeof seq !== "number") return true;
    const last = lastSeq.get(sid);
    lastSeq.set(sid, seq);
    return last === undefined || seq === last + 1;
  };

  const isCurrent = ({ sid }: SocketWire): boolean =>
    typeof sid !== "number" || sids.values().some((known) => known === sid);

  const takeTicker = (msg: unknown, receivedAt: number) => {
    if (!detectors.stream_ticker.check(msg, isTickerMessage)) return ports.drop("bad_message");
    if (!followed.has(msg.market_ticker)) return;
    pace.heard();
    const lastPrice = parsePrice(msg.price_dollars, ports.drop);
    const hasTop = msg.yes_bid_dollars !== undefined || msg.yes_ask_dollars !== undefined;
    const quote = {
      ...(hasTop ? parseTop(msg, ports.drop) : {}),
      // A market that never traded has 0 here; that takes no known price away.
      ...(lastPrice === null ? {} : { lastPrice }),
      eventAt: parseMs(msg.ts_ms),
    };
    handlers.onMessage({ kind: "quote", marketId: msg.market_ticker, quote, receivedAt });
  };

  const takeTrade = (msg: unknown, receivedAt: number) => {
    if (!detectors.stream_trade.check(msg, isTradeMessage)) return ports.drop("bad_message");
    if (!followed.has(msg.market_ticker)) return;
    pace.heard();
    const trade = parseTrade(msg, ports.drop);
    if (trade !== null) handlers.onMessage({ kind: "trade", marketId: msg.market_ticker, trade, receivedAt });
  };

  const takeLifecycle = (msg: unknown, receivedAt: number) => {
    if (!detectors.stream_lifecycle.check(msg, isLifecycleMessage)) return ports.drop("bad_message");
    const kind = msg.event_type === "created" ? "listed" : "changed";
    handlers.onMessage({ kind, marketId: msg.market_ticker, receivedAt });
  };

  const socket = openReconnectingSocket({
    sockets: ports.sockets,
    clock: ports.clock,
    random: ports.random,
    url: options.wsUrl,
    headers: () => signer("GET", new URL(options.wsUrl).pathname, ports.clock.now()),
    heartbeat: null,
    silenceMsMax: SILENCE_MS_MAX,
    drop: ports.drop,
    isFrozen: () => followed.size > 0 && pace.takeAlarm(),
    onOpen(sendText) {
      forget();
      send = sendText;
      pace.restart();
      subscribe([LIFECYCLE_CHANNEL], {});
      subscribeFollowed();
    },
    onMessage(text, receivedAt) {
      const message = parseMessage(text, detectors);
      if (message === null) return ports.drop("bad_message");
      if (message.type === "subscribed") return takeSubscribed(message.msg);
      if (message.type === "error") return takeError(message.msg);
      // Also where a confirmation was lost: the venue then sends what we take for somebody else's.
      if (!isCurrent(message)) return ports.drop("message_not_subscribed");
      if (!isInSequence(message)) {
        ports.drop("sequence_gap");
        distrust("sequence gap");
      }
      if (message.type === "ticker") takeTicker(message.msg, receivedAt);
      else if (message.type === "trade") takeTrade(message.msg, receivedAt);
      else if (message.type === LIFECYCLE_CHANNEL) takeLifecycle(message.msg, receivedAt);
    },
    onDown(reason) {
      forget();
      send = null;
      handlers.onDown(reason);
    },
  });

  return {
    follow(markets: readonly MarketListing[]) {
      if (followed.size === 0) pace.restart();
      followed = new Set(markets.slice(0, marketsMax).map(({ marketId }) => marketId));
      synchronise();
    },
    close() {
      stopRetry();
      socket.close();
    },
  };
}

function parseMessage(text: string, detectors: KalshiDriftDetectors): SocketWire | null {
  try {
    const value: unknown = JSON.parse(text);
    return detectors.stream.check(value, isSocketMessage) ? value : null;
  } catch {
    return null;
  }
}
