import type { ListedEvent, ListedMarket, World } from "../../world/types.ts";
import type { Now } from "../exchange.ts";
import { kalshiEventTicker, kalshiSeriesTicker, kalshiTicker } from "./ids.ts";

const HOUR_MS = 3_600_000;
/** What was settled longer ago than this lives in the historical tier only. */
const LIVE_TIER_MS = 7 * 24 * HOUR_MS;
/** The maps are thrown away and made anew this often, so that what the world no longer shows is forgotten. */
const REBUILD_MS = HOUR_MS;

/** From tickers back to the world's events and markets. */
export class Catalogue {
  readonly #world: World;
  readonly #now: Now;
  #markets = new Map<string, ListedMarket>();
  #events = new Map<string, ListedEvent>();
  #builtAt = Number.NEGATIVE_INFINITY;
  /** The world's list as it was at the last look: as long as it is the same one there is nothing new in it. */
  #looked: readonly ListedEvent[] | null = null;

  constructor(world: World, now: Now) {
    this.#world = world;
    this.#now = now;
  }

  market(ticker: string): ListedMarket | null {
    const known = this.#markets.get(ticker);
    if (known !== undefined) return known;
    this.#grow();
    return this.#markets.get(ticker) ?? null;
  }

  event(ticker: string): ListedEvent | null {
    const known = this.#events.get(ticker);
    if (known !== undefined) return known;
    this.#grow();
    return this.#events.get(ticker) ?? null;
  }

  /** All events of a series, oldest listing first; empty when there is no such series. */
  eventsOfSeries(seriesTicker: string): readonly ListedEvent[] {
    return this.events().filter((event) => kalshiSeriesTicker(event) === seriesTicker);
  }

  events(): readonly ListedEvent[] {
    return this.#world.events("kalshi", this.#now());
  }

  markets(): readonly ListedMarket[] {
    return this.#world.markets("kalshi", this.#now());
  }

  /** The instant, on a whole hour, before which settled markets and trades have moved to the historical tier. */
  cutoff(): number {
    return Math.floor((this.#now() - LIVE_TIER_MS) / HOUR_MS) * HOUR_MS;
  }

  isHistorical(market: ListedMarket): boolean {
    return market.finalizeAt < this.cutoff();
  }

  #grow(): void {
    const at = this.#now();
    const listed = this.#world.events("kalshi", at);
    if (listed === this.#looked) return;
    this.#looked = listed;
    if (at - this.#builtAt > REBUILD_MS) {
      this.#markets = new Map();
      this.#events = new Map();
      this.#builtAt = at;
    }
    for (const event of listed) {
      const ticker = kalshiEventTicker(event);
      if (this.#events.has(ticker)) continue;
      this.#events.set(ticker, event);
      for (const market of event.markets) this.#markets.set(kalshiTicker(market), market);
    }
  }
}
