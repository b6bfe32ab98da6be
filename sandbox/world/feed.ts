import { DueHeap } from "./due-heap.ts";
import type { Feed, FeedEvent, ListedMarket, Phase, SandboxVenue, World } from "./types.ts";
import { SANDBOX_VENUES } from "./types.ts";

export interface FeedOptions {
  readonly now: () => number;
  /** How often what has happened is told, milliseconds. */
  readonly intervalMs: number;
}

const LISTING_EVERY_MS = 1_000;

/** Entries of the heap that are no longer true may be so many times as many as the others before they are thrown out. */
const STALE_FACTOR = 2;
const STALE_MIN = 1_024;

interface Watched {
  readonly market: ListedMarket;
  phase: Phase;
  /** Next change of the lifecycle. */
  phaseAt: number;
  /** Next change of the book; Infinity while nobody follows this market. */
  nextAt: number;
  isFollowed: boolean;
}

interface Audience {
  readonly listener: (event: FeedEvent) => void;
  readonly follows: (() => Iterable<ListedMarket> | null) | null;
}

/** What is watched of one venue. */
interface Venue {
  readonly audience: Set<Audience>;
  readonly known: Map<number, Watched>;
  readonly followed: Set<Watched>;
  due: DueHeap<Watched>;
  /** The world's list as it was at the last look; null before the first. */
  listed: readonly ListedMarket[] | null;
}

/**
 * Tells what happens in the world as it happens. Only venues that somebody listens to are watched, and only the books that
 * somebody follows: what happens to the others costs nothing, however many there are.
 */
export function createFeed(world: World, options: FeedOptions): Feed {
  const venues = new Map<SandboxVenue, Venue>(SANDBOX_VENUES.map((venue) => [venue, emptyVenue()]));
  let toldUntil = options.now();
  let listedAt = Number.NEGATIVE_INFINITY;

  const plan = (venue: Venue, entry: Watched) => {
    const at = Math.min(entry.phaseAt, entry.nextAt);
    if (at !== Number.POSITIVE_INFINITY) venue.due.push(at, entry);
  };

  const relist = (venue: Venue, markets: readonly ListedMarket[], at: number, tell: FeedEvent[]) => {
    const isFirst = venue.listed === null;
    venue.listed = markets;
    const present = new Set<number>();
    for (const market of markets) {
      present.add(market.index);
      if (venue.known.has(market.index)) continue;
      const { phase } = world.lifecycle(market, at);
      const phaseAt = world.nextPhaseAt(market, at);
      const entry = { market, phase, phaseAt, nextAt: Number.POSITIVE_INFINITY, isFollowed: false };
      venue.known.set(market.index, entry);
      plan(venue, entry);
      if (!isFirst) tell.push({ kind: "listed", market, at: Math.min(at, Math.max(market.openAt, listedAt)) });
    }
    for (const [index, entry] of venue.known) {
      if (present.has(index)) continue;
      venue.known.delete(index);
      venue.followed.delete(entry);
      entry.phaseAt = Number.POSITIVE_INFINITY;
      entry.nextAt = Number.POSITIVE_INFINITY;
    }
  };

  const refollow = (venue: Venue, isFirst: boolean, at: number) => {
    const wanted = wantedOf(venue);
    for (const entry of wanted) {
      if (entry.isFollowed) continue;
      entry.isFollowed = true;
      venue.followed.add(entry);
      // A market that opened since the last look at the list may have traded in between.
      const lookedAt = entry.market.openAt > listedAt ? listedAt : toldUntil;
      entry.nextAt = world.nextChangeAt(entry.market, isFirst ? at : lookedAt);
      plan(venue, entry);
    }
    if (venue.followed.size === wanted.size) return;
    for (const entry of venue.followed) {
      if (wanted.has(entry)) continue;
      venue.followed.delete(entry);
      entry.isFollowed = false;
      entry.nextAt = Number.POSITIVE_INFINITY;
    }
  };

  const advance = (entry: Watched, at: number, tell: FeedEvent[]) => {
    const { market } = entry;
    if (entry.phaseAt <= at) {
      const { phase, since } = world.lifecycle(market, at);
      if (phase !== entry.phase) tell.push({ kind: "lifecycle", market, from: entry.phase, to: phase, at: since });
      entry.phase = phase;
      entry.phaseAt = world.nextPhaseAt(market, at);
    }
    if (entry.nextAt > at) return;
    for (const trade of world.trades(market, entry.nextAt, at + 1)) {
      tell.push({ kind: "trade", market, trade, at: trade.at });
      tell.push({ kind: "book", market, at: trade.at });
    }
    // Several changes since the last look count as one: what is told is the book as it is now.
    const { changedAt } = world.book(market, at);
    tell.push({ kind: "book", market, at: changedAt });
    entry.nextAt = world.nextChangeAt(market, at);
  };

  const tick = () => {
    const at = options.now();
    if (at <= toldUntil) return;
    const isListing = at - listedAt >= LISTING_EVERY_MS;
    for (const [id, venue] of venues) {
      if (venue.audience.size === 0) {
        if (venue.listed !== null) venues.set(id, emptyVenue());
        continue;
      }
      const tell: FeedEvent[] = [];
      const isFirst = venue.listed === null;
      if (isListing || isFirst) {
        const markets = world.markets(id, at);
        if (markets !== venue.listed) relist(venue, markets, at, tell);
      }
      refollow(venue, isFirst, at);
      for (let due = venue.due.pop(at); due !== null; due = venue.due.pop(at)) {
        const entry = due.item;
        if (Math.min(entry.phaseAt, entry.nextAt) > at) continue;
        advance(entry, at, tell);
        plan(venue, entry);
      }
      if (venue.due.size > STALE_MIN + STALE_FACTOR * venue.known.size) {
        venue.due = new DueHeap();
        for (const entry of venue.known.values()) plan(venue, entry);
      }
      tell.sort((a, b) => a.at - b.at);
      for (const event of tell) for (const { listener } of venue.audience) listener(event);
    }
    if (isListing) listedAt = at;
    toldUntil = at;
  };
  const timer = setInterval(tick, options.intervalMs);

  return {
    subscribe(id, listener, follows = null) {
      const member: Audience = { listener, follows };
      venues.get(id)?.audience.add(member);
      return () => venues.get(id)?.audience.delete(member);
    },
    close: () => clearInterval(timer),
  };
}

function emptyVenue(): Venue {
  return { audience: new Set(), known: new Map(), followed: new Set(), due: new DueHeap(), listed: null };
}

/** Those of the known markets whose books somebody wants to hear of. */
function wantedOf({ audience, known, followed }: Venue): Set<Watched> {
  const wanted = new Set<Watched>();
  for (const { follows } of audience) {
    const markets = follows === null ? null : follows();
    if (markets === null) return followed.size === known.size ? followed : new Set(known.values());
    for (const market of markets) {
      const entry = known.get(market.index);
      if (entry !== undefined) wanted.add(entry);
    }
  }
  return wanted;
}
