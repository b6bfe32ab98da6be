import type { Feed, FeedEvent, ListedMarket, Phase, SandboxVenue, World } from "./types.ts";
import { SANDBOX_VENUES } from "./types.ts";

export interface FeedOptions {
  readonly now: () => number;
  /** How often what has happened is told, milliseconds. */
  readonly intervalMs: number;
}

const LISTING_EVERY_MS = 1_000;

interface Watched {
  readonly market: ListedMarket;
  phase: Phase;
  /** Next change of the book. */
  nextAt: number;
  /** Next change of the lifecycle; an upper bound of how long it may be left unlooked at. */
  checkAt: number;
}

/** Tells what happens in the world as it happens; only venues that somebody listens to are watched. */
export function createFeed(world: World, options: FeedOptions): Feed {
  const listeners = new Map<SandboxVenue, Set<(event: FeedEvent) => void>>(
    SANDBOX_VENUES.map((venue) => [venue, new Set()]),
  );
  const watched = new Map<SandboxVenue, Map<number, Watched>>();
  let toldUntil = options.now();
  let listedAt = Number.NEGATIVE_INFINITY;

  const relist = (venue: SandboxVenue, at: number, tell: FeedEvent[]) => {
    const isFirst = !watched.has(venue);
    const known = watched.get(venue) ?? new Map<number, Watched>();
    watched.set(venue, known);
    const present = new Set<number>();
    for (const market of world.markets(venue, at)) {
      present.add(market.index);
      if (known.has(market.index)) continue;
      const { phase } = world.lifecycle(market, at);
      known.set(market.index, {
        market,
        phase,
        // A market that opened since the last listing may have traded in between.
        nextAt: world.nextChangeAt(market, isFirst ? at : listedAt),
        checkAt: phase === "finalized" ? Number.POSITIVE_INFINITY : at,
      });
      if (!isFirst) tell.push({ kind: "listed", market, at: Math.min(at, Math.max(market.openAt, listedAt)) });
    }
    for (const index of known.keys()) if (!present.has(index)) known.delete(index);
  };

  const advance = (entry: Watched, at: number, tell: FeedEvent[]) => {
    const { market } = entry;
    if (at >= entry.checkAt) {
      const { phase, since } = world.lifecycle(market, at);
      if (phase !== entry.phase) tell.push({ kind: "lifecycle", market, from: entry.phase, to: phase, at: since });
      entry.phase = phase;
      entry.checkAt = phase === "finalized" ? Number.POSITIVE_INFINITY : at + LISTING_EVERY_MS;
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
    for (const [venue, audience] of listeners) {
      if (audience.size === 0) {
        watched.delete(venue);
        continue;
      }
      const tell: FeedEvent[] = [];
      if (isListing || !watched.has(venue)) relist(venue, at, tell);
      for (const entry of watched.get(venue)?.values() ?? []) advance(entry, at, tell);
      tell.sort((a, b) => a.at - b.at);
      for (const event of tell) for (const listener of audience) listener(event);
    }
    if (isListing) listedAt = at;
    toldUntil = at;
  };
  const timer = setInterval(tick, options.intervalMs);

  return {
    subscribe(venue, listener) {
      const audience = listeners.get(venue);
      audience?.add(listener);
      return () => audience?.delete(listener);
    },
    close: () => clearInterval(timer),
  };
}
