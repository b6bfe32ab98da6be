import { HOUR_MS } from "../../../src/lib/durations.ts";
import type { ListedEvent, ListedMarket, World } from "../../world/types.ts";
import type { Now } from "../exchange.ts";
import { kalshiEventTicker, kalshiTicker } from "./ids.ts";

/** Markets settled longer ago than this are in the historical tier only. */
const LIVE_TIER_AGE_MS_MAX = 7 * 24 * HOUR_MS;
/** Interval between rebuilds of the ticker maps. A rebuild removes markets that the world no longer lists. */
const REBUILD_INTERVAL_MS = HOUR_MS;

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

  findMarket(ticker: string): ListedMarket | null {
    const market = this.#markets.get(ticker);
    if (market !== undefined) return market;
    this.#refresh();
    return this.#markets.get(ticker) ?? null;
  }

  findEvent(ticker: string): ListedEvent | null {
    const event = this.#events.get(ticker);
    if (event !== undefined) return event;
    this.#refresh();
    return this.#events.get(ticker) ?? null;
  }

  /** The markets of the given tickers, in the given order; unknown tickers are skipped. */
  findMarkets(tickers: readonly string[]): ListedMarket[] {
    return tickers.map((ticker) => this.findMarket(ticker)).filter((market) => market !== null);
  }

  listEvents(): readonly ListedEvent[] {
    return this.#world.events("kalshi", this.#now());
  }

  listMarkets(): readonly ListedMarket[] {
    return this.#world.markets("kalshi", this.#now());
  }

  /**
   * Start of the live tier, Unix milliseconds on a whole hour. Markets settled and trades made before it are in the
   * historical tier.
   */
  computeCutoff(): number {
    return Math.floor((this.#now() - LIVE_TIER_AGE_MS_MAX) / HOUR_MS) * HOUR_MS;
  }

  isHistorical(market: ListedMarket): boolean {
    return market.finalizeAt < this.computeCutoff();
  }

  #refresh(): void {
    const at = this.#now();
    const events = this.#world.events("kalshi", at);
    if (events === this.#indexedEvents) return;
    this.#indexedEvents = events;
    if (at - this.#builtAt > REBUILD_INTERVAL_MS) {
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
