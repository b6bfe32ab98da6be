import type { ListedEvent, ListedMarket, World } from "../../world/types.ts";
import type { Now } from "../exchange.ts";
import {
  eventIndexOfId,
  indexOfHex,
  indexOfSlug,
  indexOfToken,
  marketIndexOfId,
  polymarketConditionId,
  polymarketEventSlug,
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
    return this.#marketByIndex(marketIndexOfId(id));
  }

  marketBySlug(slug: string): ListedMarket | null {
    const market = this.#marketByIndex(indexOfSlug(slug));
    return market !== null && polymarketMarketSlug(market) === slug ? market : null;
  }

  marketByCondition(conditionId: string): ListedMarket | null {
    const market = this.#marketByIndex(indexOfHex(conditionId));
    return market !== null && polymarketConditionId(market) === conditionId ? market : null;
  }

  marketByQuestion(questionId: string): ListedMarket | null {
    const market = this.#marketByIndex(indexOfHex(questionId));
    return market !== null && polymarketQuestionId(market) === questionId ? market : null;
  }

  marketByToken(token: string): { readonly market: ListedMarket; readonly side: TokenSide } | null {
    const market = this.#marketByIndex(indexOfToken(token));
    if (market === null) return null;
    const [yes, no] = polymarketTokenIds(market);
    if (token === yes) return { market, side: 0 };
    return token === no ? { market, side: 1 } : null;
  }

  eventById(id: string): ListedEvent | null {
    return this.eventByIndex(eventIndexOfId(id));
  }

  eventBySlug(slug: string): ListedEvent | null {
    const event = this.eventByIndex(indexOfSlug(slug));
    return event !== null && polymarketEventSlug(event) === slug ? event : null;
  }

  eventByIndex(index: number | null): ListedEvent | null {
    return index === null ? null : this.#search((arrays) => arrays.events, index);
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
    const listed = this.#world.events("polymarket", this.#now());
    if (this.#arrays?.listed === listed) return this.#arrays;
    const byIndex = (a: { readonly index: number }, b: { readonly index: number }) => a.index - b.index;
    const events = [...listed].sort(byIndex);
    // A market's index begins with its event's, so that the markets of sorted events are sorted as well.
    const markets = events.flatMap((event) => event.markets);
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
