import { isListed, type ListedEvent, type ListedMarket, type World } from "../../world/types.ts";
import type { Now } from "../exchange.ts";
import {
  eventIndexOfId,
  indexOfHex,
  indexOfSlug,
  indexOfToken,
  marketIndexOfId,
  polymarketConditionId,
  polymarketEventId,
  polymarketEventSlug,
  polymarketMarketId,
  polymarketMarketSlug,
  polymarketQuestionId,
  polymarketTokenIds,
  type TokenSide,
} from "./ids.ts";

interface Arrays {
  /** The world's own list, which stays the same one until it changes. */
  readonly listed: readonly ListedEvent[];
  /** By index, ascending: the venue's default order. */
  readonly events: readonly ListedEvent[];
  readonly markets: readonly ListedMarket[];
}

/** What the venue lists, in the order of its ids, and the way back from each kind of id. */
export class Listing {
  readonly #world: World;
  readonly #now: Now;
  #arrays: Arrays | null = null;
  /** Ids of recorded markets say nothing of their index; each is noted once. */
  readonly #recorded = new Map<string, ListedMarket>();
  readonly #recordedEvents = new Map<string, ListedEvent>();

  constructor(world: World, now: Now) {
    this.#world = world;
    this.#now = now;
  }

  events(): readonly ListedEvent[] {
    return this.#fresh().events;
  }

  markets(): readonly ListedMarket[] {
    return this.#fresh().markets;
  }

  marketById(id: string): ListedMarket | null {
    return (
      this.#findRecorded(`id ${id}`) ?? this.#isWanted(this.#marketByIndex(marketIndexOfId(id)), polymarketMarketId, id)
    );
  }

  marketBySlug(slug: string): ListedMarket | null {
    const market = this.#marketByIndex(indexOfSlug(slug));
    return this.#findRecorded(`slug ${slug}`) ?? this.#isWanted(market, polymarketMarketSlug, slug);
  }

  marketByCondition(conditionId: string): ListedMarket | null {
    const market = this.#marketByIndex(indexOfHex(conditionId));
    return this.#findRecorded(`condition ${conditionId}`) ?? this.#isWanted(market, polymarketConditionId, conditionId);
  }

  marketByQuestion(questionId: string): ListedMarket | null {
    const market = this.#marketByIndex(indexOfHex(questionId));
    return market !== null && polymarketQuestionId(market) === questionId ? market : null;
  }

  marketByToken(token: string): { readonly market: ListedMarket; readonly side: TokenSide } | null {
    const market = this.#findRecorded(`token ${token}`) ?? this.#marketByIndex(indexOfToken(token));
    if (market === null) return null;
    const [yes, no] = polymarketTokenIds(market);
    if (token === yes) return { market, side: 0 };
    return token === no ? { market, side: 1 } : null;
  }

  eventById(id: string): ListedEvent | null {
    const recorded = this.#findRecordedEvent(`id ${id}`);
    const event = recorded ?? this.eventByIndex(eventIndexOfId(id));
    return event !== null && polymarketEventId(event) === id ? event : null;
  }

  eventBySlug(slug: string): ListedEvent | null {
    const event = this.#findRecordedEvent(`slug ${slug}`) ?? this.eventByIndex(indexOfSlug(slug));
    return event !== null && polymarketEventSlug(event) === slug ? event : null;
  }

  eventByIndex(index: number | null): ListedEvent | null {
    return index === null ? null : this.#search((arrays) => arrays.events, index);
  }

  /** An id that leads to a market's index need not be that market's. */
  #isWanted(market: ListedMarket | null, idOf: (market: ListedMarket) => string, id: string): ListedMarket | null {
    return market !== null && idOf(market) === id ? market : null;
  }

  #findRecorded(key: string): ListedMarket | null {
    if (this.#world.recording === undefined) return null;
    this.#fresh();
    return this.#recorded.get(key) ?? null;
  }

  #findRecordedEvent(key: string): ListedEvent | null {
    if (this.#world.recording === undefined) return null;
    this.#fresh();
    return this.#recordedEvents.get(key) ?? null;
  }

  #note(event: ListedEvent): void {
    if (event.recorded === undefined || this.#recordedEvents.get(`id ${polymarketEventId(event)}`) === event) return;
    this.#recordedEvents.set(`id ${polymarketEventId(event)}`, event);
    this.#recordedEvents.set(`slug ${polymarketEventSlug(event)}`, event);
    for (const market of event.markets) {
      if (market.recorded === undefined) continue;
      this.#recorded.set(`id ${market.recorded.marketId}`, market);
      this.#recorded.set(`slug ${polymarketMarketSlug(market)}`, market);
      this.#recorded.set(`condition ${polymarketConditionId(market)}`, market);
      for (const token of polymarketTokenIds(market)) this.#recorded.set(`token ${token}`, market);
    }
  }

  #marketByIndex(index: number | null): ListedMarket | null {
    return index === null ? null : this.#search((arrays) => arrays.markets, index);
  }

  #search<Item extends { readonly index: number }>(
    pick: (arrays: Arrays) => readonly Item[],
    index: number,
  ): Item | null {
    return find(pick(this.#fresh()), index);
  }

  #fresh(): Arrays {
    const at = this.#now();
    const listed = this.#world.events("polymarket", at);
    if (this.#arrays?.listed === listed) return this.#arrays;
    const byIndex = (a: { readonly index: number }, b: { readonly index: number }) => a.index - b.index;
    const events = [...listed].sort(byIndex);
    // A market's index begins with its event's, so that the markets of sorted events are sorted as well; a recording's
    // are numbered otherwise.
    const markets = events.flatMap((event) => event.markets).filter((market) => isListed(market, at));
    if (this.#world.recording !== undefined) markets.sort(byIndex);
    for (const event of events) this.#note(event);
    this.#arrays = { listed, events, markets };
    return this.#arrays;
  }
}

/** Position of the first item whose index is above `index`, in an array sorted by index. */
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

function find<Item extends { readonly index: number }>(items: readonly Item[], index: number): Item | null {
  const item = items[positionAfter(items, index) - 1];
  return item !== undefined && item.index === index ? item : null;
}
