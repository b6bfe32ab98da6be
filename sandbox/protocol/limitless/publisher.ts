import type { Namespace, Socket } from "socket.io";
import type { FeedEvent, ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { presentSocketBook } from "./book-json.ts";
import { categoryIds } from "./categories.ts";
import { isGroup, limitlessAddress, limitlessEventSlug, limitlessSlug, numericMarketId } from "./ids.ts";
import { ammPrice } from "./market-json.ts";
import { round6 } from "./units.ts";

/** Book versions restart at this interval, as when the venue's publisher process is replaced. */
const VERSION_RESET_MS = 6 * 3_600_000;
const BLOCK_MS = 2_000;
export const LIFECYCLE_ROOM = "lifecycle";

export function marketRoom(market: ListedMarket): string {
  return `market:${market.index}`;
}

/** Publishes world events as socket frames. Changes within one event-loop iteration are combined into one full book. */
export class Publisher {
  readonly #context: ExchangeContext;
  readonly #namespace: Namespace;
  /** Markets changed since the last flush, with the time of the latest change. */
  readonly #changed = new Map<ListedMarket, number>();
  /** Timestamp of the newest frame per market; timestamps of a market never decrease. */
  readonly #publishedAt = new WeakMap<ListedMarket, number>();
  #isFlushScheduled = false;

  constructor(context: ExchangeContext, namespace: Namespace) {
    this.#context = context;
    this.#namespace = namespace;
  }

  receive(event: FeedEvent): void {
    const { market } = event;
    if (event.kind === "listed") this.#emitCreated(market, event.at);
    else if (event.kind === "lifecycle" && event.to === "finalized") this.#emitResolved(market, event.at);
    else if (this.#hasListeners(marketRoom(market))) this.#scheduleFlush(market, event.at);
  }

  #scheduleFlush(market: ListedMarket, at: number): void {
    this.#changed.set(market, at);
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    setImmediate(() => this.#flush());
  }

  /** Whether the market is unresolved; the venue sends no snapshot of resolved markets. */
  isOpen(market: ListedMarket): boolean {
    return this.#context.now() < market.finalizeAt;
  }

  sendSnapshot(socket: Socket, market: ListedMarket): void {
    socket.emit("orderbookUpdate", this.#bookFrame(market, this.#stamp(market, this.#context.now())));
  }

  #flush(): void {
    this.#isFlushScheduled = false;
    for (const [market, changedAt] of this.#changed) {
      const at = this.#stamp(market, changedAt);
      const room = this.#namespace.to(marketRoom(market));
      if (market.mechanism === "amm") room.emit("newPriceData", this.#priceFrame(market, at));
      else room.emit("orderbookUpdate", this.#bookFrame(market, at));
    }
    this.#changed.clear();
  }

  /** The timestamp for a frame: `at`, or the newest one already sent for this market if that is later. */
  #stamp(market: ListedMarket, at: number): number {
    const stamped = Math.max(at, this.#publishedAt.get(market) ?? 0);
    this.#publishedAt.set(market, stamped);
    return stamped;
  }

  #bookFrame(market: ListedMarket, at: number): Record<string, unknown> {
    const { world } = this.#context;
    const book = world.book(market, at);
    const startedAt = Math.max(market.openAt, Math.floor(at / VERSION_RESET_MS) * VERSION_RESET_MS);
    return {
      marketSlug: limitlessSlug(market),
      orderbook: presentSocketBook(market, book),
      timestamp: new Date(at).toISOString(),
      version: book.version - world.book(market, startedAt).version + 1,
    };
  }

  #priceFrame(market: ListedMarket, at: number): Record<string, unknown> {
    const yesPrice = ammPrice(this.#context, market, at);
    const noPrice = round6(1 - yesPrice);
    const marketAddress = limitlessAddress(market);
    return {
      marketAddress,
      updatedPrices: [{ marketId: numericMarketId(market), marketAddress, yesPrice, noPrice }],
      blockNumber: Math.floor(at / BLOCK_MS),
      timestamp: new Date(at).toISOString(),
    };
  }

  #emitCreated(market: ListedMarket, at: number): void {
    if (!this.#hasListeners(LIFECYCLE_ROOM)) return;
    const { event } = market;
    this.#namespace.to(LIFECYCLE_ROOM).emit("marketCreated", {
      slug: limitlessSlug(market),
      title: isGroup(event) ? market.label : market.question,
      type: market.mechanism === "amm" ? "AMM" : "CLOB",
      groupSlug: isGroup(event) ? limitlessEventSlug(event) : undefined,
      categoryIds: categoryIds(event),
      createdAt: new Date(at).toISOString(),
    });
  }

  /** Emitted to both rooms, as the venue does: a socket in both receives the frame twice. */
  #emitResolved(market: ListedMarket, at: number): void {
    const { outcome } = this.#context.world.lifecycle(market, at);
    const isNo = outcome?.kind === "no" || (outcome?.kind === "partial" && outcome.value < 0.5);
    const frame = {
      slug: limitlessSlug(market),
      type: market.mechanism === "amm" ? "AMM" : "CLOB",
      winningOutcome: isNo ? "NO" : "YES",
      winningIndex: isNo ? 1 : 0,
      resolutionDate: new Date(at).toISOString(),
    };
    for (const room of [LIFECYCLE_ROOM, marketRoom(market)]) this.#namespace.to(room).emit("marketResolved", frame);
  }

  #hasListeners(room: string): boolean {
    return this.#namespace.adapter.rooms.has(room);
  }
}
