/** Counts the linked markets of two events, which support each other: the events are probably one event. */
import { isSameQuestion, type MatchRelation } from "./model.ts";

interface Linked {
  readonly eventSlug: string | null;
  readonly links: readonly { readonly other: Linked; readonly relation: MatchRelation; readonly probability: number }[];
}

/** Minimum probability of a link that supports others. */
const PROBABILITY_MIN = 0.3;
const SUPPORTS_MAX = 4;
/** The markets of larger events do not support each other, because each changed link would affect all of them. */
const MARKETS_MAX = 100;
const NONE: ReadonlySet<never> = new Set();

/** The markets of each event. */
export class EventSupports<Market extends Linked> {
  readonly #marketsOf = new Map<string, Set<Market>>();

  /** Returns the other markets whose supports change. */
  add(market: Market): ReadonlySet<Market> {
    if (market.eventSlug === null) return NONE;
    const markets = this.#marketsOf.get(market.eventSlug) ?? new Set();
    this.#marketsOf.set(market.eventSlug, markets.add(market));
    return markets.size === MARKETS_MAX + 1 ? markets : NONE;
  }

  /** Returns the other markets whose supports change. */
  remove(market: Market): ReadonlySet<Market> {
    if (market.eventSlug === null) return NONE;
    const markets = this.#marketsOf.get(market.eventSlug);
    markets?.delete(market);
    if (markets?.size === 0) this.#marketsOf.delete(market.eventSlug);
    return markets?.size === MARKETS_MAX ? markets : NONE;
  }

  /** Returns the markets of a market's event, with itself; none if the event is too large. */
  siblingsOf({ eventSlug }: Linked): ReadonlySet<Market> {
    const markets = eventSlug === null ? undefined : this.#marketsOf.get(eventSlug);
    return markets === undefined || markets.size > MARKETS_MAX ? NONE : markets;
  }

  /** Number of supporting links, at most `SUPPORTS_MAX`: the smaller of the numbers counted from each of the two events. */
  count(a: Market, b: Market): number {
    return Math.min(this.#countFrom(a, b), this.#countFrom(b, a));
  }

  #countFrom(market: Market, partner: Market): number {
    if (partner.eventSlug === null) return 0;
    let count = 0;
    for (const sibling of this.siblingsOf(market)) {
      if (sibling !== market && sibling.links.some((link) => isSupport(link, partner))) count += 1;
      if (count === SUPPORTS_MAX) break;
    }
    return count;
  }
}

const isSupport = ({ other, relation, probability }: Linked["links"][number], partner: Linked): boolean =>
  other !== partner &&
  other.eventSlug === partner.eventSlug &&
  probability >= PROBABILITY_MIN &&
  isSameQuestion({ relation });
