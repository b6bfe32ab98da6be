import type { StreamHandlers, VenueStream } from "../../ports/venue.ts";
import { parsePrice } from "../shared/parse-values.ts";
import { openReconnectingSocket } from "../shared/reconnecting-socket.ts";
import { createStallDetector, type StallDetector } from "../shared/stall-detector.ts";
import type { KalshiContext } from "./client.ts";
import { parseTopOfBook } from "./parse-market.ts";
import { parseTrade } from "./parse-trades.ts";
import { parseMs } from "./parse-values.ts";
import type { Signer } from "./sign.ts";
import { LIFECYCLE_CHANNEL, Subscriptions } from "./subscriptions.ts";
import {
  isErrorMessage,
  isLifecycleMessage,
  isSocketMessage,
  isSubscribed,
  isSubscriptionList,
  isTickerMessage,
  isTradeMessage,
} from "./wire.ts";

/** Maximum silence: two missed pings and a margin. The server sends a ping about every 10 s. */
const SILENCE_MS_MAX = 25_000;
const TOO_MANY_MARKETS_CODE = 26;

export interface KalshiStreamOptions {
  readonly ports: Pick<KalshiContext, "sockets" | "clock" | "random" | "log" | "countDrop" | "driftDetectors">;
  readonly wsUrl: string;
  readonly signer: Signer;
  readonly handlers: StreamHandlers;
  readonly marketsMax: number;
}

/** Streams quotes and trades of the followed markets, and lifecycle changes of all markets. */
export function openStream(options: KalshiStreamOptions): VenueStream {
  const { ports, handlers, signer } = options;
  const stallDetector = createStallDetector(ports.clock);
  const subscriptions = new Subscriptions({
    clock: ports.clock,
    marketsMax: options.marketsMax,
    onUp: () => handlers.onUp(),
    onDown: (reason) => handlers.onDown(reason),
  });
  const readers = createMessageReaders(options, subscriptions, stallDetector);

  const socket = openReconnectingSocket({
    sockets: ports.sockets,
    clock: ports.clock,
    random: ports.random,
    url: options.wsUrl,
    headers: () => signer("GET", new URL(options.wsUrl).pathname, ports.clock.now()),
    heartbeat: null,
    silenceMsMax: SILENCE_MS_MAX,
    countDrop: ports.countDrop,
    isStalled: () => subscriptions.followedCount > 0 && stallDetector.detectStall(),
    onOpen(send) {
      stallDetector.restart();
      subscriptions.onConnected(send);
    },
    onMessage(text, receivedAt) {
      const message = ports.driftDetectors.stream.parse(text, isSocketMessage);
      if (message === null) return ports.countDrop("bad_message");
      if (message.type === "subscribed") return readers.subscribed(message.msg);
      if (message.type === "error") return readers.error(message.msg);
      if (subscriptions.isListResponse(message)) return readers.list(message.msg);
      if (message.type === "unsubscribed") return;
      // If a confirmation was lost, the subscription id of its messages is unknown.
      if (!subscriptions.isCurrent(message)) return ports.countDrop("message_not_subscribed");
      const order = subscriptions.checkSequence(message);
      if (order === "repeated") return ports.countDrop("message_repeated");
      if (order === "gap") {
        ports.countDrop("sequence_gap");
        subscriptions.renew("sequence gap");
      }
      if (message.type === "ticker") readers.ticker(message.msg, receivedAt);
      else if (message.type === "trade") readers.trade(message.msg, receivedAt);
      else if (message.type === LIFECYCLE_CHANNEL) readers.lifecycle(message.msg, receivedAt);
    },
    onDown(reason) {
      subscriptions.onDisconnected();
      handlers.onDown(reason);
    },
  });

  return {
    follow(markets) {
      if (subscriptions.followedCount === 0) stallDetector.restart();
      subscriptions.follow(markets.map(({ marketId }) => marketId));
    },
    close() {
      subscriptions.close();
      socket.close();
    },
  };
}

/** Creates one reader for each type of message that the adapter uses. */
function createMessageReaders(
  { ports, handlers }: KalshiStreamOptions,
  subscriptions: Subscriptions,
  stallDetector: StallDetector,
) {
  const { driftDetectors, countDrop } = ports;
  return {
    subscribed(msg: unknown) {
      if (!isSubscribed(msg)) return countDrop("bad_message");
      subscriptions.confirm(msg.channel, msg.sid);
    },
    list(msg: unknown) {
      subscriptions.replaceListed(isSubscriptionList(msg) ? msg.map(({ sid }) => sid) : []);
    },
    error(msg: unknown) {
      if (!isErrorMessage(msg)) return countDrop("bad_message");
      countDrop(`stream_error_${msg.code}`);
      ports.log.warn({ code: msg.code, text: msg.msg ?? null }, "the venue refused a stream command");
      if (msg.code === TOO_MANY_MARKETS_CODE) subscriptions.halveMarkets();
      // After a rejected command, the subscriptions no longer match the followed markets.
      subscriptions.renew(`error ${msg.code}`);
    },
    ticker(msg: unknown, receivedAt: number) {
      if (!driftDetectors.stream_ticker.check(msg, isTickerMessage)) return countDrop("bad_message");
      if (!subscriptions.isFollowed(msg.market_ticker)) return;
      stallDetector.recordMessage();
      const lastPrice = parsePrice(msg.price_dollars, countDrop);
      const hasTopOfBook = msg.yes_bid_dollars !== undefined || msg.yes_ask_dollars !== undefined;
      const quote = {
        ...(hasTopOfBook ? parseTopOfBook(msg, countDrop) : {}),
        // The price is 0 in markets without a trade; the key is omitted to keep the previous last price.
        ...(lastPrice === null ? {} : { lastPrice }),
        eventAt: parseMs(msg.ts_ms),
      };
      handlers.onMessage({ kind: "quote", marketId: msg.market_ticker, quote, receivedAt });
    },
    trade(msg: unknown, receivedAt: number) {
      if (!driftDetectors.stream_trade.check(msg, isTradeMessage)) return countDrop("bad_message");
      if (!subscriptions.isFollowed(msg.market_ticker)) return;
      stallDetector.recordMessage();
      const trade = parseTrade(msg, countDrop);
      if (trade !== null) handlers.onMessage({ kind: "trade", marketId: msg.market_ticker, trade, receivedAt });
    },
    lifecycle(msg: unknown, receivedAt: number) {
      if (!driftDetectors.stream_lifecycle.check(msg, isLifecycleMessage)) return countDrop("bad_message");
      const kind = msg.event_type === "created" ? "listed" : "changed";
      handlers.onMessage({ kind, marketId: msg.market_ticker, receivedAt });
    },
  };
}
