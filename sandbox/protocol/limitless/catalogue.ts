import type { ListedEvent, ListedMarket } from "../../world/types.ts";
import { VenueError } from "../errors.ts";
import type { ExchangeContext } from "../exchange.ts";
import { isGroup, limitlessAddress, limitlessEventSlug, limitlessSlug } from "./ids.ts";

export type CatalogueEntry =
  | { readonly kind: "market"; readonly market: ListedMarket }
  | { readonly kind: "group"; readonly event: ListedEvent };

export type Catalogue = ReturnType<typeof createCatalogue>;

/** Finds markets and groups by slug, and AMM markets by contract address (any case), including delisted ones. */
export function createCatalogue({ world, now }: ExchangeContext) {
  const entries = new Map<string, CatalogueEntry>();
  const indexedEvents = new Set<number>();
  /** The events at the last refresh. The world returns the same array until an event is added or removed. */
  let lastEvents: readonly ListedEvent[] | null = null;

  const refresh = () => {
    const events = world.events("limitless", now());
    if (events === lastEvents) return;
    lastEvents = events;
    for (const event of events) {
      if (indexedEvents.has(event.index)) continue;
      indexedEvents.add(event.index);
      if (isGroup(event)) entries.set(limitlessEventSlug(event), { kind: "group", event });
      for (const market of event.markets) {
        const entry = { kind: "market", market } as const;
        entries.set(limitlessSlug(market), entry);
        if (market.mechanism === "amm") entries.set(limitlessAddress(market).toLowerCase(), entry);
      }
    }
  };
  const find = (slugOrAddress: string): CatalogueEntry | null => {
    const key = slugOrAddress.startsWith("0x") ? slugOrAddress.toLowerCase() : slugOrAddress;
    if (!entries.has(key)) refresh();
    return entries.get(key) ?? null;
  };

  return {
    /** @throws VenueError 404 if the market or group does not exist */
    get(slugOrAddress: string): CatalogueEntry {
      const entry = find(slugOrAddress);
      if (entry === null) throw new VenueError(404, `Market ${slugOrAddress} not found`);
      return entry;
    },
    findMarket(slugOrAddress: string): ListedMarket | null {
      const entry = find(slugOrAddress);
      return entry?.kind === "market" ? entry.market : null;
    },
  };
}
