import { HOUR_MS } from "../../../src/lib/durations.ts";
import type { ListedEvent, ListedMarket, World } from "../../world/types.ts";
import type { Now } from "../exchange.ts";
import { kalshiEventTicker, kalshiTicker } from "./ids.ts";

/** Maximum time since the settlement of a market in the live tier. Older markets are only in the historical tier. */
const LIVE_TIER_AGE_MS_MAX = 7 * 24 * HOUR_MS;
/** Interval between rebuilds of the ticker maps. A rebuild removes markets that the world no longer lists. */
const REBUILD_INTERVAL_MS = HOUR_MS;

export type Catalogue = ReturnType<typeof createCatalogue>;

/** Finds the world's events and markets by ticker. */
export function createCatalogue(world: World, now: Now) {
  const marketsByTicker = new Map<string, ListedMarket>();
  const eventsByTicker = new Map<string, ListedEvent>();
  let builtAt = Number.NEGATIVE_INFINITY;
  /** The world's events at the last refresh. A different array means that the events have changed. */
  let indexedEvents: readonly ListedEvent[] | null = null;

  const refresh = () => {
    const at = now();
    const events = world.events("kalshi", at);
    if (events === indexedEvents) return;
    indexedEvents = events;
    if (at - builtAt > REBUILD_INTERVAL_MS) {
      marketsByTicker.clear();
      eventsByTicker.clear();
      builtAt = at;
    }
    for (const event of events) {
      const ticker = kalshiEventTicker(event);
      if (eventsByTicker.has(ticker)) continue;
      eventsByTicker.set(ticker, event);
      for (const market of event.markets) marketsByTicker.set(kalshiTicker(market), market);
    }
  };
  const find = <Item>(items: ReadonlyMap<string, Item>, ticker: string): Item | null => {
    if (!items.has(ticker)) refresh();
    return items.get(ticker) ?? null;
  };
  const findMarket = (ticker: string) => find(marketsByTicker, ticker);
  /**
   * Start of the live tier, Unix milliseconds on a whole hour. Markets settled and trades made before it are in the
   * historical tier.
   */
  const computeCutoff = () => Math.floor((now() - LIVE_TIER_AGE_MS_MAX) / HOUR_MS) * HOUR_MS;

  return {
    findMarket,
    findEvent: (ticker: string) => find(eventsByTicker, ticker),
    /** Returns the markets of these tickers in the same order; unknown tickers are skipped. */
    findMarkets: (tickers: readonly string[]) => tickers.map(findMarket).filter((market) => market !== null),
    listEvents: () => world.events("kalshi", now()),
    listMarkets: () => world.markets("kalshi", now()),
    computeCutoff,
    isHistorical: (market: ListedMarket) => market.finalizeAt < computeCutoff(),
  };
}
