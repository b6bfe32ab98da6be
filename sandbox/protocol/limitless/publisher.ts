import type { Namespace, Socket } from "socket.io";
import { HOUR_MS } from "../../../src/lib/durations.ts";
import type { FeedEvent, ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { presentSocketBook } from "./book-json.ts";
import { limitlessAddress, limitlessSlug } from "./ids.ts";
import { ammPriceOf } from "./market-json.ts";
import { publishedBook } from "./published-book.ts";
import { roundTo6Decimals } from "./units.ts";

/** Book versions restart at this interval, as they do if the venue restarts its publisher process. */
const VERSION_RESET_INTERVAL_MS = 6 * HOUR_MS;
export const LIFECYCLE_ROOM = "lifecycle";

const typeOf = ({ mechanism }: ListedMarket) => mechanism.toUpperCase();

export function marketRoomOf(market: ListedMarket): string {
  return `market:${market.index}`;
}

/** Publishes world events as socket frames. All changes of a market in one event-loop iteration result in one frame. */
export class Publisher {
  readonly #context: ExchangeContext;
  readonly #namespace: Namespace;
  /** Markets changed since the last flush, with the time of the latest change. */
  readonly #changedAtByMarket = new Map<ListedMarket, number>();
  /** Timestamp of the last frame of each market. The timestamps of a market never decrease. */
  readonly #publishedAtByMarket = new WeakMap<ListedMarket, number>();
  #isFlushScheduled = false;

  constructor(context: ExchangeContext, namespace: Namespace) {
    this.#context = context;
    this.#namespace = namespace;
  }

  receive(event: FeedEvent): void {
    const { market } = event;
    if (event.kind === "listed") this.#emitCreated(market);
    else if (event.kind === "lifecycle" && event.to === "finalized") this.#emitResolved(market, event.at);
    else if (this.#hasSubscribers(marketRoomOf(market))) this.#scheduleFlush(market, event.at);
  }

  #scheduleFlush(market: ListedMarket, at: number): void {
    this.#changedAtByMarket.set(market, at);
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    setImmediate(() => this.#flush());
  }

  /** The venue sends no snapshot of a resolved market. */
  isUnresolved(market: ListedMarket): boolean {
    return this.#context.now() < market.finalizeAt;
  }

  sendSnapshot(socket: Socket, market: ListedMarket): void {
    socket.emit("orderbookUpdate", this.#createBookFrame(market, this.#nextTimestamp(market, this.#context.now())));
  }

  #flush(): void {
    this.#isFlushScheduled = false;
    for (const [market, changedAt] of this.#changedAtByMarket) {
      const at = this.#nextTimestamp(market, changedAt);
      const room = this.#namespace.to(marketRoomOf(market));
      if (market.mechanism === "amm") room.emit("newPriceData", this.#createPriceFrame(market, at));
      else room.emit("orderbookUpdate", this.#createBookFrame(market, at));
    }
    this.#changedAtByMarket.clear();
  }

  /** Returns the timestamp of a frame: `at`, or the timestamp of the previous frame of the market if that is later. */
  #nextTimestamp(market: ListedMarket, at: number): number {
    const timestamp = Math.max(at, this.#publishedAtByMarket.get(market) ?? 0);
    this.#publishedAtByMarket.set(market, timestamp);
    return timestamp;
  }

  #createBookFrame(market: ListedMarket, at: number): Record<string, unknown> {
    const { world } = this.#context;
    const book = publishedBook(this.#context, market, at);
    const startedAt = Math.max(market.openAt, Math.floor(at / VERSION_RESET_INTERVAL_MS) * VERSION_RESET_INTERVAL_MS);
    return {
      marketSlug: limitlessSlug(market),
      orderbook: presentSocketBook(market, book),
      timestamp: new Date(at).toISOString(),
      version: book.version - world.book(market, startedAt).version + 1,
    };
  }

  #createPriceFrame(market: ListedMarket, at: number): Record<string, unknown> {
    const yesPrice = ammPriceOf(this.#context, market, at);
    const marketAddress = limitlessAddress(market);
    return {
      marketAddress,
      updatedPrices: [{ marketAddress, yesPrice, noPrice: roundTo6Decimals(1 - yesPrice) }],
      timestamp: new Date(at).toISOString(),
    };
  }

  #emitCreated(market: ListedMarket): void {
    this.#namespace.to(LIFECYCLE_ROOM).emit("marketCreated", { slug: limitlessSlug(market), type: typeOf(market) });
  }

  /** A socket that is subscribed to the market and to the lifecycle channel receives the frame three times. */
  #emitResolved(market: ListedMarket, at: number): void {
    const { outcome } = this.#context.world.lifecycle(market, at);
    const isNo = outcome?.kind === "no" || (outcome?.kind === "partial" && outcome.value < 0.5);
    const frame = { slug: limitlessSlug(market), type: typeOf(market), winningOutcome: isNo ? "NO" : "YES" };
    for (const room of [LIFECYCLE_ROOM, marketRoomOf(market), marketRoomOf(market)])
      this.#namespace.to(room).emit("marketResolved", frame);
  }

  #hasSubscribers(room: string): boolean {
    return this.#namespace.adapter.rooms.has(room);
  }
}
