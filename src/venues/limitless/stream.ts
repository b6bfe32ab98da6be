import type { MarketListing } from "../../domain/market.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { SocketIoConnection, SocketIoOut } from "../../ports/socket-io-out.ts";
import type { DropCounter, StreamHandlers, VenueStream } from "../../ports/venue.ts";
import { StallDetector } from "../shared/stall-detector.ts";
import { type PartialQuote, parseBookFrame, parsePriceFrame } from "./parse-book.ts";
import { parseMoment } from "./values.ts";
import type { LimitlessDriftDetectors } from "./wire.ts";
import { isBookFrame, isLifecycleFrame, isPriceFrame } from "./wire.ts";

const NAMESPACE = "/markets";
const FRAME_BYTES_MAX = 4 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
/** Resolutions remembered so that their second telling is not passed on. */
const RESOLVED_MAX = 5_000;
/** How often the stream is looked at for silence, and how soon a subscription must be answered by snapshots. */
const CHECK_MS = 10_000;
const SNAPSHOT_MS_MAX = 20_000;
/** A venue's time further ahead of ours than this is a mistake. */
const AHEAD_MS_MAX = 60_000;

export interface StreamOptions {
  readonly socketIo: SocketIoOut;
  readonly wsUrl: string;
  readonly marketsMax: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly drop: DropCounter;
  readonly watch: LimitlessDriftDetectors;
}

interface Followed {
  readonly marketId: string;
  /** Venue's time of the last frame passed on. */
  eventAt: number;
}

/**
 * One Socket.IO connection for all markets followed. A subscription replaces the one before and a reconnect forgets it,
 * so the whole set is sent every time.
 */
export function openLimitlessStream(options: StreamOptions, handlers: StreamHandlers): VenueStream {
  const { clock, drop, log, watch } = options;
  const pace = new StallDetector(clock);
  let isAskedAgain = false;
  let cancelCheck: () => void = () => {};
  let bySlug = new Map<string, Followed>();
  /** Slugs of AMM markets: known for lifecycle frames, never subscribed to by slug. */
  let ammSlugs = new Set<string>();
  let byAddress = new Map<string, Followed>();
  /** Addresses in the venue's own spelling; the map is keyed in lower case. */
  let addresses: readonly string[] = [];
  const resolved = new Set<string>();
  let isUp = false;
  let hasSubscribed = false;
  let isClosed = false;

  const subscribe = (connection: Pick<SocketIoConnection, "emit">) => {
    if (bySlug.size + byAddress.size === 0 && !hasSubscribed) return;
    hasSubscribed = true;
    connection.emit("subscribe_market_prices", {
      marketSlugs: [...bySlug.keys()].filter((slug) => !ammSlugs.has(slug)),
      marketAddresses: addresses,
    });
  };
  /** Older than what was told already: a frame that was overtaken. A time out of the future must not block the rest. */
  const isOvertaken = (followed: Followed, timestamp: unknown, receivedAt: number): boolean => {
    const eventAt = parseMoment(timestamp);
    if (eventAt === null || eventAt > receivedAt + AHEAD_MS_MAX) return false;
    if (eventAt < followed.eventAt) return true;
    followed.eventAt = eventAt;
    return false;
  };

  const tell = (followed: Followed, quote: PartialQuote, receivedAt: number) => {
    const isAhead = typeof quote.eventAt === "number" && quote.eventAt > receivedAt + AHEAD_MS_MAX;
    if (isAhead) drop("stream_time_ahead");
    handlers.onMessage({
      kind: "quote",
      marketId: followed.marketId,
      quote: isAhead ? { ...quote, eventAt: null } : quote,
      receivedAt,
    });
  };

  const onBook = (payload: unknown, receivedAt: number) => {
    if (!watch.stream_book.check(payload, isBookFrame)) return drop("bad_stream_frame");
    const followed = bySlug.get(payload.marketSlug);
    if (followed === undefined) return drop("stream_frame_not_followed");
    pace.heard();
    isAskedAgain = false;
    if (isOvertaken(followed, payload.timestamp, receivedAt)) return drop("stream_frame_overtaken");
    tell(followed, parseBookFrame(payload, receivedAt, drop), receivedAt);
  };

  const onPrice = (payload: unknown, receivedAt: number) => {
    if (!watch.stream_price.check(payload, isPriceFrame)) return drop("bad_stream_frame");
    const followed = byAddress.get(payload.marketAddress.toLowerCase());
    if (followed === undefined) return drop("stream_frame_not_followed");
    pace.heard();
    isAskedAgain = false;
    if (isOvertaken(followed, payload.timestamp, receivedAt)) return drop("stream_frame_overtaken");
    const quote = parsePriceFrame(payload, drop);
    if (quote !== null) tell(followed, quote, receivedAt);
  };

  const onResolved = (payload: unknown, receivedAt: number) => {
    if (!watch.stream_lifecycle.check(payload, isLifecycleFrame)) return drop("bad_stream_frame");
    if (resolved.has(payload.slug)) return;
    resolved.add(payload.slug);
    const [oldest] = resolved;
    if (resolved.size > RESOLVED_MAX && oldest !== undefined) resolved.delete(oldest);
    const marketId = bySlug.get(payload.slug)?.marketId ?? payload.slug;
    handlers.onMessage({ kind: "changed", marketId, receivedAt });
  };

  const onCreated = (payload: unknown, receivedAt: number) => {
    if (!watch.stream_lifecycle.check(payload, isLifecycleFrame)) return drop("bad_stream_frame");
    handlers.onMessage({ kind: "listed", marketId: payload.slug, receivedAt });
  };

  const listeners: Readonly<Record<string, (payload: unknown, receivedAt: number) => void>> = {
    orderbookUpdate: onBook,
    newPriceData: onPrice,
    marketResolved: onResolved,
    marketCreated: onCreated,
    exception: (payload) => {
      drop("stream_exception");
      log.warn({ exception: String(JSON.stringify(payload)).slice(0, 300) }, "limitless refused a subscription");
    },
  };

  const connect = (): SocketIoConnection => {
    let isCurrent = true;
    const opened = options.socketIo.connect(
      options.wsUrl,
      { namespace: NAMESPACE, maxFrameBytes: FRAME_BYTES_MAX, connectTimeoutMs: CONNECT_TIMEOUT_MS },
      {
        onUp(emit) {
          if (isClosed || !isCurrent) return;
          isUp = true;
          hasSubscribed = false;
          pace.restart();
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
          if (isClosed) return;
          drop("stream_connection_lost");
          handlers.onDown(reason);
        },
      },
    );
    return {
      emit: (event, payload) => opened.emit(event, payload),
      close() {
        isCurrent = false;
        opened.close();
      },
    };
  };

  /**
   * Engine.IO's heartbeat only says that the connection lives. Each subscription is answered by a snapshot of every book, so
   * a stream gone quiet is first asked for them; where nothing comes even then, the connection is made anew.
   */
  const check = () => {
    if (isUp && bySlug.size > 0) {
      const isLost = isAskedAgain && pace.silentMs > SNAPSHOT_MS_MAX;
      if (isLost || pace.takeAlarm()) {
        drop("stream_frozen");
        if (isLost) reopen();
        else subscribe(connection);
        isAskedAgain = !isLost;
      }
    }
    cancelCheck = clock.setTimeout(check, CHECK_MS);
  };

  const reopen = () => {
    connection.close();
    isUp = false;
    handlers.onDown("no market data came");
    connection = connect();
  };

  let connection = connect();
  cancelCheck = clock.setTimeout(check, CHECK_MS);

  return {
    follow(markets) {
      if (bySlug.size === 0) pace.restart();
      const before = new Map([...bySlug.values(), ...byAddress.values()].map((entry) => [entry.marketId, entry]));
      bySlug = new Map();
      byAddress = new Map();
      ammSlugs = new Set();
      const spelled: string[] = [];
      for (const market of markets.slice(0, options.marketsMax)) {
        const followed = before.get(market.marketId) ?? { marketId: market.marketId, eventAt: 0 };
        const slug = slugOf(market);
        bySlug.set(slug, followed);
        if (market.venueKeys.kind !== "amm") continue;
        ammSlugs.add(slug);
        byAddress.set(market.marketId.toLowerCase(), followed);
        spelled.push(market.marketId);
      }
      addresses = spelled;
      if (isUp) subscribe(connection);
    },
    close() {
      isClosed = true;
      cancelCheck();
      connection.close();
    },
  };
}

function slugOf(market: MarketListing): string {
  return market.venueKeys.slug ?? market.marketId;
}
