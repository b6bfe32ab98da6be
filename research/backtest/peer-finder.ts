/** Finds markets of other venues that ask the same or the opposite question, at the current time of a replay. */
import {
  type BoardEvent,
  type BoardMarket,
  eventSlug,
  type MarketBoard,
  type MarketObserver,
} from "../../src/board/index.ts";
import type { EventListing, MarketListing } from "../../src/domain/market.ts";
import { type MarketPair, type MatchableMarket, MatchIndex, type MatchUpdate } from "../../src/matching/index.ts";

/** Maximum number of characters of a market's rules. Longer rules are truncated, as in the service. */
const RULES_LENGTH_MAX = 8_000;

/** A market of another venue that asks the same or the opposite question. */
export interface Peer {
  readonly market: BoardMarket;
  /** True if the peer asks the opposite question: its YES is the given market's NO. */
  readonly isInverse: boolean;
  readonly confidence: number;
}

/** Matches the active markets of a board with the service's matching model. Operators' decisions are ignored. */
export class PeerFinder implements MarketObserver {
  readonly #board: MarketBoard;
  readonly #index = new MatchIndex();
  readonly #changedRows = new Set<number>();
  readonly #listings = new Map<number, MarketListing>();
  /** Markets in the match index, by `idOf`. */
  readonly #indexed = new Map<string, MatchableMarket>();
  readonly #pairs = new Map<string, Map<string, MarketPair>>();

  constructor(board: MarketBoard) {
    this.#board = board;
    board.observe(this);
  }

  onSet({ row, listing }: BoardMarket): void {
    if (this.#listings.get(row) === listing) return;
    this.#listings.set(row, listing);
    this.#changedRows.add(row);
  }

  /** Never called, because a replay removes no market from its board. */
  onRemove(): void {}

  onEvent({ slug }: BoardEvent): void {
    for (const { row } of this.#board.marketsOfEvent(slug)) this.#changedRows.add(row);
  }

  /** Matches the markets that have changed since the previous call. */
  update(): void {
    const rules = new Set<string>();
    for (const { listing } of this.#board.rows(this.#changedRows)) {
      const id = idOf(listing);
      const previous = this.#indexed.get(id);
      if (listing.status !== "active") {
        if (previous !== undefined) this.#index.remove(id);
        this.#indexed.delete(id);
        continue;
      }
      const next = toMatchable(listing, this.#eventOf(listing));
      if (previous !== undefined && isSame(previous, next)) continue;
      this.#indexed.set(id, next);
      this.#index.set(next);
      // `MatchIndex.set` keeps the previous rules of a market, so they are sent again.
      if (previous !== undefined) rules.add(id);
    }
    this.#changedRows.clear();
    for (const id of rules) this.#sendRules(id);
    for (;;) {
      const update = this.#index.update(Number.POSITIVE_INFINITY);
      this.#applyPairs(update);
      for (const id of update.rulesWanted) this.#sendRules(id);
      if (update.rulesWanted.length === 0 && update.pendingCount === 0) return;
    }
  }

  /** Returns the peers of a market, highest match confidence first. */
  peersOf({ listing }: BoardMarket): Peer[] {
    const id = idOf(listing);
    return [...(this.#pairs.get(id)?.values() ?? [])]
      .sort((a, b) => b.confidence - a.confidence || (a.a + a.b < b.a + b.b ? -1 : 1))
      .flatMap(({ a, b, relation, confidence }): Peer[] => {
        const market = this.#findMarket(a === id ? b : a);
        if (market === null || (relation !== "identical" && relation !== "inverse")) return [];
        return [{ market, isInverse: relation === "inverse", confidence }];
      });
  }

  #applyPairs({ added, removed }: MatchUpdate): void {
    for (const { a, b } of removed) {
      this.#pairs.get(a)?.delete(b);
      this.#pairs.get(b)?.delete(a);
    }
    for (const pair of added)
      for (const [own, other] of [
        [pair.a, pair.b],
        [pair.b, pair.a],
      ] as const) {
        const pairs = this.#pairs.get(own) ?? new Map<string, MarketPair>();
        this.#pairs.set(own, pairs.set(other, pair));
      }
  }

  #sendRules(id: string): void {
    this.#index.setRules(id, this.#findMarket(id)?.listing.rules?.slice(0, RULES_LENGTH_MAX) ?? null);
  }

  #findMarket(id: string): BoardMarket | null {
    const slash = id.indexOf("/");
    return this.#board.find(id.slice(0, slash), id.slice(slash + 1));
  }

  #eventOf({ venue, eventId }: MarketListing): EventListing | null {
    return eventId === null ? null : (this.#board.findEvent(eventSlug(venue, eventId))?.listing ?? null);
  }
}

const idOf = ({ venue, marketId }: MarketListing): string => `${venue}/${marketId}`;

const toMatchable = (listing: MarketListing, event: EventListing | null): MatchableMarket => ({
  id: idOf(listing),
  venue: listing.venue,
  title: listing.title,
  outcomeLabel: listing.outcomeLabel,
  eventSlug: listing.eventId === null ? null : eventSlug(listing.venue, listing.eventId),
  eventTitle: event?.title ?? null,
  category: listing.category ?? event?.category ?? null,
  openAt: listing.openAt,
  closeAt: listing.closeAt,
  expectedResolutionAt: listing.expectedResolutionAt,
  slug: listing.venueKeys.slug,
  mirroredSlug: listing.venueKeys.mirroredSlug,
});

const isSame = (a: MatchableMarket, b: MatchableMarket): boolean =>
  (Object.keys(a) as (keyof MatchableMarket)[]).every((name) => a[name] === b[name]);
