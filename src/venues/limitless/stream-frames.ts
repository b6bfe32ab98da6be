import type { DropCounter, StreamHandlers } from "../../ports/venue.ts";
import type { FollowedMarket, FollowedMarkets } from "./followed-markets.ts";
import { type PartialQuote, parseBookFrame, parsePriceFrame } from "./parse-book.ts";
import { parseTime } from "./parse-values.ts";
import type { LimitlessDriftDetectors } from "./wire.ts";
import { isBookFrame, isLifecycleFrame, isPriceFrame } from "./wire.ts";

/** Number of resolved markets remembered to deliver a repeated `marketResolved` frame only once. */
const RESOLVED_MAX = 5_000;
/** A frame whose timestamp is further ahead of our clock has an invalid timestamp. */
const FRAME_AHEAD_MS_MAX = 60_000;

export type FrameListener = (payload: unknown, receivedAt: number) => void;

export interface FrameListenerOptions {
  readonly followed: FollowedMarkets;
  readonly onMessage: StreamHandlers["onMessage"];
  /** Called for every book or price frame of a followed market. */
  readonly onMarketData: () => void;
  readonly countDrop: DropCounter;
  readonly driftDetectors: LimitlessDriftDetectors;
}

/** Listeners by Socket.IO event name that convert frames to stream messages. */
export function createFrameListeners(options: FrameListenerOptions): Readonly<Record<string, FrameListener>> {
  const { followed, onMessage, countDrop, driftDetectors } = options;
  const resolvedSlugs = new Set<string>();

  const deliverQuote = (
    market: FollowedMarket | undefined,
    timestamp: unknown,
    receivedAt: number,
    parse: () => PartialQuote | null,
  ) => {
    if (market === undefined) return countDrop("stream_frame_not_followed");
    options.onMarketData();
    if (isOutdated(market, timestamp, receivedAt)) return countDrop("stream_frame_overtaken");
    const quote = parse();
    if (quote === null) return;
    const isAhead = typeof quote.eventAt === "number" && quote.eventAt > receivedAt + FRAME_AHEAD_MS_MAX;
    if (isAhead) countDrop("stream_time_ahead");
    onMessage({
      kind: "quote",
      marketId: market.marketId,
      quote: isAhead ? { ...quote, eventAt: null } : quote,
      receivedAt,
    });
  };

  return {
    orderbookUpdate(payload, receivedAt) {
      if (!driftDetectors.stream_book.check(payload, isBookFrame)) return countDrop("bad_stream_frame");
      const market = followed.findBySlug(payload.marketSlug);
      deliverQuote(market, payload.timestamp, receivedAt, () => parseBookFrame(payload, receivedAt, countDrop));
    },
    newPriceData(payload, receivedAt) {
      if (!driftDetectors.stream_price.check(payload, isPriceFrame)) return countDrop("bad_stream_frame");
      const market = followed.findByAddress(payload.marketAddress);
      deliverQuote(market, payload.timestamp, receivedAt, () => parsePriceFrame(payload, countDrop));
    },
    marketResolved(payload, receivedAt) {
      if (!driftDetectors.stream_lifecycle.check(payload, isLifecycleFrame)) return countDrop("bad_stream_frame");
      if (resolvedSlugs.has(payload.slug)) return;
      resolvedSlugs.add(payload.slug);
      const [oldest] = resolvedSlugs;
      if (resolvedSlugs.size > RESOLVED_MAX && oldest !== undefined) resolvedSlugs.delete(oldest);
      const marketId = followed.findBySlug(payload.slug)?.marketId ?? payload.slug;
      onMessage({ kind: "changed", marketId, receivedAt });
    },
    marketCreated(payload, receivedAt) {
      if (!driftDetectors.stream_lifecycle.check(payload, isLifecycleFrame)) return countDrop("bad_stream_frame");
      onMessage({ kind: "listed", marketId: payload.slug, receivedAt });
    },
  };
}

/**
 * Whether a newer frame was already delivered; otherwise records the frame's time. An invalid future time is not
 * recorded, because it would make all later frames outdated.
 */
function isOutdated(market: FollowedMarket, timestamp: unknown, receivedAt: number): boolean {
  const eventAt = parseTime(timestamp);
  if (eventAt === null || eventAt > receivedAt + FRAME_AHEAD_MS_MAX) return false;
  if (eventAt < market.eventAt) return true;
  market.eventAt = eventAt;
  return false;
}
