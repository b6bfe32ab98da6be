import type { Namespace, Socket } from "socket.io";
import type { FeedEvent, ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { presentBook } from "./book-json.ts";
import { limitlessAddress, limitlessSlug } from "./ids.ts";
import { ammPriceOf } from "./market-json.ts";
import { publishedBook } from "./published-book.ts";
import { roundTo6Decimals } from "./units.ts";

export const LIFECYCLE_ROOM = "lifecycle";

const typeOf = ({ mechanism }: ListedMarket) => mechanism.toUpperCase();

export const marketRoomOf = (market: ListedMarket): string => `market:${market.index}`;

export type Publisher = ReturnType<typeof createPublisher>;

/** Publishes world events as socket frames. All changes of a market in one event-loop iteration result in one frame. */
export function createPublisher(context: ExchangeContext, namespace: Namespace) {
  const { world, now } = context;
  /** Markets changed since the last flush, with the time of the latest change. */
  const changedAtByMarket = new Map<ListedMarket, number>();
  /** Timestamp of the last frame of each market. The timestamps of a market never decrease. */
  const publishedAtByMarket = new WeakMap<ListedMarket, number>();
  let isFlushScheduled = false;

  /** Returns the timestamp of a frame: `at`, or the timestamp of the previous frame of the market if that is later. */
  const nextTimestamp = (market: ListedMarket, at: number): number => {
    const timestamp = Math.max(at, publishedAtByMarket.get(market) ?? 0);
    publishedAtByMarket.set(market, timestamp);
    return timestamp;
  };
  const createBookFrame = (market: ListedMarket, at: number) => ({
    marketSlug: limitlessSlug(market),
    orderbook: presentBook(market, publishedBook(context, market, at)),
    timestamp: new Date(at).toISOString(),
  });
  const createPriceFrame = (market: ListedMarket, at: number) => {
    const yesPrice = ammPriceOf(context, market, at);
    const marketAddress = limitlessAddress(market);
    return {
      marketAddress,
      updatedPrices: [{ marketAddress, yesPrice, noPrice: roundTo6Decimals(1 - yesPrice) }],
      timestamp: new Date(at).toISOString(),
    };
  };
  const flush = () => {
    isFlushScheduled = false;
    for (const [market, changedAt] of changedAtByMarket) {
      const at = nextTimestamp(market, changedAt);
      const room = namespace.to(marketRoomOf(market));
      if (market.mechanism === "amm") room.emit("newPriceData", createPriceFrame(market, at));
      else room.emit("orderbookUpdate", createBookFrame(market, at));
    }
    changedAtByMarket.clear();
  };
  const scheduleFlush = (market: ListedMarket, at: number) => {
    changedAtByMarket.set(market, at);
    if (isFlushScheduled) return;
    isFlushScheduled = true;
    setImmediate(flush);
  };
  const emitCreated = (market: ListedMarket) =>
    namespace.to(LIFECYCLE_ROOM).emit("marketCreated", { slug: limitlessSlug(market), type: typeOf(market) });
  /** A socket that is subscribed to the market and to the lifecycle channel receives the frame three times. */
  const emitResolved = (market: ListedMarket, at: number) => {
    const { outcome } = world.lifecycle(market, at);
    const isNo = outcome?.kind === "no" || (outcome?.kind === "partial" && outcome.value < 0.5);
    const frame = { slug: limitlessSlug(market), type: typeOf(market), winningOutcome: isNo ? "NO" : "YES" };
    for (const room of [LIFECYCLE_ROOM, marketRoomOf(market), marketRoomOf(market)])
      namespace.to(room).emit("marketResolved", frame);
  };

  return {
    receive(event: FeedEvent): void {
      const { market } = event;
      if (event.kind === "listed") emitCreated(market);
      else if (event.kind === "lifecycle" && event.to === "finalized") emitResolved(market, event.at);
      else if (namespace.adapter.rooms.has(marketRoomOf(market))) scheduleFlush(market, event.at);
    },
    /** Sends the current book of a market. The venue sends no snapshot of a resolved market. */
    sendSnapshot(socket: Socket, market: ListedMarket): void {
      if (now() >= market.finalizeAt) return;
      socket.emit("orderbookUpdate", createBookFrame(market, nextTimestamp(market, now())));
    },
  };
}
