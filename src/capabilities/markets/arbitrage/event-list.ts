import {
  type BoardEvent,
  type BoardMarket,
  eventSlugOf,
  type MarketBoard,
  type MarketObserver,
} from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import type { Clock } from "../../../ports/clock.ts";
import { findSetCandidates, type SetCandidate } from "./event-sets.ts";
import { hasSamePrices } from "./pair-list.ts";

/** Number of events that are computed before yielding to the event loop. */
const EVENTS_PER_SLICE = 100;

/**
 * The price differences within the events of all trading venues. A change of an event or of one of its markets marks
 * the event as changed. Changed events are recomputed before the next read, in slices.
 */
export class SetCandidateList implements MarketObserver {
  readonly #board: MarketBoard;
  readonly #clock: Clock;
  readonly #venues: ReadonlySet<VenueId>;
  /** The markets of the trading venues by row, as of their latest price change. */
  readonly #markets: (BoardMarket | undefined)[] = [];
  readonly #changedSlugs = new Set<string>();
  readonly #candidates = new Map<string, readonly SetCandidate[]>();
  #update: Promise<void> | null = null;

  constructor({ board, clock, venues }: { board: MarketBoard; clock: Clock; venues: Iterable<VenueId> }) {
    this.#board = board;
    this.#clock = clock;
    this.#venues = new Set(venues);
    board.observe(this);
  }

  onSet(market: BoardMarket): void {
    const { row, listing } = market;
    if (!this.#venues.has(listing.venue)) return;
    const previous = this.#markets[row];
    if (previous === undefined ? listing.eventId === null : hasSamePrices(previous, market)) return;
    this.#markets[row] = market;
    if (previous !== undefined && previous.listing.eventId !== listing.eventId) this.#mark(previous);
    this.#mark(market);
  }

  onRemove(row: number): void {
    const market = this.#markets[row];
    if (market === undefined) return;
    this.#markets[row] = undefined;
    this.#mark(market);
  }

  onEvent({ slug, listing }: BoardEvent): void {
    if (this.#venues.has(listing.venue)) this.#changedSlugs.add(slug);
  }

  /** Returns the current differences. Concurrent calls share one computation of the changed events. */
  async candidates(): Promise<SetCandidate[]> {
    this.#update ??= this.#computeMarked().finally(() => {
      this.#update = null;
    });
    await this.#update;
    return [...this.#candidates.values()].flat();
  }

  #mark({ listing }: BoardMarket): void {
    const slug = eventSlugOf(listing);
    if (slug !== null) this.#changedSlugs.add(slug);
  }

  async #computeMarked(): Promise<void> {
    const slugs = [...this.#changedSlugs];
    this.#changedSlugs.clear();
    for (const [index, slug] of slugs.entries()) {
      if (index > 0 && index % EVENTS_PER_SLICE === 0) await this.#clock.yieldToEventLoop();
      const event = this.#board.findEvent(slug);
      const candidates = event === null ? [] : findSetCandidates(event, this.#board.marketsOfEvent(slug));
      if (candidates.length === 0) this.#candidates.delete(slug);
      else this.#candidates.set(slug, candidates);
    }
  }
}
