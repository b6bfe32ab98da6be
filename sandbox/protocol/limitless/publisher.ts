import type { Namespace, Socket } from "socket.io";
import type { FeedEvent, ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { presentSocketBook } from "./book-json.ts";
import { categoryIds } from "./categories.ts";
import { isGroup, limitlessAddress, limitlessEventSlug, limitlessSlug, numericMarketId } from "./ids.ts";
import { ammPrice } from "./market-json.ts";

/** A publisher hands over to another one this often, whose versions begin anew. */
const PUBLISHER_LIFE_MS = 6 * 3_600_000;
const BLOCK_MS = 2_000;
export const LIFECYCLE_ROOM = "lifecycle";

export function marketRoom(market: ListedMarket): string {
  return `market:${market.index}`;
}

/** Turns what happens in the world into frames for those who listen; several changes at once become one full book. */
export class Publisher {
  readonly #context: ExchangeContext;
  readonly #namespace: Namespace;
  readonly #dirty = new Map<ListedMarket, number>();
  /** Instant of the newest frame of a market: later frames must not carry an earlier one. */
  readonly #publishedAt = new WeakMap<ListedMarket, number>();
  #isFlushPlanned = false;

  constructor(context: ExchangeContext, namespace: Namespace) {
    this.#context = context;
    this.#namespace = namespace;
  }

  receive(event: FeedEvent): void {
    const { market } = event;
    if (event.kind === "listed") this.#tellCreated(market, event.at);
    else if (event.kind === "lifecycle" && event.to === "finalized") this.#tellResolved(market, event.at);
    else if (this.#hasListeners(marketRoom(market))) this.#plan(market, event.at);
  }

  #plan(market: ListedMarket, at: number): void {
    this.#dirty.set(market, at);
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    setImmediate(() => this.#flush());
  }

  /** Resolved markets get no snapshot. */
  isOpen(market: ListedMarket): boolean {
    return this.#context.now() < market.finalizeAt;
  }

  /** What a socket gets right after subscribing to an order-book market. */
  sendSnapshot(socket: Socket, market: ListedMarket): void {
    socket.emit("orderbookUpdate", this.#bookFrame(market, this.#stamp(market, this.#context.now())));
  }

  #flush(): void {
    this.#isFlushPlanned = false;
    for (const [market, changedAt] of this.#dirty) {
      const at = this.#stamp(market, changedAt);
      const room = this.#namespace.to(marketRoom(market));
      if (market.mechanism === "amm") room.emit("newPriceData", this.#priceFrame(market, at));
      else room.emit("orderbookUpdate", this.#bookFrame(market, at));
    }
    this.#dirty.clear();
  }

  /** A change that a snapshot already showed is told as of that snapshot. */
  #stamp(market: ListedMarket, at: number): number {
    const stamped = Math.max(at, this.#publishedAt.get(market) ?? 0);
    this.#publishedAt.set(market, stamped);
    return stamped;
  }

  #bookFrame(market: ListedMarket, at: number): Record<string, unknown> {
    const { world } = this.#context;
    const book = world.book(market, at);
    const born = Math.max(market.openAt, Math.floor(at / PUBLISHER_LIFE_MS) * PUBLISHER_LIFE_MS);
    return {
      marketSlug: limitlessSlug(market),
      orderbook: presentSocketBook(market, book),
      timestamp: new Date(at).toISOString(),
      version: book.version - world.book(market, born).version + 1,
    };
  }

  #priceFrame(market: ListedMarket, at: number): Record<string, unknown> {
    const yesPrice = ammPrice(this.#context, market, at);
    const noPrice = Math.round((1 - yesPrice) * 1e6) / 1e6;
    const marketAddress = limitlessAddress(market);
    return {
      marketAddress,
      updatedPrices: [{ marketId: numericMarketId(market), marketAddress, yesPrice, noPrice }],
      blockNumber: Math.floor(at / BLOCK_MS),
      timestamp: new Date(at).toISOString(),
    };
  }

  #tellCreated(market: ListedMarket, at: number): void {
    if (!this.#hasListeners(LIFECYCLE_ROOM)) return;
    const { event } = market;
    this.#namespace.to(LIFECYCLE_ROOM).emit("marketCreated", {
      slug: limitlessSlug(market),
      title: isGroup(event) ? market.label : market.question,
      type: market.mechanism === "amm" ? "AMM" : "CLOB",
      ...(isGroup(event) ? { groupSlug: limitlessEventSlug(event) } : {}),
      categoryIds: categoryIds(event),
      createdAt: new Date(at).toISOString(),
    });
  }

  /** Told once to the lifecycle room and once to the market's own: who is in both hears it twice. */
  #tellResolved(market: ListedMarket, at: number): void {
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
