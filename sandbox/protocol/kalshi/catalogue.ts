import type { ListedEvent, ListedMarket, World } from "../../world/types.ts";
import type { Now } from "../exchange.ts";
import { kalshiEventTicker, kalshiTicker } from "./ids.ts";
import { notFound } from "./query.ts";

const HOUR_MS = 3_600_000;
const LIVE_TIER_MS = 7 * 24 * HOUR_MS;
/** The ticker maps are rebuilt this often, which removes markets that the world no longer lists. */
const REBUILD_MS = HOUR_MS;

/** A market is in the historical tier if it settled before the cutoff, else in the live tier. */
export type Tier = "live" | "historical";

/** Finds the world's events and markets by ticker. */
export class Catalogue {
  readonly #world: World;
  readonly #now: Now;
  #markets = new Map<string, ListedMarket>();
  #events = new Map<string, ListedEvent>();
  #builtAt = Number.NEGATIVE_INFINITY;
  /** The world's list at the last refresh. The world returns the same array until its content changes. */
  #indexedEvents: readonly ListedEvent[] | null = null;

  constructor(world: World, now: Now) {
    this.#world = world;
    this.#now = now;
  }

  market(ticker: string): ListedMarket | null {
    const market = this.#markets.get(ticker);
    if (market !== undefined) return market;
    this.#refresh();
    return this.#markets.get(ticker) ?? null;
  }

  event(ticker: string): ListedEvent | null {
    const event = this.#events.get(ticker);
    if (event !== undefined) return event;
    this.#refresh();
    return this.#events.get(ticker) ?? null;
  }

  /** The markets of the given tickers, in the given order; unknown tickers are skipped. */
  marketsByTicker(tickers: readonly string[]): ListedMarket[] {
    return tickers.map((ticker) => this.market(ticker)).filter((market) => market !== null);
  }

  events(): readonly ListedEvent[] {
    return this.#world.events("kalshi", this.#now());
  }

  markets(): readonly ListedMarket[] {
    return this.#world.markets("kalshi", this.#now());
  }

  /** Start of the live tier of markets and trades, Unix milliseconds on a whole hour. */
  cutoff(): number {
    return Math.floor((this.#now() - LIVE_TIER_MS) / HOUR_MS) * HOUR_MS;
  }

  tierOf(market: ListedMarket): Tier {
    return market.finalizeAt < this.cutoff() ? "historical" : "live";
  }

  /** @throws KalshiError (404) if the tier has no such market */
  marketInTier(ticker: string, tier: Tier): ListedMarket {
    const market = this.market(ticker);
    if (market === null || this.tierOf(market) !== tier) throw notFound();
    return market;
  }

  #refresh(): void {
    const at = this.#now();
    const events = this.#world.events("kalshi", at);
    if (events === this.#indexedEvents) return;
    this.#indexedEvents = events;
    if (at - this.#builtAt > REBUILD_MS) {
      this.#markets = new Map();
      this.#events = new Map();
      this.#builtAt = at;
    }
    for (const event of events) {
      const ticker = kalshiEventTicker(event);
      if (this.#events.has(ticker)) continue;
      this.#events.set(ticker, event);
      for (const market of event.markets) this.#markets.set(kalshiTicker(market), market);
    }
  }
}
