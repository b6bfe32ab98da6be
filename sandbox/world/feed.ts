import { PriorityQueue } from "./priority-queue.ts";
import type { FeedEvent, FeedWithManualChanges, ListedMarket, Phase, SandboxVenue, World } from "./types.ts";
import { SANDBOX_VENUES } from "./types.ts";

const LISTING_CHECK_INTERVAL_MS = 1_000;
/** The queue is rebuilt without outdated entries above this size plus QUEUE_SIZE_PER_MARKET for each market. */
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
  /** Returns the markets whose books and trades the subscriber receives; null for all markets. */
  readonly getFollowedMarkets: () => readonly ListedMarket[] | null;
}

interface VenueState {
  readonly subscribers: Set<Subscriber>;
  readonly trackedByIndex: Map<number, TrackedMarket>;
  readonly followedMarkets: Set<TrackedMarket>;
  queue: PriorityQueue<TrackedMarket>;
  /** The markets listed at the last check; null before the first check. */
  listing: readonly ListedMarket[] | null;
  /** The lists of the subscribers from which `followedMarkets` was computed; null if the listing has changed since. */
  followedLists: readonly (readonly ListedMarket[] | null)[] | null;
}

/**
 * Publishes changes of the world every `intervalMs`. The feed tracks only venues with subscribers, and only the books
 * of followed markets. The cost of an update does not depend on the number of other markets.
 */
export function createFeed(
  world: World,
  { now, intervalMs }: { now: () => number; intervalMs: number },
): FeedWithManualChanges {
  const venues = new Map<SandboxVenue, VenueState>(SANDBOX_VENUES.map((venue) => [venue, createVenueState()]));
  let publishedUntil = now();
  let listingCheckedAt = Number.NEGATIVE_INFINITY;

  const enqueue = (venue: VenueState, trackedMarket: TrackedMarket) => {
    const at = Math.min(trackedMarket.nextPhaseAt, trackedMarket.nextBookAt);
    if (at !== Number.POSITIVE_INFINITY) venue.queue.push(at, trackedMarket);
  };

  const updateListing = (venue: VenueState, markets: readonly ListedMarket[], at: number, events: FeedEvent[]) => {
    const isFirstUpdate = venue.listing === null;
    venue.listing = markets;
    venue.followedLists = null;
    const listedIndexes = new Set<number>();
    for (const market of markets) {
      listedIndexes.add(market.index);
      if (venue.trackedByIndex.has(market.index)) continue;
      const { phase } = world.lifecycle(market, at);
      const nextPhaseAt = world.nextPhaseAt(market, at);
      const trackedMarket = { market, phase, nextPhaseAt, nextBookAt: Number.POSITIVE_INFINITY };
      venue.trackedByIndex.set(market.index, trackedMarket);
      enqueue(venue, trackedMarket);
      if (isFirstUpdate) continue;
      events.push({ kind: "listed", market, at: Math.min(at, Math.max(market.openAt, listingCheckedAt)) });
    }
    for (const [index, trackedMarket] of venue.trackedByIndex) {
      if (listedIndexes.has(index)) continue;
      venue.trackedByIndex.delete(index);
      venue.followedMarkets.delete(trackedMarket);
      trackedMarket.nextPhaseAt = Number.POSITIVE_INFINITY;
      trackedMarket.nextBookAt = Number.POSITIVE_INFINITY;
    }
  };

  const updateFollowed = (venue: VenueState, isFirstUpdate: boolean, at: number) => {
    const lists = Array.from(venue.subscribers, ({ getFollowedMarkets }) => getFollowedMarkets());
    const { followedLists } = venue;
    if (followedLists?.length === lists.length && lists.every((list, index) => list === followedLists[index])) return;
    venue.followedLists = lists;
    const requestedMarkets = collectRequestedMarkets(venue, lists);
    for (const trackedMarket of requestedMarkets) {
      if (venue.followedMarkets.has(trackedMarket)) continue;
      venue.followedMarkets.add(trackedMarket);
      // A market that opened after the last listing check may have trades since that check.
      const since = trackedMarket.market.openAt > listingCheckedAt ? listingCheckedAt : publishedUntil;
      trackedMarket.nextBookAt = world.nextChangeAt(trackedMarket.market, isFirstUpdate ? at : since);
      enqueue(venue, trackedMarket);
    }
    if (venue.followedMarkets.size === requestedMarkets.size) return;
    for (const trackedMarket of venue.followedMarkets) {
      if (requestedMarkets.has(trackedMarket)) continue;
      venue.followedMarkets.delete(trackedMarket);
      trackedMarket.nextBookAt = Number.POSITIVE_INFINITY;
    }
  };

  const collectChanges = (trackedMarket: TrackedMarket, at: number, events: FeedEvent[]) => {
    const { market } = trackedMarket;
    if (trackedMarket.nextPhaseAt <= at) {
      const { phase, since } = world.lifecycle(market, at);
      if (phase !== trackedMarket.phase)
        events.push({ kind: "lifecycle", market, from: trackedMarket.phase, to: phase, at: since });
      trackedMarket.phase = phase;
      trackedMarket.nextPhaseAt = world.nextPhaseAt(market, at);
    }
    if (trackedMarket.nextBookAt > at) return;
    for (const trade of world.trades(market, trackedMarket.nextBookAt, at + 1)) {
      events.push({ kind: "trade", market, trade, at: trade.at });
      events.push({ kind: "book", market, at: trade.at });
    }
    // Several quote updates within one interval are published as one book event with the latest book.
    const { changedAt } = world.book(market, at);
    events.push({ kind: "book", market, at: changedAt });
    trackedMarket.nextBookAt = world.nextChangeAt(market, at);
  };

  const publish = () => {
    const at = now();
    if (at <= publishedUntil) return;
    const isListingCheckDue = at - listingCheckedAt >= LISTING_CHECK_INTERVAL_MS;
    for (const [id, venue] of venues) {
      if (venue.subscribers.size === 0) {
        if (venue.listing !== null) venues.set(id, createVenueState());
        continue;
      }
      const events: FeedEvent[] = [];
      const isFirstUpdate = venue.listing === null;
      if (isListingCheckDue || isFirstUpdate) {
        const markets = world.markets(id, at);
        if (markets !== venue.listing) updateListing(venue, markets, at, events);
      }
      updateFollowed(venue, isFirstUpdate, at);
      for (let entry = venue.queue.pop(at); entry !== null; entry = venue.queue.pop(at)) {
        const trackedMarket = entry.item;
        if (Math.min(trackedMarket.nextPhaseAt, trackedMarket.nextBookAt) > at) continue;
        collectChanges(trackedMarket, at, events);
        enqueue(venue, trackedMarket);
      }
      if (venue.queue.size > QUEUE_SIZE_BASE + QUEUE_SIZE_PER_MARKET * venue.trackedByIndex.size) {
        venue.queue = new PriorityQueue();
        for (const trackedMarket of venue.trackedByIndex.values()) enqueue(venue, trackedMarket);
      }
      events.sort((a, b) => a.at - b.at);
      for (const event of events) for (const { listener } of venue.subscribers) listener(event);
    }
    if (isListingCheckDue) listingCheckedAt = at;
    publishedUntil = at;
  };
  const timer = setInterval(publish, intervalMs);

  return {
    subscribe(id, listener, getFollowedMarkets = () => null) {
      const subscriber = { listener, getFollowedMarkets };
      venues.get(id)?.subscribers.add(subscriber);
      return () => venues.get(id)?.subscribers.delete(subscriber);
    },
    touch(market, at) {
      const venue = venues.get(market.venue);
      const trackedMarket = venue?.trackedByIndex.get(market.index);
      if (venue === undefined || trackedMarket === undefined) return;
      trackedMarket.nextPhaseAt = Math.min(trackedMarket.nextPhaseAt, at);
      if (venue.followedMarkets.has(trackedMarket)) trackedMarket.nextBookAt = Math.min(trackedMarket.nextBookAt, at);
      enqueue(venue, trackedMarket);
    },
    close: () => clearInterval(timer),
  };
}

function createVenueState(): VenueState {
  return {
    subscribers: new Set(),
    trackedByIndex: new Map(),
    followedMarkets: new Set(),
    queue: new PriorityQueue(),
    listing: null,
    followedLists: null,
  };
}

/** Returns the tracked markets that are in at least one list; null is the list of all markets. */
function collectRequestedMarkets(
  { trackedByIndex, followedMarkets }: VenueState,
  lists: readonly (readonly ListedMarket[] | null)[],
): Set<TrackedMarket> {
  const requestedMarkets = new Set<TrackedMarket>();
  for (const markets of lists) {
    if (markets === null)
      return followedMarkets.size === trackedByIndex.size ? followedMarkets : new Set(trackedByIndex.values());
    for (const market of markets) {
      const trackedMarket = trackedByIndex.get(market.index);
      if (trackedMarket !== undefined) requestedMarkets.add(trackedMarket);
    }
  }
  return requestedMarkets;
}
