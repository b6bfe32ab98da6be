import { isListed, type ListedEvent, type ListedMarket, type World } from "../../world/types.ts";
import type { Now } from "../exchange.ts";
import {
  eventIndexOfId,
  indexOfCondition,
  indexOfToken,
  marketIndexOfId,
  polymarketConditionId,
  polymarketEventId,
  polymarketMarketId,
  polymarketTokenIds,
  type TokenSide,
} from "./ids.ts";

interface Snapshot {
  /** The world's list; the world returns the same array until its content changes. */
  readonly listed: readonly ListedEvent[];
  /** Sorted by index, ascending: the venue's default order. */
  readonly events: readonly ListedEvent[];
  readonly markets: readonly ListedMarket[];
}

/** Lists events and markets in the order of their ids, and finds them by any kind of id. */
export class Catalogue {
  readonly #world: World;
  readonly #now: Now;
  #snapshot: Snapshot | null = null;
  /** Recorded markets by kind and value of their ids, which do not contain an index. */
  readonly #recorded = new Map<string, ListedMarket>();
  /** Recorded events by id. */
  readonly #recordedEvents = new Map<string, ListedEvent>();

  constructor(world: World, now: Now) {
    this.#world = world;
    this.#now = now;
  }

  listEvents(): readonly ListedEvent[] {
    return this.#current().events;
  }

  listMarkets(): readonly ListedMarket[] {
    return this.#current().markets;
  }

  findMarketById(id: string): ListedMarket | null {
    return this.#findMarket("id", id, marketIndexOfId(id), polymarketMarketId);
  }

  findMarketByCondition(conditionId: string): ListedMarket | null {
    return this.#findMarket("condition", conditionId, indexOfCondition(conditionId), polymarketConditionId);
  }

  findMarketByToken(token: string): { readonly market: ListedMarket; readonly side: TokenSide } | null {
    const market = this.#findRecorded(`token ${token}`) ?? this.#marketByIndex(indexOfToken(token));
    if (market === null) return null;
    const [yes, no] = polymarketTokenIds(market);
    if (token === yes) return { market, side: 0 };
    return token === no ? { market, side: 1 } : null;
  }

  findEventById(id: string): ListedEvent | null {
    const index = eventIndexOfId(id);
    const event = this.#findRecordedEvent(id) ?? (index === null ? null : findByIndex(this.#current().events, index));
    return event !== null && polymarketEventId(event) === id ? event : null;
  }

  /** The index decoded from an id may belong to a market with another id, so the ids are compared. */
  #findMarket(
    kind: string,
    id: string,
    index: number | null,
    idOf: (market: ListedMarket) => string,
  ): ListedMarket | null {
    const recorded = this.#findRecorded(`${kind} ${id}`);
    if (recorded !== null) return recorded;
    const market = this.#marketByIndex(index);
    return market !== null && idOf(market) === id ? market : null;
  }

  #findRecorded(key: string): ListedMarket | null {
    if (this.#world.recording === undefined) return null;
    this.#current();
    return this.#recorded.get(key) ?? null;
  }

  #findRecordedEvent(id: string): ListedEvent | null {
    if (this.#world.recording === undefined) return null;
    this.#current();
    return this.#recordedEvents.get(id) ?? null;
  }

  #indexRecorded(event: ListedEvent): void {
    if (event.recorded === undefined || this.#recordedEvents.get(polymarketEventId(event)) === event) return;
    this.#recordedEvents.set(polymarketEventId(event), event);
    for (const market of event.markets) {
      if (market.recorded === undefined) continue;
      this.#recorded.set(`id ${market.recorded.marketId}`, market);
      this.#recorded.set(`condition ${polymarketConditionId(market)}`, market);
      for (const token of polymarketTokenIds(market)) this.#recorded.set(`token ${token}`, market);
    }
  }

  #marketByIndex(index: number | null): ListedMarket | null {
    return index === null ? null : findByIndex(this.#current().markets, index);
  }

  #current(): Snapshot {
    const at = this.#now();
    const listed = this.#world.events("polymarket", at);
    if (this.#snapshot?.listed === listed) return this.#snapshot;
    const byIndex = (a: { readonly index: number }, b: { readonly index: number }) => a.index - b.index;
    const events = [...listed].sort(byIndex);
    // The markets of sorted events are already sorted by index, except in a recording.
    const markets = events.flatMap((event) => event.markets).filter((market) => isListed(market, at));
    if (this.#world.recording !== undefined) markets.sort(byIndex);
    for (const event of events) this.#indexRecorded(event);
    this.#snapshot = { listed, events, markets };
    return this.#snapshot;
  }
}

/** Position of the first item with a higher index, in an array sorted by index. */
export function positionAfter(items: readonly { readonly index: number }[], index: number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.index ?? Number.POSITIVE_INFINITY) <= index) low = middle + 1;
    else high = middle;
  }
  return low;
}

function findByIndex<Item extends { readonly index: number }>(items: readonly Item[], index: number): Item | null {
  const item = items[positionAfter(items, index) - 1];
  return item !== undefined && item.index === index ? item : null;
}
