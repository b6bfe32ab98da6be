import { PriorityQueue } from "./priority-queue.ts";
import type { Feed, FeedEvent, ListedMarket, Phase, SandboxVenue, World } from "./types.ts";
import { SANDBOX_VENUES } from "./types.ts";

const LISTING_CHECK_MS = 1_000;
/** Outdated entries stay in the queue until it exceeds this base plus this many entries per market; then it is rebuilt. */
const QUEUE_SIZE_BASE = 1_024;
const QUEUE_SIZE_PER_MARKET = 2;

interface TrackedMarket {
  readonly market: ListedMarket;
  phase: Phase;
  nextPhaseAt: number;
  /** Time of the next book change; Infinity while no subscriber follows the market. */
  nextBookAt: number;
}

interface Subscriber {
  readonly listener: (event: FeedEvent) => void;
  /** Markets whose books and trades it receives; null for all markets. */
  readonly follows: (() => Iterable<ListedMarket> | null) | null;
}

interface VenueState {
  readonly subscribers: Set<Subscriber>;
  readonly trackedByIndex: Map<number, TrackedMarket>;
  readonly followed: Set<TrackedMarket>;
  queue: PriorityQueue<TrackedMarket>;
  /** The listing at the last check; null before the first check. */
  listing: readonly ListedMarket[] | null;
}

/**
 * Publishes changes of the world every `intervalMs`. Only venues with subscribers are tracked, and only the books of
 * followed markets, so the cost does not depend on the number of other markets.
 */
export function createFeed(world: World, { now, intervalMs }: { now: () => number; intervalMs: number }): Feed {
  const venues = new Map<SandboxVenue, VenueState>(SANDBOX_VENUES.map((venue) => [venue, emptyVenueState()]));
  let publishedUntil = now();
  let listingCheckedAt = Number.NEGATIVE_INFINITY;

  const enqueue = (venue: VenueState, tracked: TrackedMarket) => {
    const at = Math.min(tracked.nextPhaseAt, tracked.nextBookAt);
    if (at !== Number.POSITIVE_INFINITY) venue.queue.push(at, tracked);
  };

  const updateListing = (venue: VenueState, markets: readonly ListedMarket[], at: number, events: FeedEvent[]) => {
    const isFirst = venue.listing === null;
    venue.listing = markets;
    const listed = new Set<number>();
    for (const market of markets) {
      listed.add(market.index);
      if (venue.trackedByIndex.has(market.index)) continue;
      const { phase } = world.lifecycle(market, at);
      const nextPhaseAt = world.nextPhaseAt(market, at);
      const tracked = { market, phase, nextPhaseAt, nextBookAt: Number.POSITIVE_INFINITY };
      venue.trackedByIndex.set(market.index, tracked);
      enqueue(venue, tracked);
      if (isFirst) continue;
      events.push({ kind: "listed", market, at: Math.min(at, Math.max(market.openAt, listingCheckedAt)) });
    }
    for (const [index, tracked] of venue.trackedByIndex) {
      if (listed.has(index)) continue;
      venue.trackedByIndex.delete(index);
      venue.followed.delete(tracked);
      tracked.nextPhaseAt = Number.POSITIVE_INFINITY;
      tracked.nextBookAt = Number.POSITIVE_INFINITY;
    }
  };

  const updateFollowed = (venue: VenueState, isFirst: boolean, at: number) => {
    const requested = requestedMarkets(venue);
    for (const tracked of requested) {
      if (venue.followed.has(tracked)) continue;
      venue.followed.add(tracked);
      // A market that opened after the last listing check may have traded since then.
      const since = tracked.market.openAt > listingCheckedAt ? listingCheckedAt : publishedUntil;
      tracked.nextBookAt = world.nextChangeAt(tracked.market, isFirst ? at : since);
      enqueue(venue, tracked);
    }
    if (venue.followed.size === requested.size) return;
    for (const tracked of venue.followed) {
      if (requested.has(tracked)) continue;
      venue.followed.delete(tracked);
      tracked.nextBookAt = Number.POSITIVE_INFINITY;
    }
  };

  const collectChanges = (tracked: TrackedMarket, at: number, events: FeedEvent[]) => {
    const { market } = tracked;
    if (tracked.nextPhaseAt <= at) {
      const { phase, since } = world.lifecycle(market, at);
      if (phase !== tracked.phase)
        events.push({ kind: "lifecycle", market, from: tracked.phase, to: phase, at: since });
      tracked.phase = phase;
      tracked.nextPhaseAt = world.nextPhaseAt(market, at);
    }
    if (tracked.nextBookAt > at) return;
    for (const trade of world.trades(market, tracked.nextBookAt, at + 1)) {
      events.push({ kind: "trade", market, trade, at: trade.at });
      events.push({ kind: "book", market, at: trade.at });
    }
    // Several quote updates within one interval are published as one book event with the latest book.
    const { changedAt } = world.book(market, at);
    events.push({ kind: "book", market, at: changedAt });
    tracked.nextBookAt = world.nextChangeAt(market, at);
  };

  const publish = () => {
    const at = now();
    if (at <= publishedUntil) return;
    const checksListing = at - listingCheckedAt >= LISTING_CHECK_MS;
    for (const [id, venue] of venues) {
      if (venue.subscribers.size === 0) {
        if (venue.listing !== null) venues.set(id, emptyVenueState());
        continue;
      }
      const events: FeedEvent[] = [];
      const isFirst = venue.listing === null;
      if (checksListing || isFirst) {
        const markets = world.markets(id, at);
        if (markets !== venue.listing) updateListing(venue, markets, at, events);
      }
      updateFollowed(venue, isFirst, at);
      for (let entry = venue.queue.pop(at); entry !== null; entry = venue.queue.pop(at)) {
        const tracked = entry.item;
        if (Math.min(tracked.nextPhaseAt, tracked.nextBookAt) > at) continue;
        collectChanges(tracked, at, events);
        enqueue(venue, tracked);
      }
      if (venue.queue.size > QUEUE_SIZE_BASE + QUEUE_SIZE_PER_MARKET * venue.trackedByIndex.size) {
        venue.queue = new PriorityQueue();
        for (const tracked of venue.trackedByIndex.values()) enqueue(venue, tracked);
      }
      events.sort((a, b) => a.at - b.at);
      for (const event of events) for (const { listener } of venue.subscribers) listener(event);
    }
    if (checksListing) listingCheckedAt = at;
    publishedUntil = at;
  };
  const timer = setInterval(publish, intervalMs);

  return {
    subscribe(id, listener, follows = null) {
      const subscriber = { listener, follows };
      venues.get(id)?.subscribers.add(subscriber);
      return () => venues.get(id)?.subscribers.delete(subscriber);
    },
    close: () => clearInterval(timer),
  };
}

function emptyVenueState(): VenueState {
  return {
    subscribers: new Set(),
    trackedByIndex: new Map(),
    followed: new Set(),
    queue: new PriorityQueue(),
    listing: null,
  };
}

/** The tracked markets that at least one subscriber follows. */
function requestedMarkets({ subscribers, trackedByIndex, followed }: VenueState): Set<TrackedMarket> {
  const requested = new Set<TrackedMarket>();
  for (const { follows } of subscribers) {
    const markets = follows === null ? null : follows();
    if (markets === null) return followed.size === trackedByIndex.size ? followed : new Set(trackedByIndex.values());
    for (const market of markets) {
      const tracked = trackedByIndex.get(market.index);
      if (tracked !== undefined) requested.add(tracked);
    }
  }
  return requested;
}
