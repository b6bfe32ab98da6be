import type { OrderBook } from "../../domain/order-book.ts";
import type { SocketIoConnection, SocketIoOut } from "../../ports/socket-io-out.ts";
import type { StreamHandlers, VenueStream } from "../../ports/venue.ts";
import { createStallDetector } from "../shared/stall-detector.ts";
import type { LimitlessContext } from "./client.ts";
import { createFrameListeners, FollowedMarkets, type FrameListener } from "./stream-frames.ts";

const NAMESPACE = "/markets";
const FRAME_BYTES_MAX = 4 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
const STALL_CHECK_MS = 10_000;
/** Maximum time between a subscription and its first snapshot. */
const SNAPSHOT_MS_MAX = 20_000;
/**
 * Maximum age of a frame that is used as the market's order book. Ingest subscribes every 5 seconds, and the venue then
 * sends a frame of every order book. So a frame is older only if frames were lost, which is not detected otherwise.
 */
export const FRAME_BOOK_AGE_MS_MAX = 15_000;
/** Maximum number of levels, of both sides together, of a kept order book. 1,000 order books then use about 25 MB. */
export const FRAME_BOOK_LEVELS_MAX = 400;

export interface StreamOptions extends Pick<LimitlessContext, "clock" | "log" | "countDrop" | "driftDetectors"> {
  readonly socketIo: SocketIoOut;
  readonly wsUrl: string;
  readonly marketsMax: number;
}

/**
 * One Socket.IO connection for all followed markets. Each subscription replaces the previous one and is lost on
 * reconnect, so the complete set is always sent.
 */
export function openStream(options: StreamOptions, handlers: StreamHandlers): VenueStream {
  const { clock, countDrop, log, driftDetectors } = options;
  const stallDetector = createStallDetector(clock);
  const followed = new FollowedMarkets();
  /** True after a stalled stream was subscribed again and until its snapshot arrives. */
  let isSnapshotPending = false;
  let cancelStallCheck: () => void = () => {};
  let isUp = false;
  let hasSubscribed = false;
  let isClosed = false;

  const listeners: Readonly<Record<string, FrameListener>> = {
    ...createFrameListeners({
      followed,
      countDrop,
      driftDetectors,
      onMessage: (message) => handlers.onMessage(message),
      onMarketData() {
        stallDetector.recordMessage();
        isSnapshotPending = false;
      },
      onBook(market, levels) {
        market.book = isUsable(levels) ? { levels, receivedAt: clock.monotonic() } : null;
      },
    }),
    exception(payload) {
      countDrop("stream_exception");
      log.warn({ exception: String(JSON.stringify(payload)).slice(0, 300) }, "limitless rejected a subscription");
    },
  };

  const subscribe = (connection: Pick<SocketIoConnection, "emit">) => {
    if (followed.isEmpty && !hasSubscribed) return;
    hasSubscribed = true;
    connection.emit("subscribe_market_prices", followed.subscription);
  };

  const connect = (): SocketIoConnection => {
    let isCurrent = true;
    const connection = options.socketIo.connect(
      options.wsUrl,
      { namespace: NAMESPACE, maxFrameBytes: FRAME_BYTES_MAX, connectTimeoutMs: CONNECT_TIMEOUT_MS },
      {
        onUp(emit) {
          if (isClosed || !isCurrent) return;
          isUp = true;
          hasSubscribed = false;
          stallDetector.restart();
          emit("subscribe_market_lifecycle", {});
          subscribe({ emit });
          handlers.onUp();
        },
        onEvent(event, payload, receivedAt) {
          if (isClosed || !isCurrent) return;
          if (Object.hasOwn(listeners, event)) listeners[event]?.(payload, receivedAt);
        },
        onDown(reason) {
          if (!isCurrent) return;
          isUp = false;
          followed.forgetBooks();
          if (isClosed) return;
          countDrop("stream_connection_lost");
          handlers.onDown(reason);
        },
      },
    );
    return {
      emit: (event, payload) => connection.emit(event, payload),
      close() {
        isCurrent = false;
        connection.close();
      },
    };
  };

  const reconnect = () => {
    connection.close();
    isUp = false;
    followed.forgetBooks();
    handlers.onDown("no market data received");
    connection = connect();
  };

  /**
   * Checks for a stall, because Engine.IO's heartbeat only proves that the connection is open. A stalled stream is
   * first subscribed again, which returns a snapshot of every order book. If no snapshot follows, the stream
   * reconnects.
   */
  const checkForStall = () => {
    if (isUp && !followed.isEmpty) {
      const hasSnapshotTimedOut = isSnapshotPending && stallDetector.silentMs() > SNAPSHOT_MS_MAX;
      if (hasSnapshotTimedOut || stallDetector.detectStall()) {
        countDrop("stream_frozen");
        if (hasSnapshotTimedOut) reconnect();
        else subscribe(connection);
        isSnapshotPending = !hasSnapshotTimedOut;
      }
    }
    cancelStallCheck = clock.setTimeout(checkForStall, STALL_CHECK_MS);
  };

  let connection = connect();
  cancelStallCheck = clock.setTimeout(checkForStall, STALL_CHECK_MS);

  return {
    follow(markets) {
      if (followed.isEmpty) stallDetector.restart();
      followed.replace(markets.slice(0, options.marketsMax));
      if (isUp) subscribe(connection);
    },
    bookOf(marketId) {
      const book = followed.findById(marketId)?.book ?? null;
      return book !== null && clock.monotonic() - book.receivedAt <= FRAME_BOOK_AGE_MS_MAX ? book.levels : null;
    },
    close() {
      isClosed = true;
      followed.forgetBooks();
      cancelStallCheck();
      connection.close();
    },
  };
}

/** Returns whether an order book can be kept. Without levels it is not kept: they may have been crossed or invalid. */
function isUsable({ bids, asks }: OrderBook): boolean {
  const levels = bids.length + asks.length;
  return levels > 0 && levels <= FRAME_BOOK_LEVELS_MAX;
}
