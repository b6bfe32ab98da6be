import { partitionPoint } from "../../../src/lib/numbers.ts";
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
  /** The world's list. The world returns the same array until the list changes. */
  readonly listed: readonly ListedEvent[];
  /** Sorted by index, ascending: the venue's default order. */
  readonly events: readonly ListedEvent[];
  readonly markets: readonly ListedMarket[];
}

export type Catalogue = ReturnType<typeof createCatalogue>;

/** Lists events and markets in the order of their ids, and finds them by any kind of id. */
export function createCatalogue(world: World, now: Now) {
  let snapshot: Snapshot | null = null;
  /** Recorded markets by kind of id and id. Recorded ids do not contain an index. */
  const recordedMarkets = new Map<string, ListedMarket>();
  const recordedEvents = new Map<string, ListedEvent>();

  const indexRecorded = (event: ListedEvent) => {
    if (event.recorded === undefined || recordedEvents.get(polymarketEventId(event)) === event) return;
    recordedEvents.set(polymarketEventId(event), event);
    for (const market of event.markets) {
      if (market.recorded === undefined) continue;
      recordedMarkets.set(`id ${market.recorded.marketId}`, market);
      recordedMarkets.set(`condition ${polymarketConditionId(market)}`, market);
      for (const token of polymarketTokenIds(market)) recordedMarkets.set(`token ${token}`, market);
    }
  };
  const readSnapshot = (): Snapshot => {
    const at = now();
    const listed = world.events("polymarket", at);
    if (snapshot?.listed === listed) return snapshot;
    const byIndex = (a: { readonly index: number }, b: { readonly index: number }) => a.index - b.index;
    const events = [...listed].sort(byIndex);
    // The markets of sorted events are already sorted by index, except in a recording.
    const markets = events.flatMap((event) => event.markets).filter((market) => isListed(market, at));
    if (world.recording !== undefined) markets.sort(byIndex);
    for (const event of events) indexRecorded(event);
    snapshot = { listed, events, markets };
    return snapshot;
  };
  /** Returns the item of a recording; null in a simulated world. */
  const findRecorded = <Item>(items: ReadonlyMap<string, Item>, key: string): Item | null => {
    if (world.recording === undefined) return null;
    readSnapshot();
    return items.get(key) ?? null;
  };
  const marketByIndex = (index: number | null): ListedMarket | null =>
    index === null ? null : findByIndex(readSnapshot().markets, index);
  /** The index decoded from an id may belong to a market with another id, so the ids are compared. */
  const findMarket = (kind: string, id: string, index: number | null, idOf: (market: ListedMarket) => string) => {
    const recorded = findRecorded(recordedMarkets, `${kind} ${id}`);
    if (recorded !== null) return recorded;
    const market = marketByIndex(index);
    return market !== null && idOf(market) === id ? market : null;
  };

  return {
    listEvents: () => readSnapshot().events,
    listMarkets: () => readSnapshot().markets,
    findMarketById: (id: string) => findMarket("id", id, marketIndexOfId(id), polymarketMarketId),
    findMarketByCondition: (id: string) => findMarket("condition", id, indexOfCondition(id), polymarketConditionId),
    findMarketByToken(token: string): { readonly market: ListedMarket; readonly side: TokenSide } | null {
      const market = findRecorded(recordedMarkets, `token ${token}`) ?? marketByIndex(indexOfToken(token));
      if (market === null) return null;
      const [yes, no] = polymarketTokenIds(market);
      if (token === yes) return { market, side: 0 };
      return token === no ? { market, side: 1 } : null;
    },
    findEventById(id: string): ListedEvent | null {
      const index = eventIndexOfId(id);
      const event =
        findRecorded(recordedEvents, id) ?? (index === null ? null : findByIndex(readSnapshot().events, index));
      return event !== null && polymarketEventId(event) === id ? event : null;
    },
  };
}

/** Returns the position of the first item with a higher index, in an array sorted by index. */
export function positionAfter(items: readonly { readonly index: number }[], index: number): number {
  return partitionPoint(items, (item) => item.index <= index);
}

function findByIndex<Item extends { readonly index: number }>(items: readonly Item[], index: number): Item | null {
  const item = items[positionAfter(items, index) - 1];
  return item !== undefined && item.index === index ? item : null;
}
